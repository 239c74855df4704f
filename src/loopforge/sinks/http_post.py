"""Posting to an address until it says yes: a 2xx in PATIENCE, whatever else stands in its answer.

What says that this very thing cannot be had (REFUSING) is a SendFailed that is final; anything else
(5xx, 429, a redirect, no connection, no whole answer in time) is one that waits as long as the
answer's Retry-After says.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from loopforge.core.limits.retry_after import retry_after
from loopforge.errors import SendFailed
from loopforge.runtime.ports import Clock
from loopforge.runtime.system_clock import SystemClock

if TYPE_CHECKING:
    import httpx

USER_AGENT = "loopforge"
"""What it calls itself to the address."""
PATIENCE = 15.0
"""Seconds in which all of an answer is there; then it is tried again."""
LARGEST = 65_536
"""Bytes of an answer that are read, so that its connection can be used again."""
REFUSING = (400, 413, 415, 422)
"""Answers that speak of what was posted; the others speak of all."""
LONGEST = 3600.0
"""Seconds that an answer may have us wait."""


class HttpPost:
    """Posts to one address."""

    def __init__(self, url: str, clock: Clock | None = None) -> None:
        self._url, self.clock = url, clock or SystemClock()

    @cached_property
    def _client(self) -> httpx.AsyncClient:
        import httpx

        return httpx.AsyncClient(
            timeout=PATIENCE, follow_redirects=False, headers={"user-agent": USER_AGENT}
        )

    async def send(self, content: bytes, headers: Mapping[str, str]) -> None:
        """Post it. Raises SendFailed."""
        import httpx

        try:
            async with (
                asyncio.timeout(PATIENCE),
                self._client.stream("POST", self._url, content=content, headers=headers) as answer,
            ):
                read = 0
                async for piece in answer.aiter_raw():
                    if (read := read + len(piece)) > LARGEST:
                        break
        except TimeoutError as error:
            raise SendFailed(f"the address did not answer in {PATIENCE:g} seconds.") from error
        except httpx.HTTPError as error:
            raise SendFailed(f"{type(error).__name__}: {error}") from error
        status, wait = answer.status_code, answer.headers.get("retry-after", "")
        if not answer.is_success:
            said, final = f"the address answered {status}.", status in REFUSING
            after = retry_after(wait, self.clock.now()) or 0.0
            raise SendFailed(said, final=final, after=min(after, LONGEST))

    async def close(self) -> None:
        """Let the connections go."""
        await self._client.aclose()
