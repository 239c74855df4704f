"""Timers: a stream is woken when it wished to be, once."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

from loopforge.runtime.local.stream_lanes import LocalTimers
from loopforge.runtime.ports import Timers
from loopforge.runtime.system_clock import LOOK, SystemClock
from tests.runtime.conftest import START, Stage


@asynccontextmanager
async def opened(stage: Stage, wake: Callable[[str], None]) -> AsyncIterator[Timers]:
    """Timers of one process."""
    timers = LocalTimers(wake, stage.clock)
    yield timers
    await timers.close()


async def test_a_stream_is_woken_at_its_moment(stage: Stage) -> None:
    """Each at its own, once; the past is now; another moment takes the place of the first."""
    woken: list[tuple[str, float]] = []
    async with opened(stage, lambda stream: woken.append((stream, stage.clock.ticks()))) as timers:
        for stream, seconds in (("a", 10), ("b", 5), ("c", -5), ("a", 20), ("d", 7)):
            timers.at(stream, START + timedelta(seconds=seconds))
        timers.cancel("d")
        timers.cancel("nobody")
        assert sorted(timers.waiting()) == ["a", "b", "c"]
        await stage.clock.advance(60)
        assert woken == [("c", 0), ("b", 5), ("a", 20)]
        assert not timers.waiting()


async def test_who_is_woken_may_wish_to_be_woken_again(stage: Stage) -> None:
    """A moment may be set while one is told of another; after close nobody is woken."""
    woken: list[float] = []

    def wake(stream: str) -> None:
        woken.append(stage.clock.ticks())
        timers.at(stream, stage.clock.now() + timedelta(seconds=1))

    async with opened(stage, wake) as timers:
        timers.at("a", START)
        await stage.clock.advance(2.5)
    await stage.clock.advance(10)
    assert woken == [0, 1, 2]


class CarriedClock(SystemClock):
    """A machine's clock that is put forward by an hour while it is slept by for the first time."""

    def __init__(self) -> None:
        self.naps: list[float] = []

    def now(self) -> datetime:
        """An hour later after a nap, however short that was."""
        return START + timedelta(hours=len(self.naps))

    async def sleep(self, seconds: float) -> None:
        """At once."""
        self.naps.append(seconds)
        await asyncio.sleep(0)


async def test_a_clock_that_is_put_forward_wakes_whose_moment_it_passes() -> None:
    """As it is when a laptop wakes: what was due while it slept does not wait as long once more."""
    clock, woken = CarriedClock(), asyncio.Event()
    timers = LocalTimers(lambda _: woken.set(), clock)
    timers.at("a", START + timedelta(minutes=90))
    async with asyncio.timeout(30):
        await woken.wait()
    await timers.close()
    assert clock.naps == [LOOK, LOOK]
