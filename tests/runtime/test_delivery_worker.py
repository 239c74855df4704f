"""Delivery to surfaces that are pushed: in order, tried again, never sent twice blindly.

Whatever the surface or the ledger does, what is to go out goes out once.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta

from loopforge.core.delivery_states import Attempting, Queued, Uncertain
from loopforge.core.events import AnyBody, Body, Event, Fact, kind_of
from loopforge.core.room_vocabulary import Said, Told
from loopforge.core.text.erasable_text import Words
from loopforge.errors import LedgerBusy, SendFailed
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.runtime.delivery_worker import (
    MOST_ATTEMPTS,
    PAGE,
    PATIENCE,
    UNKNOWN,
    Consequences,
    DelayedDeliveries,
    Deliveries,
    Undelivered,
)
from loopforge.runtime.ports import Outgoing
from loopforge.runtime.system_clock import Stamp
from tests.runtime.conftest import STREAM, Stage

ONE = Said(turn="t", mate="maya", text=Words("one"))
TWO = Said(turn="t", mate="maya", text=Words("two"))
Trouble = Callable[[str, int], None]
"""May raise, given whether it is "before" or "after" a post is there, and the number of the try."""


class Wall:
    """A pushed surface in memory: what is posted there in order, by delivery; `asked` after how often."""

    name = "wall"

    def __init__(self, trouble: Trouble = lambda _when, _nth: None) -> None:
        self.posts: dict[str, AnyBody] = {}
        self.asked = self._nth = 0
        self.hidden: SendFailed | None = None
        self._trouble = trouble

    async def send(self, out: Outgoing) -> str:
        """Post it."""
        self._nth += 1
        self._trouble("before", self._nth)
        assert out.delivery not in self.posts
        self.posts[out.delivery] = out.event.body
        self._trouble("after", self._nth)
        return f"w{self._nth}"

    async def sent(self, out: Outgoing) -> str | None:
        """Whether it is there."""
        self.asked += 1
        if self.hidden:
            raise self.hidden
        return "w0" if out.delivery in self.posts else None

    @property
    def order(self) -> list[AnyBody]:
        """What is there, in order."""
        return list(self.posts.values())


class Moody:
    """A ledger that is busy whenever facts of some kinds are to be written.

    `sizes` are those of appends, `looked_up` the ids of events that were read one by one.
    """

    def __init__(self, inner: SqlLedger, refusing: Collection[str] = ()) -> None:
        self._inner, self._refusing = inner, refusing
        self.sizes: list[int] = []
        self.looked_up: list[str] = []
        self.read, self.heads = inner.read, inner.heads
        self.decide, self.subscribe, self.told = inner.decide, inner.subscribe, inner.told

    async def append(
        self, stream: str, facts: Sequence[Fact], *, expect: int | None = None
    ) -> tuple[Event, ...]:
        """Append, or be busy."""
        if any(kind_of(fact.body) in self._refusing for fact in facts):
            raise LedgerBusy("Somebody else is writing.")
        self.sizes.append(len(facts))
        return await self._inner.append(stream, facts, expect=expect)

    async def event(self, id: str) -> Event:
        """Look up one event."""
        self.looked_up.append(id)
        return await self._inner.event(id)


@asynccontextmanager
async def posting(
    stage: Stage,
    wall: Wall,
    *,
    refusing: Collection[str] = (),
    patience: timedelta = PATIENCE,
    ledger: Moody | None = None,
    consequences: Consequences | None = None,
) -> AsyncIterator[Deliveries]:
    """A process that delivers to this wall, with a ledger that may refuse facts of some kinds."""
    ledger = ledger or Moody(stage.ledger, refusing)
    walls, pulled = {"wall": wall}, ("terminal",)
    more = {"consequences": consequences} if consequences else {}
    deliveries = Deliveries(ledger, stage.stamp, walls, patience=patience, pulled=pulled, **more)
    await deliveries.start(stage.ledger)
    try:
        yield deliveries
    finally:
        await deliveries.close()


async def queue(stage: Stage, *bodies: Body, surface: str = "wall") -> list[Event]:
    """Things happen in the room, each queued for the surface."""
    facts = []
    for body in bodies:
        fact = stage.stamp.fact(body, actor="room")
        queued = Queued(surface=surface, of=fact.id)
        facts += [fact, stage.stamp.fact(queued, actor="runtime", cause=fact.id)]
    return list(await stage.ledger.append(STREAM, facts))


async def became(stage: Stage) -> list[str]:
    """What became of deliveries."""
    kinds = await stage.kinds()
    return [kind.removeprefix("delivery.") for kind in kinds if kind.startswith("delivery.")]


async def test_things_go_out_in_order_and_are_accepted(stage: Stage) -> None:
    """Each is attempted before it is sent, and accepted with the surface's id."""
    wall = Wall()
    async with posting(stage, wall):
        await queue(stage, ONE, TWO)
        await stage.clock.advance(10)
    assert await became(stage) == ["queued", "queued", *("attempting", "accepted") * 2]
    assert wall.order == [ONE, TWO]


