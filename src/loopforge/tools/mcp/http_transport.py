"""The HTTP client by which an MCP server elsewhere is reached: held to its place, and bounded.

It reaches public addresses and the one place that the owner wrote down, whatever a name leads to
(web/network_guard.py); an answer in JSON has a bound, and so has each event of a stream.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpcore2
import httpx2

from loopforge import __version__
from loopforge.tools.web.endpoint_request import place_of
from loopforge.tools.web.network_guard import GuardedNetwork

LARGEST = 8 * 1024 * 1024
"""Bytes of an answer that is no stream, and of one event of a stream."""
CONNECT = 20.0
"""Seconds to reach the server; for how long it may be silent then is the session's to say."""


REFUSING = (401, 403)
"""Answers of a server that does not take the key which it was sent, or was sent none."""


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Requests by a guarded network; `over` hears where the server takes none from us."""

    def __init__(self, network: GuardedNetwork, over: Callable[[str], None]) -> None:
        self._pool = httpcore2.AsyncConnectionPool(network_backend=network)
        self._over = over

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send it. Raises httpx2.ConnectError where it may not be, or cannot."""
        at = request.url
        sent = httpcore2.Request(
            method=request.method,
            url=httpcore2.URL(
                scheme=at.raw_scheme, host=at.raw_host, port=at.port, target=at.raw_path
            ),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        try:
            reply = await self._pool.handle_async_request(sent)
        except (httpcore2.NetworkError, httpcore2.TimeoutException, OSError) as error:
            raise httpx2.ConnectError(f"{at.host} cannot be reached", request=request) from error
        except httpcore2.ProtocolError as error:
            raise httpx2.RemoteProtocolError(f"{at.host}: {error}", request=request) from error
        if reply.status in REFUSING:
            self._over(
                f"it answered {reply.status}, and takes no request with this key; look at "
                "[headers] in its file, and at the variable that is named there"
            )
        kinds = [value for key, value in reply.headers if key.lower() == b"content-type"]
        stream = any(b"event-stream" in kind for kind in kinds)
        return httpx2.Response(
            status_code=reply.status,
            headers=reply.headers,
            stream=_Bounded(reply, None if stream else LARGEST),
            extensions=reply.extensions,
        )

    async def aclose(self) -> None:
        """Let go of its connections."""
        await self._pool.aclose()


class _Bounded(httpx2.AsyncByteStream):
    """The bytes of an answer, up to a bound."""

    def __init__(self, reply: httpcore2.Response, most: int | None) -> None:
        self._reply, self._most = reply, most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        came = 0
        async for piece in self._reply.aiter_stream():
            came += len(piece)
            if self._most is not None and came > self._most:
                raise httpx2.ReadError(f"the answer has more than {self._most:,} bytes")
            yield piece

    async def aclose(self) -> None:
        await self._reply.aclose()


@asynccontextmanager
async def remote_streams(
    url: str, headers: Mapping[str, str], seconds: float, over: Callable[[str], None]
) -> AsyncIterator[tuple[Any, Any]]:
    """The streams that a session of the SDK reads and writes; `over` hears why it ended."""
    from mcp.client.streamable_http import streamable_http_client

    async with (
        httpx2.AsyncClient(
            transport=GuardedTransport(GuardedNetwork([place_of(url)]), over),
            headers={"User-Agent": f"Loopforge/{__version__}", **headers},
            timeout=httpx2.Timeout(CONNECT, read=seconds + 60),
            trust_env=False,
        ) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=LARGEST) as streams,
    ):
        yield streams
