"""Traces: the events of one turn, read from the ledger in few short reads.

A turn is found from any event of it. Reading goes by kinds and in pages, and ends soon after the
turn did; only its deliveries, which may come much later, are looked for over a bounded stretch. So
the first turn of a room costs as much to read as the last one.

Nothing is judged here and nothing withheld: what a reader may see of it is the veil's
(redaction.py).
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar, get_args

from loopforge.core.delivery_states import Accepted, Failed, Queued, Uncertain
from loopforge.core.effect_states import EffectEnd, EffectProposed
from loopforge.core.events import Event
from loopforge.core.perception import Line
from loopforge.core.room_vocabulary import Heard, PersonJoined, Purged, TurnDropped, Weighed, Weight
from loopforge.core.turn_events import Asked, Perceived, TextPiece, TurnEnded
from loopforge.errors import Unknown
from loopforge.runtime.effects.effect_worker import ENDS
from loopforge.runtime.ports import Ledger
from loopforge.runtime.turn_record import lines_of, pieces_of

T = TypeVar("T")
PAGE = 100
"""Events read at once."""
FAR = 1000
"""Events of the wanted kinds that are read on at most: for a turn without an end, for deliveries
that have not arrived, for a line that nobody has weighed."""
STEPS = 20
"""Turns before and after one that are searched for the other steps of its chain."""

DELIVERIES = (
    "delivery.queued",
    "delivery.attempting",
    "delivery.accepted",
    "delivery.put_off",
    "delivery.failed",
    "delivery.uncertain",
)
THOUGHT = (
    "effect.proposed",
    "turn.asked",
    "turn.answered",
    "turn.called",
    "turn.returned",
    "turn.planned",
    "turn.judged",
    "turn.ended",
)
"""A turn after what it was shown, without its effects: what taking it up after a crash needs."""
OF_TURNS = (
    "turn.perceived",
    *THOUGHT,
    "room.said",
    "room.noted",
    "room.memory_asked",
    "room.line_edited",
    "room.reacted",
    "room.tool_used",
    "room.marked",
    "room.titled",
    *DELIVERIES,
)
EFFECTS = ("effect.proposed", "effect.approved", "effect.running", *ENDS)
PRESENCE = ("room.person_joined", "room.person_left")


@dataclass
class TurnTrace:
    """Everything of one turn: its `events` after its beginning, and what stands around it.

    With those that came of it later: the stages of its deliveries and of its uses of tools.
    `prompts` are those of its questions, by the event that asked; `left` what it might have been
    reminded of, and was not.
    """

    began: Event
    shown: Perceived
    lines: tuple[Line | str, ...]
    presence: list[Event]
    caller: Event | None = None
    weighed: Event | None = None
    purged: Event | None = None
    events: list[Event] = field(default_factory=list)
    prompts: dict[str, tuple[TextPiece, ...]] = field(default_factory=dict)
    before: Event | None = None
    after: Event | None = None
    left: list[Event] = field(default_factory=list)

    @property
    def whole(self) -> list[Event]:
        """Every event of it, those before it included."""
        before = (self.caller, self.weighed, self.purged, self.began)
        return [*(event for event in before if event is not None), *self.events, *self.left]

    def told(self, kind: type[T]) -> T | None:
        """What the newest of its events of this kind says."""
        bodies = (event.body for event in reversed(self.events))
        return next((body for body in bodies if isinstance(body, kind)), None)


# ---------------------------------------------------------------- finding and reading


async def turn_of(ledger: Ledger, event: Event) -> str:
    """The turn that an event belongs to. Raises Unknown for one that belongs to none."""
    body = event.body
    if isinstance(body, Perceived):
        return event.id
    if turn := getattr(body, "turn", ""):
        return str(turn)
    if isinstance(body, Queued):
        return await turn_of(ledger, await ledger.event(body.of))
    if about := thing_of(event):
        return await turn_of(ledger, await ledger.event(about))
    if event.cause and not isinstance(body, Heard | Weighed | TurnDropped | Purged):
        cause = await ledger.event(event.cause)
        if isinstance(cause.body, Perceived):
            return cause.id
    raise Unknown(
        f"Event {event.id} ({event.kind}) is no part of a turn. Ask why about a mate's line, "
        "or about a person's line to see who weighed it."
    )


async def events_after(
    ledger: Ledger, stream: str, after: int, kinds: Sequence[str], most: int = FAR
) -> AsyncIterator[Event]:
    """The events of these kinds after a place, page by page, at most so many."""
    while most > 0:
        page = await ledger.read(stream, after=after, kinds=kinds, limit=min(PAGE, most))
        for event in page:
            yield event
        if len(page) < PAGE:
            return
        after, most = page[-1].seq, most - len(page)


def belongs(event: Event, turn: str) -> bool:
    """Whether an event is part of a turn (marks and titles name it as their cause alone)."""
    return getattr(event.body, "turn", "") == turn or event.cause == turn


async def events_of(ledger: Ledger, began: Event) -> list[Event]:
    """The events of a turn after its beginning, up to its end."""
    found: list[Event] = []
    async for event in events_after(ledger, began.stream, began.seq, OF_TURNS):
        if isinstance(event.body, Perceived):
            break  # turns of one room run one at a time: this one was broken off
        if belongs(event, began.id) or isinstance(event.body, Queued):
            found.append(event)
        if isinstance(event.body, TurnEnded) and event.body.turn == began.id:
            break
    return found


# ---------------------------------------------------------------- a turn


async def turn_trace(ledger: Ledger, event: Event) -> TurnTrace:
    """Everything about the turn of an event. Raises Unknown."""
    began = await ledger.event(await turn_of(ledger, event))
    if not isinstance(began.body, Perceived) or began.stream != event.stream:
        raise Unknown(
            f"{event.id!r} is of no turn in this room: its own page in the browser tells why."
        )
    presence = await ledger.read(began.stream, kinds=PRESENCE)
    found = TurnTrace(began, began.body, await lines_of(ledger, began), presence)
    await _behind(ledger, found)
    own = [e for e in await events_of(ledger, began) if e.kind not in DELIVERIES[1:]]
    deeds = {event.id for event in own if event.kind.startswith("room.")}
    own = [e for e in own if not isinstance(e.body, Queued) or e.body.of in deeds]
    sent = [event for event in own if isinstance(event.body, Queued)]
    used = [event for event in own if isinstance(event.body, EffectProposed)]
    found.events = [
        *own,
        *await _stages(ledger, sent, DELIVERIES[1:], (Accepted, Failed, Uncertain)),
        *await _stages(ledger, used, EFFECTS, get_args(EffectEnd)),
    ]
    for event in own:
        if isinstance(event.body, Asked):
            found.prompts[event.id] = await pieces_of(ledger, event)
    found.left = [await ledger.event(one.of) for one in found.shown.recalled if one.left]
    await _steps(ledger, found)
    return found


async def _behind(ledger: Ledger, found: TurnTrace) -> None:
    """What came before the turn: the line that called it, and how it was weighed."""
    began, shown = found.began, found.shown
    last = await ledger.read(
        began.stream, before=began.seq, kinds=("room.purged",), limit=1, newest=True
    )
    if last and last[0].seq == began.seq - 1 and isinstance(last[0].body, Purged):
        found.purged = last[0] if last[0].body.mate == shown.mate else None
    if not shown.line:
        return
    try:
        found.caller = await ledger.event(shown.line)
    except Unknown:
        return
    after = found.caller.seq
    async for event in events_after(ledger, began.stream, after, ("room.weighed",), PAGE):
        if event.seq > began.seq:
            break
        if _weight_of(event, shown.mate, shown.line):
            found.weighed = event
            break


def _weight_of(event: Event, mate: str, line: str) -> Weight | None:
    weights = event.body.weights if isinstance(event.body, Weighed) else ()
    return next((one for one in weights if (one.mate, one.caller) == (mate, line)), None)


def thing_of(event: Event) -> str:
    """The delivery, or the use of a tool, that an event tells the fate of; "" for any other."""
    return getattr(event.body, "delivery", "") or getattr(event.body, "effect", "")


async def _stages(
    ledger: Ledger, things: Sequence[Event], kinds: Sequence[str], ends: tuple[type, ...]
) -> list[Event]:
    """What came of things that began in a turn, read on until all are settled or far enough."""
    waiting, found = {event.id for event in things}, list[Event]()
    if not waiting:
        return found
    known = set(waiting)
    async for event in events_after(ledger, things[0].stream, things[0].seq, kinds):
        body = event.body
        if isinstance(body, EffectProposed) and body.within in known and event.id not in known:
            found.append(event)  # a program went on after its turn
            known.add(event.id)
            waiting.add(event.id)
        if (id := thing_of(event)) in waiting:
            found.append(event)
            if isinstance(event.body, ends):
                waiting.discard(id)
                if not waiting:
                    break
    return found


async def _steps(ledger: Ledger, found: TurnTrace) -> None:
    """The turns of the steps before and after this one."""
    began, shown, kinds = found.began, found.shown, ("turn.perceived",)
    if shown.step:
        earlier = await ledger.read(
            began.stream, before=began.seq, kinds=kinds, limit=STEPS, newest=True
        )
        found.before = _step(earlier[::-1], shown, shown.step - 1)
    later = await ledger.read(began.stream, after=began.seq, kinds=kinds, limit=STEPS)
    found.after = _step(later, shown, shown.step + 1)


def _step(turns: Sequence[Event], shown: Perceived, step: int) -> Event | None:
    """The next turn of the same mate, if it is this step of its chain."""
    for event in turns:
        body = event.body
        if isinstance(body, Perceived) and body.mate == shown.mate:
            follows = body.step == step and (step == 0 or body.summons == "continue")
            if follows or body.step != shown.step:
                return event if follows else None
    return None


def joined_people(presence: Sequence[Event]) -> dict[str, PersonJoined]:
    """Everybody who ever came into the room, by id, as they came last."""
    return {e.body.person: e.body for e in presence if isinstance(e.body, PersonJoined)}