async def test_a_failure_is_tried_again_and_order_is_kept(stage: Stage) -> None:
    """What fails for the moment holds up what comes after it, and then both arrive."""

    def trouble(when: str, nth: int) -> None:
        if when == "before" and nth <= 2:
            raise SendFailed("it is busy")

    wall = Wall(trouble)
    async with posting(stage, wall):
        await queue(stage, ONE, TWO)
        await stage.clock.advance(60)
    assert wall.order == [ONE, TWO]
    kinds = await became(stage)
    assert (kinds.count("put_off"), kinds.count("accepted")) == (2, 2)


async def test_a_final_failure_is_recorded_and_others_go_on(stage: Stage) -> None:
    """A surface that is gone for one thing does not stop the next."""

    def trouble(_when: str, nth: int) -> None:
        if nth == 1:
            raise SendFailed("it is gone", final=True)

    wall = Wall(trouble)
    async with posting(stage, wall):
        await queue(stage, ONE, TWO)
        await stage.clock.advance(10)
    assert (await became(stage))[-3:] == ["failed", "attempting", "accepted"]
    assert wall.order == [TWO]


async def test_what_a_surface_never_takes_fails_for_good_but_for_words_of_the_room(
    stage: Stage,
) -> None:
    """When patience ends the delivery has failed and the next has its turn; what is told is owed."""
    down = True

    def trouble(_when: str, _nth: int) -> None:
        if down:
            raise SendFailed("it is down")

    told, wall = Told(text=Words("one")), Wall(trouble)
    async with posting(stage, wall, patience=timedelta(minutes=15)):
        await queue(stage, ONE, told)
        await stage.clock.advance(15 * 60)
        assert "failed" not in await became(stage)
        await stage.clock.advance(120)
        assert (await became(stage)).count("failed") == 1
        await stage.clock.advance(60 * 60)
        assert (await became(stage)).count("failed") == 1
        down = False
        await stage.clock.advance(120)
    assert wall.order == [told]


async def test_what_was_late_is_told_once_and_by_its_reason(stage: Stage) -> None:
    """An outage and the pace that a platform asks for after it make one word, after all of it."""
    away, told = True, list[DelayedDeliveries]()

    def trouble(when: str, nth: int) -> None:
        if when == "before" and away:
            raise SendFailed("it is away", unsent=True)
        if when == "before" and nth % 2:
            raise SendFailed("it asks for patience", unsent=True, after=50)

    async def consequences(what: Undelivered | DelayedDeliveries, _: Stamp) -> Sequence[Fact]:
        assert isinstance(what, DelayedDeliveries)
        told.append(what)
        return ()

    wall = Wall(trouble)
    async with posting(stage, wall, consequences=consequences):
        await queue(stage, ONE)
        await stage.clock.advance(150)
        await queue(stage, TWO, ONE, TWO)
        away = False
        await stage.clock.advance(400)
    assert wall.order == [ONE, TWO, ONE, TWO]
    assert [(len(each.events), each.why) for each in told] == [(3, "it is away")]


