"""The one file that owns the clock, the dice and ids.

Everything else is given a Clock, a Dice, or a Stamp; so a test can run an hour in a moment and a
run can be repeated. Ids are UUIDv7 (RFC 9562): time-ordered, and never equal or out of order
within one Stamp, also when the clock stands still or steps back.
"""

from __future__ import annotations

import asyncio
import heapq
import os
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from loopforge.core.events import Body, Fact, micros
from loopforge.runtime.ports import Clock, Dice

T = TypeVar("T")
DRAWN = 4096
"""Bytes of randomness drawn at once."""
MOMENT, MOMENTS, FEW = 0.0005, 8, 2
"""Real seconds, and how often a SimClock waits so long for sockets and threads it cannot see: a few
times where it was told of those at work."""
TURNS = 50
"""Turns of the loop after that, in each of which a SimClock looks whether somebody is at work."""
STUCK = 120.0
"""Real seconds after which work that does not end is a mistake: it waits for the time, perhaps."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """UTC, aware."""
        return datetime.now(UTC)

    def ticks(self) -> float:
        """Seconds that never go back."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


class SystemDice:
    """The machine's randomness, drawn a page at a time: each draw lets other threads cut in."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._page, self._used = b"", 0

    def bytes(self, count: int) -> bytes:
        """That many random bytes; no process is given any of them twice."""
        with self._lock:
            if self._used + count > len(self._page):
                self._page, self._used = os.urandom(max(count, DRAWN)), 0
            self._used += count
            return self._page[self._used - count : self._used]


class SimClock:
    """A clock that moves only when told to: `await clock.advance(3600)` wakes sleepers in order.

    Real threads know nothing of it. Tell it of them (`while_busy`), and time stands still while
    they are at work, however slow the machine is; else it can only wait a few real milliseconds.
    """

    def __init__(self, start: datetime) -> None:
        self._now = start
        self._start = start
        self._sleepers: list[tuple[datetime, int, asyncio.Future[None]]] = []
        self._count = 0
        self._busy: list[Callable[[], object]] = []

    def while_busy(self, busy: Callable[[], object]) -> None:
        """Let time stand still whenever this gives something true: real work is under way.

        It is asked in the event loop, and must stay true until the loop has the result in hand.
        """
        self._busy.append(busy)

    def now(self) -> datetime:
        """The simulated time."""
        return self._now

    def ticks(self) -> float:
        """Simulated seconds since the start."""
        return (self._now - self._start).total_seconds()

    async def sleep(self, seconds: float) -> None:
        """Wait until somebody advances the clock so far."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._count += 1
        span = max(timedelta(seconds=seconds), timedelta.resolution)  # a nap never takes no time
        heapq.heappush(self._sleepers, (self._now + span, self._count, future))
        await future

    async def advance(self, seconds: float) -> None:
        """Move time on, waking each sleeper at its own moment.

        Raises TimeoutError where work stays busy for two real minutes.
        """
        end = self._now + timedelta(seconds=seconds)
        await self._settle()
        while self._sleepers and self._sleepers[0][0] <= end:
            self._wake()
            await self._settle()
        self._now = end

    async def until(self, work: asyncio.Future[T]) -> T:
        """Move time on from sleeper to sleeper until the work is done, and return its result."""
        while not work.done():
            await self._settle()
            if self._sleepers and not work.done():
                self._wake()
        return work.result()

    def _wake(self) -> None:
        """Move time on to the next sleeper's moment, and wake it."""
        due, _, future = heapq.heappop(self._sleepers)
        self._now = max(self._now, due)
        if not future.done():
            future.set_result(None)

    async def _settle(self) -> None:
        """Wait until nobody is at work, and has not been for many turns of the loop in a row.

        Work that ends lets others go on, which may begin the next; each of that is one turn or two.
        """
        quiet, stuck = 0, time.monotonic() + STUCK
        moments = FEW if self._busy else MOMENTS
        while quiet < moments + TURNS:
            await asyncio.sleep(MOMENT if quiet < moments else 0)
            quiet = 0 if any(busy() for busy in self._busy) else quiet + 1
            if not quiet and time.monotonic() > stuck:
                raise TimeoutError(f"simulated time stood still for {STUCK:.0f} s: work never ends")


class Stamp:
    """Gives facts their id and time."""

    def __init__(self, clock: Clock, dice: Dice) -> None:
        self.clock, self.dice = clock, dice
        self._last = 0

    def id(self) -> str:
        """A UUIDv7 in 32 hex digits, greater than every id this Stamp gave before.

        The 60 bits of time are microseconds (48 bits of milliseconds, then the rest of the
        microsecond in rand_a), pushed on by one where the clock did not move.
        """
        now = max(micros(self.clock.now()), self._last + 1)
        self._last = now
        milliseconds, rest = divmod(now, 1000)
        tail = int.from_bytes(self.dice.bytes(8), "big") & ((1 << 62) - 1)
        value = (milliseconds & ((1 << 48) - 1)) << 80
        value |= 0x7 << 76 | rest << 64 | 0b10 << 62 | tail
        return f"{value:032x}"

    def fact(self, body: Body, *, actor: str, cause: str = "") -> Fact:
        """A fact of now. `actor` is "person:<id>", "mate:<handle>", "room" or "runtime"."""
        return Fact(id=self.id(), at=self.clock.now(), actor=actor, body=body, cause=cause)
