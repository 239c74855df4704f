"""Delivery: every outgoing thing from queued to accepted or failed, and never sent twice blindly.

Two kinds of surface. One that is pulled (a terminal, a web page) reads the room and says what it
has shown: `seen` accepts it; until then it stands in the outbox alone, since nobody may ever look.
One that is pushed (a platform) has a Surface here: one worker
for each stream and place sends in order, writes `attempting` before it touches the wire, and
after a crash asks whether the thing is already there before sending it again. A platform has many
places ("name:123"), all served by the one Surface of its name; what waits for a platform that is
not attached stays queued.

Caller must: call `start` once.
"""

import asyncio
import logging
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from itertools import count
from typing import NamedTuple, Protocol

from msgspec.structs import replace

from loopforge.core.delivery_states import (
    Accepted,
    Attempting,
    Failed,
    PutOff,
    Queued,
    Uncertain,
)
from loopforge.core.events import Body, Event, Fact
from loopforge.core.room_vocabulary import LineDeleted, LineEdited, Told
from loopforge.core.text.erasable_text import Words
from loopforge.errors import LedgerError, SendFailed
from loopforge.runtime.local.stream_lanes import LocalLanes
from loopforge.runtime.ports import Ledger, Outgoing, Surface
from loopforge.runtime.system_clock import Stamp

log = logging.getLogger(__name__)
PAUSES = (1.0, 2.0, 5.0, 15.0, 60.0)
"""Seconds before the next attempt, by how many failed; the last one holds."""
MOST_ATTEMPTS = 12
"""Attempts that a mistake of ours may cost; and that one process makes before patience can end."""
PATIENCE = timedelta(hours=12)
SELDOM = 10
"""Of more attempts than that, one in so many is written down."""
PAGE = 1000
"""Deliveries that are accepted at a time."""
CHANGES = ("edit", "deletion")
"""What becomes of a line that was sent before."""
LATE = timedelta(minutes=2)
"""What arrives so long after it was said is late."""
AWAY = "the home was away."
UNKNOWN = "Nobody can tell whether it arrived before that."


class PendingDelivery(NamedTuple):
    """A delivery that is neither accepted nor failed: its id, of which event, how far it is."""

    delivery: str
    stream: str
    surface: str
    of: str
    what: str
    state: str
    attempts: int


class DeliveryQueue(Protocol):
    """The ledger's view of open deliveries."""

    async def outbox(self, *, but: Collection[str] = ()) -> list[PendingDelivery]:
        """Every open delivery, oldest first; but those to these surfaces."""

    async def unseen(self, stream: str, surface: str, upto: int) -> list[str]:
        """The ids of a surface's oldest open deliveries of events up to `upto`, PAGE at most."""


class Undelivered(NamedTuple):
    """A delivery that will never be made, and why.

    `gone`: nor will any other to that place; otherwise others may go through, if not now, then
    later. `told`: a word about something that was lost as this waits to go to that place already.
    `moved`: the key that the place has now, if it has another one.
    """

    pending: PendingDelivery
    event: Event
    why: str
    gone: bool
    told: bool
    moved: str = ""


class DelayedDeliveries(NamedTuple):
    """Things that arrived late, one after the other, the last just now; `by` is the most."""

    pending: PendingDelivery
    events: tuple[Event, ...]
    by: timedelta
    why: str


Consequences = Callable[[Undelivered | DelayedDeliveries, Stamp], Awaitable[Sequence[Fact]]]
"""What else becomes true when something was late or not delivered; appended together with that."""


async def _no_facts(_: Undelivered | DelayedDeliveries, __: Stamp) -> Sequence[Fact]:
    return ()


def _is_recorded_attempt(tries: int) -> bool:
    """Whether an attempt is written down, and that the one before it was put off."""
    return tries <= MOST_ATTEMPTS or tries % SELDOM == 0


def _is_word(pending: PendingDelivery, event: Event) -> bool:
    """Whether it is a word of the room, and no reminder: nobody waits for that."""
    return pending.what == "line" and isinstance(event.body, Told)


def _as_unsure_failure(failure: SendFailed) -> SendFailed:
    """The same for what an earlier attempt may have sent, where nobody can look for that now."""
    return SendFailed(f"{failure.why} {UNKNOWN}", uncertain=True, gone=failure.gone)