async def test_what_was_late_is_told_though_that_could_not_be_written_at_first(
    stage: Stage,
) -> None:
    """Each line of it once: the count is of what is written down."""
    away, told, refusing = True, list[DelayedDeliveries](), {"delivery.accepted"}

    def trouble(when: str, _nth: int) -> None:
        if when == "before" and away:
            raise SendFailed("it is away", unsent=True)

    async def consequences(what: Undelivered | DelayedDeliveries, _: Stamp) -> Sequence[Fact]:
        assert isinstance(what, DelayedDeliveries)
        told.append(what)
        return ()

    wall = Wall(trouble)
    async with posting(stage, wall, refusing=refusing, consequences=consequences):
        await queue(stage, ONE, TWO)
        await stage.clock.advance(150)
        away = False
        await stage.clock.advance(400)
        refusing.clear()
        await stage.clock.advance(60)
    assert wall.order == [ONE, TWO]
    assert [len(each.events) for each in told] == [2]


# ---------------------------------------------------------------- never twice


async def test_after_a_crash_it_looks_before_it_sends(stage: Stage) -> None:
    """A delivery that was being attempted when the process died is looked for first."""
    _, queued = await queue(stage, ONE)
    attempting = Attempting(delivery=queued.id, nth=1)
    await stage.ledger.append(STREAM, [stage.stamp.fact(attempting, actor="runtime")])
    wall = Wall()
    wall.posts[queued.id] = ONE
    async with posting(stage, wall):
        await stage.clock.advance(10)
    assert (await became(stage))[-1] == "accepted"
    assert await stage.ledger.outbox() == []


async def test_a_doubt_outlives_the_process(stage: Stage) -> None:
    """A post put off before a restart is asked after, not sent blindly again."""

    def trouble(when: str, _nth: int) -> None:
        if when == "after":
            raise SendFailed("the answer was lost")

    wall = Wall(trouble)
    async with posting(stage, wall):
        await queue(stage, ONE)
        await stage.clock.advance(0.5)
        assert (await became(stage))[-1] == "put_off"
    async with posting(stage, wall):
        await stage.clock.advance(10)
    assert (wall.order, wall.asked) == ([ONE], 1)
    assert await became(stage) == ["queued", *("attempting", "put_off"), "attempting", "accepted"]


async def test_a_doubt_that_nobody_can_clear_is_no_failure(stage: Stage) -> None:
    """It arrived, the answer was lost, and then the place was gone: that it failed is not said."""

    def trouble(when: str, _nth: int) -> None:
        if when == "after":
            raise SendFailed("The answer was lost.")

    wall = Wall(trouble)
    wall.hidden = SendFailed("The place is gone.", gone=True)
    async with posting(stage, wall):
        await queue(stage, ONE)
        await stage.clock.advance(60)
    assert wall.order == [ONE]
    (end,) = (e.body for e in await stage.events() if isinstance(e.body, Uncertain))
    assert str(end.why) == f"The place is gone. {UNKNOWN}"


async def test_what_was_certainly_not_sent_is_not_looked_for(stage: Stage) -> None:
    """A surface that never was reached is not asked whether it has the thing; after doubt it is."""
    unsent = {1: True, 2: True, 3: False}

    def trouble(when: str, nth: int) -> None:
        if when == "before" and nth in unsent:
            raise SendFailed("it is down", unsent=unsent[nth])

    wall = Wall(trouble)
    async with posting(stage, wall):
        await queue(stage, ONE)
        await stage.clock.advance(5)
        assert ((await became(stage)).count("put_off"), wall.asked) == (3, 0)
        await stage.clock.advance(60)
    assert (wall.order, wall.asked) == ([ONE], 1)


