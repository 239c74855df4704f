"""Lanes: one at a time in a stream, streams side by side, tried again."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from loopforge.errors import LedgerBusy
from loopforge.runtime.local.stream_lanes import LocalLanes
from loopforge.runtime.ports import Lanes
from tests.runtime.conftest import Stage


@asynccontextmanager
async def opened(stage: Stage, handler: Callable[[str], Awaitable[None]]) -> AsyncIterator[Lanes]:
    """Lanes of one process."""
    lanes = LocalLanes(handler, stage.clock)
    yield lanes
    await lanes.close()


async def test_one_stream_runs_one_at_a_time_and_streams_side_by_side(stage: Stage) -> None:
    """Two wakes of one stream follow each other; another stream does not wait for them."""
    running: set[str] = set()
    together: list[frozenset[str]] = []

    async def handler(stream: str) -> None:
        assert stream not in running
        running.add(stream)
        together.append(frozenset(running))
        await stage.clock.sleep(1)
        running.discard(stream)

    async with opened(stage, handler) as lanes:
        for stream in ("a", "b", "a"):
            lanes.wake(stream)
        await stage.clock.advance(0.5)
        lanes.wake("a")
        await stage.clock.advance(10)
    assert frozenset("ab") in together
    assert len(together) == 3, "what was woken while it ran was looked at once more"


async def test_a_busy_ledger_makes_a_lane_wait_and_try_again(stage: Stage) -> None:
    """A handler that fails is run again after a pause, and the lane lives on."""
    tries: list[float] = []

    async def handler(stream: str) -> None:
        tries.append(stage.clock.ticks())
        if len(tries) < 3:
            raise LedgerBusy("somebody holds the lock")

    async with opened(stage, handler) as lanes:
        lanes.wake("a")
        await stage.clock.advance(60)
        assert tries == [0, 0.2, 1.2]
        await lanes.settled("a")


async def test_settled_waits_until_nothing_is_left(stage: Stage) -> None:
    """`settled` returns at once for a stream at rest, and after its work for a busy one."""

    async def handler(stream: str) -> None:
        await stage.clock.sleep(5)

    async with opened(stage, handler) as lanes:
        await asyncio.wait_for(lanes.settled("a"), 60)
        lanes.wake("a")
        waiting = stage.tasks.spawn(lanes.settled("a"), "settled")
        await stage.clock.advance(4)
        assert not waiting.done()
        await stage.clock.advance(2)
        assert waiting.done()


async def test_a_closed_lane_takes_no_work(stage: Stage) -> None:
    """After close nothing is started, and what ran was stopped where it stood."""
    begun: list[str] = []

    async def handler(stream: str) -> None:
        begun.append(stream)
        await stage.clock.sleep(1000)

    async with opened(stage, handler) as lanes:
        lanes.wake("a")
        await stage.clock.advance(1)
    lanes.wake("b")
    await stage.clock.advance(1)
    assert begun == ["a"]
