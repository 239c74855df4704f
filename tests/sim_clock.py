"""Simulated time, for tests that would wait: it moves when it is told to."""

import asyncio
import heapq
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TypeVar

from loopforge.runtime.system_clock import SystemClock

T = TypeVar("T")
MOMENT, MOMENTS, FEW = 0.0005, 8, 2
"""Real seconds, and how often a SimClock waits so long for sockets and threads it cannot see: a few
times where it was told of those at work."""
TURNS = 50
"""Turns of the loop after that, in each of which a SimClock looks whether somebody is at work."""
STUCK = 120.0
"""Real seconds after which work that does not end is a mistake: it waits for the time, perhaps."""


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

    def correct(self, span: timedelta) -> None:
        """Set it forward, or back, as people and time servers do: nobody has waited so long."""
        self._now += span
        self._start += span
        self._sleepers = [(when + span, nth, one) for when, nth, one in self._sleepers]

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

    async def sleep_until(self, when: datetime) -> None:
        """Wait until somebody advances the clock to that time."""
        while (left := (when - self._now).total_seconds()) > 0:
            await self.sleep(left)

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
        quiet, stuck = 0, SystemClock().ticks() + STUCK
        moments = FEW if self._busy else MOMENTS
        while quiet < moments + TURNS:
            await asyncio.sleep(MOMENT if quiet < moments else 0)
            quiet = 0 if any(busy() for busy in self._busy) else quiet + 1
            if not quiet and SystemClock().ticks() > stuck:
                raise TimeoutError(f"simulated time stood still for {STUCK:.0f} s: work never ends")
