"""Surfaces that fail: what is to go out goes out once, whatever the surface or the ledger does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from loopforge.core.delivery_states import Queued
from loopforge.core.events import Event, Fact, kind_of
from loopforge.core.room_vocabulary import Said
from loopforge.core.text.erasable_text import Words
from loopforge.errors import LedgerBusy, SendFailed
from loopforge.ledger.sql_ledger import SqlLedger, open_ledger
from loopforge.runtime.delivery_worker import MOST_ATTEMPTS, PATIENCE, Deliveries
from loopforge.runtime.ports import Outgoing
from loopforge.runtime.system_clock import SeededDice, SimClock, Stamp
from tests.still import still

STREAM = "room:commons"
START = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)


class Wall:
    """A pushed surface in memory. `trouble` may raise, before or after a post is there."""

    name = "wall"

    def __init__(self, trouble: Callable[[str, int], None] = lambda _, __: None) -> None:
        self.posts: list[str] = []
        self.asked = 0
        self._trouble = trouble
        self._nth = 0

    async def send(self, out: Outgoing) -> str:
        """Post it."""
        self._nth += 1
        self._trouble("before", self._nth)
        self.posts.append(out.nonce)
        self._trouble("after", self._nth)
        return f"w{self._nth}"

    async def sent(self, out: Outgoing) -> str | None:
        """Whether it is there."""
        self.asked += 1
        return f"w{self.posts.index(out.nonce)}" if out.nonce in self.posts else None


class Moody:
    """A ledger that is busy whenever facts of one kind are to be written."""

    def __init__(self, inner: SqlLedger) -> None:
        self._inner, self.refusing = inner, ""
        self.read, self.event, self.heads = inner.read, inner.event, inner.heads
        self.decide, self.subscribe, self.told = inner.decide, inner.subscribe, inner.told

    async def append(
        self, stream: str, facts: Sequence[Fact], *, expect: int | None = None
    ) -> tuple[Event, ...]:
        """Append, or be busy."""
        if any(kind_of(fact.body) == self.refusing for fact in facts):
            raise LedgerBusy("Somebody else is writing.")
        return await self._inner.append(stream, facts, expect=expect)


@asynccontextmanager
async def ledger_of(path: Path, clock: SimClock, seed: int = 7) -> AsyncIterator[SqlLedger]:
    """A ledger in a file."""
    ledger = await open_ledger(f"sqlite:///{path}/ledger.db", clock, SeededDice(seed))
    still(clock, ledger)
    try:
        yield ledger
    finally:
        await ledger.close()


async def delivering(ledger: SqlLedger, stamp: Stamp, *walls: Wall) -> Deliveries:
    """Deliveries to these surfaces, as a process has them that has just begun."""
    deliveries = Deliveries(ledger, stamp, {wall.name: wall for wall in walls})
    await deliveries.start(ledger)
    return deliveries


async def say(ledger: SqlLedger, stamp: Stamp, surface: str = "wall") -> Event:
    """A mate says something that is to go out."""
    body = Said(turn="t", mate="maya", text=Words("hello"))
    said = stamp.fact(body, actor="mate:maya")
    queued = stamp.fact(Queued(surface=surface, of=said.id), actor="runtime", cause=said.id)
    return (await ledger.append(STREAM, [said, queued]))[0]


async def kinds(ledger: SqlLedger) -> list[str]:
    """What became of deliveries."""
    events = await ledger.read(STREAM)
    return [e.kind.removeprefix("delivery.") for e in events if e.kind.startswith("delivery.")]


async def until(clock: SimClock, deliveries: Deliveries) -> None:
    """Until nothing is open, in simulated time."""
    for _ in range(400):
        await clock.advance(1)
        if not deliveries.waiting(STREAM):
            return
    raise AssertionError("it is never delivered")


def lost_answer(when: str, nth: int) -> None:
    """The first post is taken, and the answer gets lost."""
    if (when, nth) == ("after", 1):
        raise SendFailed("the answer was lost")


async def test_a_post_whose_answer_was_lost_is_not_posted_again(tmp_path: Path) -> None:
    """Before a second attempt the surface is asked whether it has the thing already."""
    clock = SimClock(START)
    async with ledger_of(tmp_path, clock) as ledger:
        stamp, wall = Stamp(clock, SeededDice(1)), Wall(lost_answer)
        deliveries = await delivering(ledger, stamp, wall)
        await say(ledger, stamp)
        await until(clock, deliveries)
        assert len(wall.posts) == 1
        assert await kinds(ledger) == ["queued", "attempting", "put_off", "attempting", "accepted"]
        await deliveries.close()


async def test_a_doubt_outlives_the_process(tmp_path: Path) -> None:
    """A post put off before a restart is asked after, not sent blindly again."""
    clock = SimClock(START)
    stamp, wall = Stamp(clock, SeededDice(1)), Wall(lost_answer)
    async with ledger_of(tmp_path, clock) as ledger:
        deliveries = await delivering(ledger, stamp, wall)
        await say(ledger, stamp)
        await clock.advance(0.5)
        assert (await kinds(ledger))[-1] == "put_off"
        await deliveries.close()
    async with ledger_of(tmp_path, clock, seed=8) as ledger:
        deliveries = await delivering(ledger, stamp, wall)
        await until(clock, deliveries)
        assert (len(wall.posts), wall.asked) == (1, 1)
        await deliveries.close()


async def test_a_surface_that_never_takes_it_fails_for_good(tmp_path: Path) -> None:
    """When patience ends the delivery has failed, and the next one has its turn."""
    down = True

    def trouble(_when: str, _nth: int) -> None:
        if down:
            raise SendFailed("it is down")

    clock = SimClock(START)
    async with ledger_of(tmp_path, clock) as ledger:
        stamp, wall = Stamp(clock, SeededDice(1)), Wall(trouble)
        deliveries = await delivering(ledger, stamp, wall)
        await say(ledger, stamp)
        await clock.advance(PATIENCE.total_seconds())
        assert "failed" not in await kinds(ledger)
        await clock.advance(120)
        assert (await kinds(ledger))[-1] == "failed"
        down = False
        await say(ledger, stamp)
        await until(clock, deliveries)
        assert (await kinds(ledger))[-1] == "accepted"
        await deliveries.close()


async def test_what_was_certainly_not_sent_is_not_looked_for(tmp_path: Path) -> None:
    """A surface that never was reached is not asked whether it has the thing; after doubt it is."""
    why = {1: True, 2: True, 3: False}

    def trouble(when: str, nth: int) -> None:
        if when == "before" and nth in why:
            raise SendFailed("it is down", unsent=why[nth])

    clock = SimClock(START)
    async with ledger_of(tmp_path, clock) as ledger:
        stamp, wall = Stamp(clock, SeededDice(1)), Wall(trouble)
        deliveries = await delivering(ledger, stamp, wall)
        await say(ledger, stamp)
        await clock.advance(5)
        assert ((await kinds(ledger)).count("put_off"), wall.asked) == (3, 0)
        await until(clock, deliveries)
        assert (len(wall.posts), wall.asked) == (1, 1)
        await deliveries.close()


async def test_a_mistake_that_does_not_end_costs_that_thing_alone(tmp_path: Path) -> None:
    """A thing that no surface can be brought to send fails after some attempts; others go on."""

    def trouble(_when: str, nth: int) -> None:
        if nth <= MOST_ATTEMPTS:
            raise ZeroDivisionError

    clock = SimClock(START)
    async with ledger_of(tmp_path, clock) as ledger:
        stamp, wall = Stamp(clock, SeededDice(1)), Wall(trouble)
        deliveries = await delivering(ledger, stamp, wall)
        await say(ledger, stamp)
        await say(ledger, stamp)
        await clock.advance(20 * 60)
        became = await kinds(ledger)
        assert became.count("attempting") == MOST_ATTEMPTS + 1
        assert became[-3:] == ["failed", "attempting", "accepted"]
        await deliveries.close()


async def test_a_surface_with_a_mistake_of_its_own_stops_nothing(tmp_path: Path) -> None:
    """An error that no surface should raise costs an attempt, not the worker."""

    def trouble(when: str, nth: int) -> None:
        if (when, nth) == ("after", 1):
            raise ZeroDivisionError

    clock = SimClock(START)
    async with ledger_of(tmp_path, clock) as ledger:
        stamp, wall = Stamp(clock, SeededDice(1)), Wall(trouble)
        deliveries = await delivering(ledger, stamp, wall)
        await say(ledger, stamp)
        await say(ledger, stamp)
        await until(clock, deliveries)
        assert len(wall.posts) == len(set(wall.posts)) == 2
        assert (await kinds(ledger)).count("accepted") == 2
        await deliveries.close()


async def test_a_ledger_that_fails_for_a_while_delays_and_doubles_nothing(tmp_path: Path) -> None:
    """What was sent and could not be recorded is asked after once the ledger works again."""
    clock = SimClock(START)
    async with ledger_of(tmp_path, clock) as ledger:
        stamp = Stamp(clock, SeededDice(1))
        wall = Wall()
        moody = Moody(ledger)
        deliveries = Deliveries(moody, stamp, {wall.name: wall})
        await deliveries.start(ledger)
        moody.refusing = "delivery.accepted"
        await say(ledger, stamp)
        await clock.advance(5)
        assert len(wall.posts) == 1
        assert deliveries.waiting(STREAM) == 1
        moody.refusing = ""
        await until(clock, deliveries)
        assert len(wall.posts) == 1
        assert (await kinds(ledger))[-1] == "accepted"
        await deliveries.close()


async def test_two_terminals_that_saw_it_at_once_accept_it_once(tmp_path: Path) -> None:
    """Of two acknowledgements at the same moment neither is refused, and none counts twice."""
    clock = SimClock(START)
    async with ledger_of(tmp_path, clock) as ledger:
        stamp = Stamp(clock, SeededDice(1))
        deliveries = await delivering(ledger, stamp)
        first, second = [await say(ledger, stamp, "terminal") for _ in range(2)]
        await asyncio.gather(
            deliveries.seen(STREAM, "terminal", first.seq, "ana"),
            deliveries.seen(STREAM, "terminal", second.seq, "bo"),
        )
        assert deliveries.waiting(STREAM) == 0
        assert (await kinds(ledger)).count("accepted") == 2
