"""What is to be done whatever becomes of the ledger: when it is tried again, and what is said."""

import asyncio

import pytest

from loopforge.errors import LedgerBroken, LedgerBusy, LedgerError
from loopforge.runtime.background_tasks import BackgroundTasks, acquire_within
from loopforge.runtime.local.stream_lanes import LocalLanes
from tests.runtime.conftest import Stage


class Work:
    """Fails by these errors in order, and notes when it was tried."""

    def __init__(self, stage: Stage, *errors: LedgerError) -> None:
        self._stage, self._errors = stage, list(errors)
        self.tried: list[float] = []

    async def run(self, _stream: str = "") -> None:
        """Fail, or be done."""
        self.tried.append(round(self._stage.clock.ticks(), 1))
        if self._errors:
            raise self._errors.pop(0)


async def test_why_it_waits_is_said_once(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    """As long as the reason is the same; each further pause is longer, up to a minute."""
    work = Work(stage, *[LedgerError("It is away.")] * 6, LedgerBusy("It is locked."))
    async with BackgroundTasks() as tasks:
        tasks.insist(work.run, "the audit", stage.clock)
        await stage.clock.advance(1000)
    assert work.tried == [0, 0.2, 1.2, 6.2, 21.2, 81.2, 141.2, 201.2]
    away, locked, over = caplog.messages
    assert (away, locked) == ("the audit waits: It is away.", "the audit waits: It is locked.")
    assert over == "the audit goes on"


async def test_what_waiting_does_not_mend_is_left(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    """A damaged ledger is not asked again by what insists; by a lane when it is woken next."""
    insisting, laned = (Work(stage, LedgerBroken("It is damaged.")) for _ in range(2))
    lanes = LocalLanes(laned.run, stage.clock)
    async with BackgroundTasks() as tasks:
        tasks.insist(insisting.run, "the audit", stage.clock)
        lanes.wake("room:a")
        await stage.clock.advance(1000)
        assert insisting.tried == laned.tried == [0]
        lanes.wake("room:a")
        await lanes.settled("room:a")
    await lanes.close()
    assert laned.tried == [0, 1000]
    assert caplog.messages == [
        "the audit is left until the next start: It is damaged.",
        "lane room:a is left until it is woken: It is damaged.",
    ]


@pytest.mark.parametrize("turns", range(10))
async def test_a_place_is_never_lost(stage: Stage, turns: int) -> None:
    """Whoever is cancelled as a place comes free, however many turns of the loop later, frees it."""
    places = asyncio.Semaphore(1)
    await places.acquire()
    async with BackgroundTasks() as tasks:
        waiting = tasks.spawn(
            acquire_within(places.acquire(), places.release, 9, stage.clock, tasks), "waits"
        )
        for _ in range(5):
            await asyncio.sleep(0)
        places.release()
        for _ in range(turns):
            await asyncio.sleep(0)
        waiting.cancel()
        if (await asyncio.gather(waiting, return_exceptions=True))[0] is True:
            places.release()
    assert not places.locked()


async def test_a_place_that_comes_too_late_goes_to_the_next(stage: Stage) -> None:
    """Who has waited long enough goes, and holds nothing."""
    places = asyncio.Semaphore(1)
    await places.acquire()
    async with BackgroundTasks() as tasks:
        waiting = tasks.spawn(
            acquire_within(places.acquire(), places.release, 9, stage.clock, tasks), "waits"
        )
        await stage.clock.advance(10)
        assert await waiting is False
    places.release()
    assert not places.locked()