class _Late:
    """What arrived late in one place and nobody was told of yet; why; the words that told."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.by, self.why = timedelta(), AWAY
        self.words: set[str] = set()

    @contextmanager
    def written(self) -> Iterator[None]:
        """As it was before the block, where what the block changes could not be written down."""
        was = [*self.events], self.by, self.why, {*self.words}
        try:
            yield
        except BaseException:
            self.events, self.by, self.why, self.words = was
            raise


class Deliveries:
    """The open deliveries of this process.

    `surfaces` are those that are pushed, by name; `pulled` are the names of others.

    `patience`: how old a thing may become that a surface cannot take now. Words of the room (what
    was lost, say) are waited for without end.
    """

    def __init__(
        self,
        ledger: Ledger,
        stamp: Stamp,
        surfaces: Mapping[str, Surface],
        consequences: Consequences = _no_facts,
        patience: timedelta = PATIENCE,
        pulled: Collection[str] = (),
    ) -> None:
        self._ledger, self._stamp, self._surfaces = ledger, stamp, dict(surfaces)
        self._pulled = frozenset(pulled)
        self._consequences, self._patience = consequences, patience
        self._late: dict[tuple[str, str], _Late] = defaultdict(_Late)
        self._mistakes: Counter[str] = Counter()
        self._open: dict[tuple[str, str], OrderedDict[str, PendingDelivery]] = {}
        self._seeing: dict[tuple[str, str], asyncio.Lock] = defaultdict(asyncio.Lock)
        self._lanes = LocalLanes(self._drain, stamp.clock)
        self._outbox: DeliveryQueue | None = None
        ledger.subscribe(self._follow)

    async def start(self, outbox: DeliveryQueue) -> None:
        """Take up what was open when the last process ended."""
        self._outbox = outbox
        for pending in await outbox.outbox(but=self._pulled):
            self._enqueue(pending)

    async def close(self) -> None:
        """Stop sending; what is open stays in the ledger."""
        await self._lanes.close()

    def attach(self, surface: Surface) -> None:
        """A surface is there from now on; what waits for it goes out."""
        self._surfaces[surface.name] = surface
        for place in list(self._open):
            if self._surface_of(place[1]) is surface:
                self._lanes.wake(place)

    def detach(self, name: str) -> None:
        """A surface is there no longer; what is for it stays queued."""
        self._surfaces.pop(name, None)

    def _surface_of(self, place: str) -> Surface | None:
        """What serves a place: the surface of that name, or of the platform's name before it."""
        return self._surfaces.get(place) or self._surfaces.get(place.partition(":")[0])

    def _follow(self, stream: str, events: Sequence[Event]) -> None:
        for event in events:
            match event.body:
                case Queued(surface=surface, of=of, what=what) if surface not in self._pulled:
                    self._enqueue(PendingDelivery(event.id, stream, surface, of, what, "queued", 0))
                case Attempting(delivery=id, nth=nth):
                    self._note_attempt(stream, id, nth)
                case Accepted(delivery=id) | Failed(delivery=id) | Uncertain(delivery=id):
                    self._dequeue(stream, id)

    def _enqueue(self, pending: PendingDelivery) -> None:
        place = (pending.stream, pending.surface)
        self._open.setdefault(place, OrderedDict())[pending.delivery] = pending
        if self._surface_of(pending.surface) is not None:
            self._lanes.wake(place)

    def _note_attempt(self, stream: str, delivery: str, nth: int) -> None:
        for (where, _), table in self._open.items():
            if where == stream and delivery in table:
                table[delivery] = table[delivery]._replace(state="attempting", attempts=nth)

    def _dequeue(self, stream: str, delivery: str) -> None:
        for (where, surface), table in self._open.items():
            if where == stream and delivery in table:
                del table[delivery]
                self._mistakes.pop(delivery, None)
                self._late[where, surface].words.discard(delivery)
                if not table:
                    del self._open[where, surface]
                return

    def going(self, stream: str) -> int:
        """How many things of a stream are on their way to places that things are pushed to.

        What a screen has not shown yet lies there until somebody opens one: it goes nowhere.
        """
        return sum(
            len(table)
            for (where, place), table in self._open.items()
            if where == stream and (":" in place or self._surface_of(place) is not None)
        )

    async def again(self, failed: Event, body: Queued) -> None:
        """Send what failed once more: a delivery of its own, whose cause is that one.

        Asked for twice, also at once or in two programs, it is sent once.
        """

        async def head(_: int) -> int:
            return (await self._ledger.heads(failed.stream)).get(failed.stream, 0)

        async def attempt(seq: int) -> None:
            later = await self._ledger.read(
                failed.stream, after=failed.seq, kinds=["delivery.queued"]
            )
            if not any(event.cause == failed.id for event in later):
                fact = self._stamp.fact(body, actor="runtime", cause=failed.id)
                await self._ledger.append(failed.stream, [fact], expect=seq)

        await self._ledger.decide(failed.stream, head, attempt)

    # ------------------------------------------------------------ pulled surfaces

    async def seen(self, stream: str, surface: str, upto: int, by: str) -> None:
        """Everything of a pulled surface up to `upto` (a sequence number) was shown, to `by`."""
        place = (stream, surface)
        assert self._outbox is not None
        async with self._seeing[place]:  # two terminals that saw it at once must not both accept it
            while shown := await self._outbox.unseen(stream, surface, upto):
                bodies = [Accepted(delivery=each, message_id=by) for each in shown]
                facts = [self._stamp.fact(body, actor="runtime") for body in bodies]
                await self._ledger.append(stream, facts)

    # ------------------------------------------------------------ pushed surfaces

    async def _drain(self, place: tuple[str, str]) -> None:
        """Send what is open for one surface of one stream, in order.

        What fails without saying so (the ledger, a surface's own mistake) is tried again later.
        """
        while (table := self._open.get(place)) and self._surface_of(place[1]):
            await self._deliver(next(iter(table.values())))

    async def _deliver(self, pending: PendingDelivery) -> None:
        event = await self._ledger.event(pending.of)
        out = Outgoing(
            delivery=pending.delivery,
            stream=pending.stream,
            place=pending.surface,
            what=pending.what,  # type: ignore[arg-type]
            event=event,
        )
        doubt = pending.attempts > 0  # whether it may be there, or some of it
        for tries in count(1):
            surface = self._surface_of(pending.surface)
            if surface is None:
                return
            if tries > 1:  # its words may be forgotten by now
                event = await self._ledger.event(pending.of)
                out = replace(out, event=event)
            nth = pending.attempts + tries
            if _is_recorded_attempt(tries):
                tried = await self._record(pending, Attempting(delivery=pending.delivery, nth=nth))
                if not out.first:
                    first = tried[0].id if nth == 1 else await self._first_attempt(pending, event)
                    out = replace(out, first=first)
            try:
                there = await surface.sent(out) if doubt else None
                doubt = False
                message = await surface.send(out) if there is None else there
            except Exception as error:
                failure = self._as_send_failure(pending, error)
                if failure.final or failure.uncertain or self._is_too_old(event, tries):
                    lost = _as_unsure_failure(failure) if doubt and failure.final else failure
                    await self._give_up(pending, event, lost)
                    return
                doubt = doubt or not failure.unsent
                await self._put_off(pending, failure, tries)
                continue
            await self._record_accepted(pending, event, message)
            return

    def _as_send_failure(self, pending: PendingDelivery, error: Exception) -> SendFailed:
        """What an attempt failed by. A mistake of ours costs so many attempts, then the thing.

        Raises LedgerError: the ledger's troubles are no fault of the thing that is to go out.
        """
        match error:
            case SendFailed():
                return error
            case LedgerError():
                raise error
        log.error("a delivery to %s went wrong", pending.surface, exc_info=error)
        why = f"it went wrong ({type(error).__name__}); the log of the home says where."
        self._mistakes[pending.delivery] += 1
        return SendFailed(why, final=self._mistakes[pending.delivery] >= MOST_ATTEMPTS)

    def _age_of(self, event: Event) -> timedelta:
        return self._stamp.clock.now() - event.at

    def _is_too_old(self, event: Event, tries: int) -> bool:
        """Whether it has become too old to be tried once more."""
        old = self._age_of(event) > self._patience and tries >= MOST_ATTEMPTS
        return old and not isinstance(event.body, Told)

    async def _put_off(self, pending: PendingDelivery, failure: SendFailed, tries: int) -> None:
        late = self._late[pending.stream, pending.surface]
        if not failure.after or late.why == AWAY:  # a pace that is kept after an outage is not why
            late.why = failure.why
        if _is_recorded_attempt(tries + 1):  # else what is written stands: it is being attempted
            await self._record(pending, PutOff(delivery=pending.delivery, why=Words(failure.why)))
        pause = PAUSES[min(tries, len(PAUSES)) - 1]
        await self._stamp.clock.sleep(failure.after or pause)

    async def _first_attempt(self, pending: PendingDelivery, event: Event) -> str:
        """The id of the event of its first attempt, which another process may have made."""
        kinds = ("delivery.attempting",)
        for each in await self._ledger.read(pending.stream, after=event.seq, kinds=kinds):
            if isinstance(each.body, Attempting) and each.body.delivery == pending.delivery:
                return each.id
        return pending.delivery

    # ------------------------------------------------------------ how it ends

    async def _record_accepted(self, pending: PendingDelivery, event: Event, message: str) -> None:
        late = self._late[pending.stream, pending.surface]
        age = self._age_of(event)
        with late.written():
            if age > LATE and pending.what in ("line", "reminder") and not _is_word(pending, event):
                late.events.append(event)
                late.by = max(late.by, age)
            elif age <= LATE and not late.events:
                late.why = AWAY
            accepted = Accepted(delivery=pending.delivery, message_id=message)
            await self._record(pending, accepted, *await self._delayed_notices(pending))

    async def _give_up(self, pending: PendingDelivery, event: Event, failure: SendFailed) -> None:
        place, why = (pending.stream, pending.surface), failure.why
        if not (failure.final or failure.uncertain):
            hours = self._patience / timedelta(hours=1)
            why = f"{why} It was tried for {hours:g} hours. Ask again for what you still need."
        body = (Uncertain if failure.uncertain else Failed)(
            delivery=pending.delivery, why=Words(why)
        )
        late = self._late[place]
        with late.written():
            notices = await self._delayed_notices(pending)
            told = bool(late.words) and not failure.final
            lost = Undelivered(pending, event, why, failure.gone, told, failure.moved)
            found = [*await self._consequences(lost, self._stamp)]
            found += await self._queued_changes(lost)
            late.words |= {
                fact.id
                for fact in found
                if isinstance(fact.body, Queued) and fact.body.surface == pending.surface
            }
            await self._record(pending, body, *notices, *found)

    async def _queued_changes(self, lost: Undelivered) -> list[Fact]:
        """What was changed of a line while it waited goes after it, where its place has moved."""
        pending, found = lost.pending, list[Fact]()
        table: Mapping[str, PendingDelivery] = self._open.get((pending.stream, pending.surface), {})
        for each in [one for one in table.values() if lost.moved and one.what in CHANGES]:
            body = (await self._ledger.event(each.of)).body
            if isinstance(body, LineEdited | LineDeleted) and body.line == pending.of:
                owed = Queued(surface=lost.moved, of=each.of, what=each.what)  # type: ignore[arg-type]
                found.append(self._stamp.fact(owed, actor="runtime", cause=each.delivery))
        return found

    async def _delayed_notices(self, pending: PendingDelivery) -> Sequence[Fact]:
        """What follows from what was late, once nothing more of it is to come."""
        place = (pending.stream, pending.surface)
        late = self._late[place]
        if not late.events:
            return ()
        table: Mapping[str, PendingDelivery] = self._open.get(place, {})
        others = (each for id, each in table.items() if id != pending.delivery)
        after = next(others, None)
        if after is not None and not _is_word(after, await self._ledger.event(after.of)):
            return ()  # it may come late, too
        came = DelayedDeliveries(pending, tuple(late.events), late.by, late.why)
        late.events, late.by, late.why = [], timedelta(), AWAY
        return await self._consequences(came, self._stamp)

    async def _record(self, pending: PendingDelivery, body: Body, *more: Fact) -> tuple[Event, ...]:
        fact = self._stamp.fact(body, actor="runtime", cause=pending.delivery)
        return await self._ledger.append(pending.stream, [fact, *more])