async def test_a_mistake_that_does_not_end_costs_that_thing_alone(stage: Stage) -> None:
    """A thing that no surface can be brought to send fails after some attempts; others go on."""

    def trouble(_when: str, nth: int) -> None:
        if nth <= MOST_ATTEMPTS:
            raise ZeroDivisionError

    async with posting(stage, Wall(trouble)):
        await queue(stage, ONE, TWO)
        await stage.clock.advance(20 * 60)
    kinds = await became(stage)
    assert kinds.count("attempting") == MOST_ATTEMPTS + 1
    assert kinds[-3:] == ["failed", "attempting", "accepted"]


async def test_a_surface_with_a_mistake_of_its_own_stops_nothing(stage: Stage) -> None:
    """An error that no surface should raise costs an attempt, not the worker."""

    def trouble(when: str, nth: int) -> None:
        if (when, nth) == ("after", 1):
            raise ZeroDivisionError

    wall = Wall(trouble)
    async with posting(stage, wall):
        await queue(stage, ONE, TWO)
        await stage.clock.advance(60)
    assert wall.order == [ONE, TWO]
    assert (await became(stage)).count("accepted") == 2


async def test_a_ledger_that_fails_for_a_while_delays_and_doubles_nothing(stage: Stage) -> None:
    """What was sent and could not be recorded is asked after once the ledger works again."""
    wall, refusing = Wall(), {"delivery.accepted"}
    async with posting(stage, wall, refusing=refusing) as deliveries:
        await queue(stage, ONE)
        await stage.clock.advance(5)
        assert (wall.order, deliveries.going(STREAM)) == ([ONE], 1)
        refusing.clear()
        await stage.clock.advance(60)
    assert wall.order == [ONE]
    assert (await became(stage))[-1] == "accepted"


async def test_what_a_platform_took_was_not_seen_on_a_screen_by_that(stage: Stage) -> None:
    """A line that goes to both arrives on the screen when the screen has shown it, not before."""
    async with posting(stage, Wall()) as deliveries:
        said = stage.stamp.fact(ONE, actor="room")
        owed = [Queued(surface=each, of=said.id) for each in ("wall", "terminal")]
        facts = [said, *(stage.stamp.fact(one, actor="runtime", cause=said.id) for one in owed)]
        line, *_ = await stage.ledger.append(STREAM, facts)
        await stage.clock.advance(10)
        assert len(await stage.ledger.outbox()) == 1
        await deliveries.seen(STREAM, "terminal", line.seq - 1, "ana")
        assert len(await stage.ledger.outbox()) == 1
        await deliveries.seen(STREAM, "terminal", line.seq, "ana")
        assert await stage.ledger.outbox() == []


async def test_two_terminals_that_saw_it_at_once_accept_it_once(stage: Stage) -> None:
    """Of two acknowledgements at the same moment neither is refused, and none counts twice."""
    async with posting(stage, Wall()) as deliveries:
        first, _, second, _ = await queue(stage, ONE, TWO, surface="terminal")
        await asyncio.gather(
            deliveries.seen(STREAM, "terminal", first.seq, "ana"),
            deliveries.seen(STREAM, "terminal", second.seq, "bo"),
        )
        assert await stage.ledger.outbox() == []
    assert (await became(stage)).count("accepted") == 2


async def test_what_no_screen_has_shown_is_held_by_the_ledger_alone(stage: Stage) -> None:
    """A start reads nothing of it, and a screen that comes at last accepts it in parts."""
    line = stage.stamp.fact(ONE, actor="room")
    owed = Queued(surface="terminal", of=line.id)
    queued = [stage.stamp.fact(owed, actor="runtime", cause=line.id) for _ in range(2 * PAGE + 1)]
    said, *_ = await stage.ledger.append(STREAM, [line, *queued])
    ledger = Moody(stage.ledger)
    async with posting(stage, Wall(), ledger=ledger) as deliveries:
        assert (ledger.looked_up, deliveries.going(STREAM)) == ([], 0)
        await deliveries.seen(STREAM, "terminal", said.seq, "ana")
    assert (ledger.sizes, await stage.ledger.outbox()) == ([PAGE, PAGE, 1], [])
