"""Ids and dice: never the same twice, never out of order. Simulated time: never ahead of threads."""

import asyncio
import threading
import uuid
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import event

from loopforge.core.events import Fact
from loopforge.core.room_vocabulary import Told
from loopforge.core.text.erasable_text import public_words
from loopforge.runtime.system_clock import DRAWN, Stamp, SystemClock, SystemDice
from tests.runtime.conftest import STREAM, Stage
from tests.seeded_dice import SeededDice
from tests.sim_clock import SimClock
from tests.still import Threads

HELD = 2000
"""Turns of the loop for which a slow thread is held: far longer than a clock waits by itself."""
HELD_AT = ("before_cursor_execute", "commit")


def test_the_machines_dice_are_whole_and_never_repeat() -> None:
    """However many bytes are wanted, they come whole, and none of them again."""
    dice = SystemDice()
    counts = (1, 8, 32, DRAWN - 1, DRAWN, DRAWN + 1, *([8] * DRAWN))
    drawn = [dice.bytes(count) for count in counts]
    assert [len(each) for each in drawn] == list(counts)
    eights = [each for each in drawn if len(each) == 8]
    assert len(set(eights)) == len(eights)


def test_ids_are_uuids_of_version_7_in_order() -> None:
    """Each id is a UUIDv7 with the clock's milliseconds, greater than the one before."""
    stamp = Stamp(SystemClock(), SystemDice())
    ids = [stamp.id() for _ in range(1000)]
    assert ids == sorted(set(ids))
    assert all(uuid.UUID(id).version == 7 and uuid.UUID(id).hex == id for id in ids)


def test_ids_are_in_order_while_the_clock_stands_still() -> None:
    """A clock that does not move gives no two equal ids; early ones keep their zeros."""
    stamp = Stamp(SimClock(datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)), SeededDice(1))
    ids = [stamp.id() for _ in range(1000)]
    assert ids == sorted(set(ids))
    assert ids[0].startswith("0000000003e8")


def test_ids_go_on_from_those_of_another_stamp() -> None:
    """After an id of a clock that was ahead come greater ones; what is no id of ours is nothing."""
    ahead = Stamp(SimClock(datetime(2030, 1, 1, tzinfo=UTC)), SeededDice(1)).id()
    now = SimClock(datetime(2026, 1, 1, tzinfo=UTC))
    assert Stamp(now, SeededDice(1), ahead).id() > ahead
    plain = Stamp(now, SeededDice(1)).id()
    assert all(Stamp(now, SeededDice(1), odd).id() == plain for odd in ("", "e1", "f" * 32))


class Slowness:
    """Whatever is done in a thread through `hold` takes thousands of turns of the loop."""

    def __init__(self) -> None:
        self.begun, self._go, self._over = threading.Event(), threading.Event(), False

    def hold(self, *_: object) -> None:
        """Wait in the thread until `passing` lets it go."""
        if not self._over:
            self._go.clear()
            self.begun.set()
            assert self._go.wait(60)

    def end(self) -> None:
        """Hold nobody any more."""
        self._over = True
        self._go.set()

    async def passing(self) -> None:
        """Let go whoever is held, again and again."""
        while True:
            for _ in range(HELD):
                await asyncio.sleep(0)
            self._go.set()


@contextmanager
def slow_database(stage: Stage) -> Iterator[Slowness]:
    """Every statement of the ledger, and every commit, is held in its thread."""
    slow, store = Slowness(), stage.ledger._store
    stage.tasks.spawn(slow.passing(), "passing")
    held = [(each, kind) for each in (store.writer, store.reader) for kind in HELD_AT]
    for engine, kind in held:
        event.listen(engine, kind, slow.hold)
    try:
        yield slow
    finally:
        slow.end()
        for engine, kind in held:
            event.remove(engine, kind, slow.hold)


WORK: dict[str, Callable[[Stage, Slowness], Awaitable[object]]] = {
    "append": lambda stage, _: stage.ledger.append(STREAM, [told(stage)]),
    "change": lambda stage, slow: stage.ledger.change(slow.hold),
    "read": lambda stage, _: stage.ledger.read(STREAM),
    "thread": lambda _, slow: asyncio.to_thread(slow.hold),
}


def told(stage: Stage) -> Fact:
    """Something to write."""
    return stage.stamp.fact(Told(text=public_words("It rains.")), actor="room")


@pytest.mark.parametrize("kind", WORK)
async def test_time_waits_for_slow_threads(stage: Stage, kind: str) -> None:
    """Who works in a thread between two naps misses nothing, however long the thread takes."""
    woken: list[float] = []

    async def nap() -> None:
        for _ in range(3):
            await WORK[kind](stage, slow)
            await stage.clock.sleep(1)
            woken.append(stage.clock.ticks())

    with slow_database(stage) as slow:
        stage.tasks.spawn(nap(), "nap")
        await stage.clock.advance(10)
    assert woken == [1, 2, 3]


async def test_a_thread_is_at_work_until_its_result_is_in_hand(stage: Stage) -> None:
    """The machine may stop a thread between the end of its work and word of it to the loop."""
    begin, held, threads = threading.Event(), threading.Event(), Threads()
    future = threads.submit(begin.wait, 60)
    future.add_done_callback(lambda _: held.wait(60))
    hearing = asyncio.wrap_future(future)
    begin.set()
    while not future.done():
        await asyncio.sleep(0)
    for _ in range(HELD):
        await asyncio.sleep(0)
    assert (threads.working, hearing.done()) == (1, False)
    held.set()
    assert await hearing


async def test_time_waits_for_a_write_that_nobody_waits_for(stage: Stage) -> None:
    """An append whose caller went away is heard of before time goes on."""
    heard: list[str] = []
    stage.ledger.subscribe(lambda stream, _: heard.append(stream))
    with slow_database(stage) as slow:
        appending = stage.tasks.spawn(stage.ledger.append(STREAM, [told(stage)]), "appending")
        while not slow.begun.is_set():
            await asyncio.sleep(0)
        appending.cancel()
        await stage.clock.advance(1)
    assert appending.cancelled()
    assert heard == [STREAM]
    assert stage.ledger.working == 0


async def test_the_shortest_nap_takes_time() -> None:
    """Who naps until a moment gets there, however little of it is left."""
    clock = SimClock(datetime(2026, 11, 21, tzinfo=UTC))

    async def nap() -> None:
        while clock.ticks() < 1:
            await clock.sleep(1e-9)

    napping = asyncio.gather(nap())
    clock._now += timedelta(seconds=1, microseconds=-1)
    await clock.advance(1e-6)
    await napping
    assert clock.ticks() == 1


async def test_work_that_never_ends_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that is kept standing for ever raises instead of waiting for ever."""
    monkeypatch.setattr("tests.sim_clock.STUCK", 0.0)
    clock = SimClock(datetime(2026, 11, 21, tzinfo=UTC))
    clock.while_busy(lambda: True)
    with pytest.raises(TimeoutError, match="work never ends"):
        await clock.advance(1)
    assert clock.ticks() == 0
