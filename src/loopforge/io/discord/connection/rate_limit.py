"""Rate limit: how quickly one account calls Discord, and whose call is next.

Discord takes fifty calls a second of one bot, and shuts out an address after ten thousand refused
ones in ten minutes. So all calls of an account, those that its library repeats too, take turns
here, well below that; what is read after a gap leaves some of it to what people wait for. Does not
know single routes: the library waits for those. Answers to commands and files are not limited.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from types import SimpleNamespace

import aiohttp

RATE = 25.0
"""Calls a second; with those at once, 35 in the first second."""
AT_ONCE = 10.0
KEPT = 5.0
"""Of those at once, so many are for what people wait for."""
FREE = ("/interactions/", "cdn.discordapp.com", "media.discordapp.net")
"""What Discord does not count."""
PLACES = 5
"""Places that are read at the same time after a gap."""

_later: ContextVar[bool] = ContextVar("later", default=False)


@contextmanager
def low_priority_calls() -> Iterator[None]:
    """The calls made in here stand behind what people wait for."""
    before = _later.set(True)
    try:
        yield
    finally:
        _later.reset(before)


class DiscordPace:
    """The turns of one account; `turns` is how many it took."""

    def __init__(self) -> None:
        self._left, self._at = AT_ONCE, 0.0
        self.turns = 0

    def trace(self, answered: Callable[[str | None], None]) -> aiohttp.TraceConfig:
        """What lets the calls of one client take turns; `answered` is told the `Date` of each."""

        async def ended(
            _session: aiohttp.ClientSession,
            _context: SimpleNamespace,
            params: aiohttp.TraceRequestEndParams,
        ) -> None:
            if _counts(str(params.url)):
                answered(params.response.headers.get("Date"))

        config = aiohttp.TraceConfig()
        config.on_request_start.append(self._began)
        config.on_request_end.append(ended)
        return config

    async def _began(
        self,
        _session: aiohttp.ClientSession,
        _context: SimpleNamespace,
        params: aiohttp.TraceRequestStartParams,
    ) -> None:
        if _counts(str(params.url)):
            await self.turn()

    async def turn(self) -> None:
        """Wait until a call may be made."""
        least = 1.0 + (KEPT if _later.get() else 0.0)
        clock = asyncio.get_running_loop().time
        while True:
            now = clock()
            self._left = min(AT_ONCE, self._left + (now - self._at) * RATE)
            self._at = now
            if self._left >= least:
                self._left -= 1.0
                self.turns += 1
                return
            await asyncio.sleep((least - self._left) / RATE)


def _counts(url: str) -> bool:
    return not any(part in url for part in FREE)


class ReadLimiter:
    """Lets few places be read at a time; one where somebody just spoke waits no longer."""

    def __init__(self, most: int = PLACES) -> None:
        self._free = most
        self._waiting: dict[int, asyncio.Future[bool]] = {}

    def hurry(self, channel: int) -> None:
        """Something was said there: whoever waits to read that place goes in."""
        waiting = self._waiting.pop(channel, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(False)

    @asynccontextmanager
    async def turn(self, channel: int, *, hurried: bool) -> AsyncIterator[None]:
        """Read this place when it is its turn; at once if it is `hurried`."""
        counted = not hurried and await self._turn(channel)
        try:
            yield
        finally:
            if counted:
                self._leave()

    async def _turn(self, channel: int) -> bool:
        """Whether a place was taken up by waiting for it; False for one that was hurried."""
        if self._free:
            self._free -= 1
            return True
        waiting: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting[channel] = waiting
        return await waiting

    def _leave(self) -> None:
        while self._waiting:
            channel = next(iter(self._waiting))
            waiting = self._waiting.pop(channel)
            if not waiting.done():
                waiting.set_result(True)
                return
        self._free += 1
