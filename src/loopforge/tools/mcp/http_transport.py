"""The HTTP client by which an MCP server elsewhere is reached: held to its place, and bounded.

It reaches public addresses and the one place that the owner wrote down, whatever a name leads to
(web/network_guard.py); an answer in JSON has a bound, and so has each event of a stream.
"""

import zlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpcore2
import httpx2

from loopforge import __version__
from loopforge.errors import InputError
from loopforge.tools.mcp.message_bounds import MOST_SIGNS, TOO_MANY, signs_of
from loopforge.tools.mcp.server_connection import SESSION_LOST
from loopforge.tools.web.http_request import place_of, status_phrase
from loopforge.tools.web.network_guard import GuardedNetwork
from loopforge.tools.web.page_fetch import body_of, unpacker_of

LARGEST = 8 * 1024 * 1024
"""Bytes of an answer that is no stream, and of one event of a stream."""
CONNECT = 20.0
"""Seconds to reach the server; for how long it may be silent then is the session's to say."""
PARTING = 5.0
"""Seconds for each step of telling it that a session is over: whoever comes next waits for that."""
BY_SIGN_IN = (
    "and has people sign in by a browser (OAuth), which is not done here: have its service give "
    "you a token, and look at"
)
REFUSING = (401, 403)
"""Answers of a server that does not take the key which it was sent, or was sent none."""
UNKNOWN, NOT_ALLOWED, BAD_GATEWAY = 404, 405, 502
OLDER = (
    ": it may speak the older way, SSE, alone, which is not spoken here. Such services mostly have "
    "an address for streamable HTTP as well, often one that ends in /mcp"
)
"""What is told of a server that takes no messages at its address, but would be listened to."""
BREAKS = (b"\n\n", b"\r\n\r\n", b"\r\r")
"""What stands between two events."""
PIECE = 65536
"""Bytes that are unpacked at once."""
LONGEST_BREAK = max(map(len, BREAKS)) - 1
SESSION = "mcp-session-id"
INTERNAL_ERROR = -32603


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Requests by a guarded network; `over` hears where the server takes none from us."""

    def __init__(self, network: GuardedNetwork, over: Callable[[str], None]) -> None:
        self._pool = httpcore2.AsyncConnectionPool(network_backend=network)
        self._over = over

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send it. Raises httpx2.ConnectError where it may not be, or cannot."""
        host = request.url.host
        try:
            return await self._answered(request)
        except (httpcore2.NetworkError, httpcore2.TimeoutException, OSError) as error:
            raise self._lost(request, f"{host} cannot be reached") from error
        except httpcore2.ProtocolError as error:
            raise self._lost(request, f"{host} does not speak HTTP as it should") from error
        except InputError as error:
            raise self._lost(request, str(error)) from error

    def _lost(self, request: httpx2.Request, why: str) -> httpx2.ConnectError:
        if request.method == "POST":  # of these the session ends; what is listened to comes again
            self._over(why)
        return httpx2.ConnectError(why, request=request)

    async def _answered(self, request: httpx2.Request) -> httpx2.Response:
        at, ending = request.url, request.method == "DELETE"
        steps = dict.fromkeys(("connect", "read", "write", "pool"), PARTING)
        sent = httpcore2.Request(
            method=request.method,
            url=httpcore2.URL(
                scheme=at.raw_scheme, host=at.raw_host, port=at.port, target=at.raw_path
            ),
            headers=request.headers.raw,
            content=request.stream,
            extensions={**request.extensions, **({"timeout": steps} if ending else {})},
        )
        reply = await self._pool.handle_async_request(sent)
        told = httpx2.Headers(reply.headers)
        if reply.status in REFUSING:
            signs_in = "resource_metadata" in told.get("www-authenticate", "")
            why = BY_SIGN_IN if signs_in else "and takes no request with this key; look at"
            self._over(
                f"it answered {reply.status}, {why} [headers] in its file, and at the variable "
                "that is named there"
            )
        elif reply.status == UNKNOWN and SESSION in request.headers:
            self._over(SESSION_LOST)
            await reply.aclose()
            return _no_answer(UNKNOWN, SESSION_LOST)
        if told.get("content-type", "").startswith("text/event-stream"):
            try:
                events = _Events(reply, unpacker_of(told.pop("content-encoding", "")), self._over)
            except InputError:
                await reply.aclose()
                raise
            return httpx2.Response(reply.status, headers=told, stream=events)
        try:
            data, whole = await body_of(reply, told.pop("content-encoding", ""), LARGEST)
        finally:
            await reply.aclose()
        if not whole:
            return _no_answer(BAD_GATEWAY, f"the answer has more than {LARGEST:,} bytes")
        if signs_of(data) > MOST_SIGNS:
            return _no_answer(BAD_GATEWAY, TOO_MANY)
        if reply.status >= 400 and reply.status != UNKNOWN and b'"jsonrpc"' not in data:
            older = OLDER if reply.status == NOT_ALLOWED else ""
            return _no_answer(reply.status, f"it answered {status_phrase(reply.status)}{older}")
        return httpx2.Response(reply.status, headers=told, content=data)

    async def aclose(self) -> None:
        """Let go of its connections."""
        await self._pool.aclose()


def _no_answer(status: int, why: str) -> httpx2.Response:
    """What a session is given in place of what is no message: an error in the protocol's form."""
    error = {"code": INTERNAL_ERROR, "message": why}
    return httpx2.Response(status, json={"jsonrpc": "2.0", "id": None, "error": error})


class _Events(httpx2.AsyncByteStream):
    """The bytes of a stream of events, unpacked, as they come, until one has too many parts."""

    def __init__(self, reply: httpcore2.Response, unpack: Any, over: Callable[[str], None]) -> None:
        self._reply, self._unpack, self._over = reply, unpack, over

    async def _unpacked(self) -> AsyncIterator[bytes]:
        async for piece in self._reply.aiter_stream():
            if self._unpack is None:
                yield piece
            while self._unpack is not None and piece and not self._unpack.eof:
                try:
                    yield self._unpack.decompress(piece, PIECE)
                except zlib.error as error:
                    raise httpx2.ReadError("it comes packed, and damaged") from error
                piece = self._unpack.unconsumed_tail

    async def __aiter__(self) -> AsyncIterator[bytes]:
        signs, before = 0, b""
        async for piece in self._unpacked():
            before = before[-LONGEST_BREAK:] + piece
            last = max(map(before.rfind, BREAKS))
            signs = signs_of(piece) + signs if last < 0 else signs_of(before[last:])
            if signs > MOST_SIGNS:
                self._over(TOO_MANY)
                raise httpx2.ReadError(TOO_MANY)
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
            headers={
                "User-Agent": f"Loopforge/{__version__}",
                "Accept-Encoding": "gzip",
                **headers,
            },
            timeout=httpx2.Timeout(CONNECT, read=seconds + 60),
            trust_env=False,
        ) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=LARGEST) as streams,
    ):
        yield streams
