"""Surfaces that fail: what is to go out goes out once, whatever the surface or the ledger does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
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
    """A ledger that is busy whenever facts of some kinds are to be written."""

    def __init__(self, inner: SqlLedger, refusing: Collection[str]) -> None:
        self._inner, self._refusing = inner, refusing
        self.read, self.event, self.heads = inner.read, inner.event, inner.heads
        self.decide, self.subscribe, self.told = inner.decide, inner.subscribe, inner.told

    async def append(
        self, stream: str, facts: Sequence[Fact], *, expect: int | None = None
    ) -> tuple[Event, ...]:
        """Append, or be busy."""
        if any(kind_of(fact.body) in self._refusing for fact in facts):
            raise LedgerBusy("Somebody else is writing.")
        return await self._inner.append(stream, facts, expect=expect)


@dataclass
class Post:
    """A room whose lines go out to a wall, by a process that has just begun."""

    clock: SimClock
    ledger: SqlLedger
    deliveries: Deliveries
    stamp: Stamp

    async def say(self, surface: str = "wall") -> Event:
        """A mate says something that is to go out."""
        said = self.stamp.fact(Said(turn="t", mate="maya", text=Words("hello")), actor="mate:maya")
        body = Queued(surface=surface, of=said.id)
        queued = self.stamp.fact(body, actor="runtime", cause=said.id)
        return (await self.ledger.append(STREAM, [said, queued]))[0]

    async def kinds(self) -> list[str]:
        """What became of deliveries."""
        events = await self.ledger.read(STREAM)
        return [e.kind.removeprefix("delivery.") for e in events if e.kind.startswith("delivery.")]

    async def until(self) -> None:
        """Until nothing is open, in simulated time."""
        for _ in range(400):
            await self.clock.advance(1)
            if not self.deliveries.waiting(STREAM):
                return
        raise AssertionError("it is never delivered")


@asynccontextmanager
async def posting(
    path: Path,
    wall: Wall,
    *,
    clock: SimClock | None = None,
    seed: int = 7,
    refusing: Collection[str] = (),
) -> AsyncIterator[Post]:
    """A ledger in a file, which may refuse facts of some kinds, and deliveries to this wall."""
    clock = clock or SimClock(START)
    ledger = await open_ledger(f"sqlite:///{path}/ledger.db", clock, SeededDice(seed))
    still(clock, ledger)
    stamp = Stamp(clock, SeededDice(seed + 10))
    given = Moody(ledger, refusing)
    deliveries = Deliveries(given, stamp, {wall.name: wall})
    await deliveries.start(ledger)
    try:
        yield Post(clock, ledger, deliveries, stamp)
    finally:
        await deliveries.close()
        await ledger.close()


def lost_answer(when: str, nth: int) -> None:
    """The first post is taken, and the answer gets lost."""
    if (when, nth) == ("after", 1):
        raise SendFailed("the answer was lost")


async def test_a_doubt_outlives_the_process(tmp_path: Path) -> None:
    """A post put off before a restart is asked after, not sent blindly again."""
    clock, wall = SimClock(START), Wall(lost_answer)
    async with posting(tmp_path, wall, clock=clock) as post:
        await post.say()
        await clock.advance(0.5)
        assert (await post.kinds())[-1] == "put_off"
    async with posting(tmp_path, wall, clock=clock, seed=8) as post:
        await post.until()
        assert (len(wall.posts), wall.asked) == (1, 1)
        assert await post.kinds() == [
            "queued", "attempting", "put_off", "attempting", "accepted",
        ]  # fmt: skip


async def test_a_surface_that_never_takes_it_fails_for_good(tmp_path: Path) -> None:
    """When patience ends the delivery has failed, and the next one has its turn."""
    down = True

    def trouble(_when: str, _nth: int) -> None:
        if down:
            raise SendFailed("it is down")

    async with posting(tmp_path, Wall(trouble)) as post:
        await post.say()
        await post.clock.advance(PATIENCE.total_seconds())
        assert "failed" not in await post.kinds()
        await post.clock.advance(120)
        assert (await post.kinds())[-1] == "failed"
        down = False
        await post.say()
        await post.until()
        assert (await post.kinds())[-1] == "accepted"


async def test_what_was_certainly_not_sent_is_not_looked_for(tmp_path: Path) -> None:
    """A surface that never was reached is not asked whether it has the thing; after doubt it is."""
    why = {1: True, 2: True, 3: False}

    def trouble(when: str, nth: int) -> None:
        if when == "before" and nth in why:
            raise SendFailed("it is down", unsent=why[nth])

    wall = Wall(trouble)
    async with posting(tmp_path, wall) as post:
        await post.say()
        await post.clock.advance(5)
        assert ((await post.kinds()).count("put_off"), wall.asked) == (3, 0)
        await post.until()
        assert (len(wall.posts), wall.asked) == (1, 1)


async def test_a_mistake_that_does_not_end_costs_that_thing_alone(tmp_path: Path) -> None:
    """A thing that no surface can be brought to send fails after some attempts; others go on."""

    def trouble(_when: str, nth: int) -> None:
        if nth <= MOST_ATTEMPTS:
            raise ZeroDivisionError

    async with posting(tmp_path, Wall(trouble)) as post:
        await post.say()
        await post.say()
        await post.clock.advance(20 * 60)
        became = await post.kinds()
        assert became.count("attempting") == MOST_ATTEMPTS + 1
        assert became[-3:] == ["failed", "attempting", "accepted"]


async def test_a_surface_with_a_mistake_of_its_own_stops_nothing(tmp_path: Path) -> None:
    """An error that no surface should raise costs an attempt, not the worker."""

    def trouble(when: str, nth: int) -> None:
        if (when, nth) == ("after", 1):
            raise ZeroDivisionError

    wall = Wall(trouble)
    async with posting(tmp_path, wall) as post:
        await post.say()
        await post.say()
        await post.until()
        assert len(wall.posts) == len(set(wall.posts)) == 2
        assert (await post.kinds()).count("accepted") == 2


async def test_a_ledger_that_fails_for_a_while_delays_and_doubles_nothing(tmp_path: Path) -> None:
    """What was sent and could not be recorded is asked after once the ledger works again."""
    wall, refusing = Wall(), {"delivery.accepted"}
    async with posting(tmp_path, wall, refusing=refusing) as post:
        await post.say()
        await post.clock.advance(5)
        assert len(wall.posts) == 1
        assert post.deliveries.waiting(STREAM) == 1
        refusing.clear()
        await post.until()
        assert len(wall.posts) == 1
        assert (await post.kinds())[-1] == "accepted"


async def test_two_terminals_that_saw_it_at_once_accept_it_once(tmp_path: Path) -> None:
    """Of two acknowledgements at the same moment neither is refused, and none counts twice."""
    async with posting(tmp_path, Wall()) as post:
        first, second = [await post.say("terminal") for _ in range(2)]
        await asyncio.gather(
            post.deliveries.seen(STREAM, "terminal", first.seq, "ana"),
            post.deliveries.seen(STREAM, "terminal", second.seq, "bo"),
        )
        assert post.deliveries.waiting(STREAM) == 0
        assert (await post.kinds()).count("accepted") == 2
