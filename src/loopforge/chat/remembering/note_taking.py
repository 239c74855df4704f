"""Taking notes: the streams memory:MATE as a world, in which a mate looks back on talks when idle.

    a talk goes on for long, or has ended, and is quiet
      -> a turn of the mind `notes` on the mate's own stream, on its lines since the last one
      -> each thing it wants kept is checked against the lines that it cites
      -> what holds is kept with the end of the turn (MemoryKept), all in one append

It has a lane of its own, and whoever speaks in one of the mate's rooms halts it: no reply waits for
it; so does who takes back a line, or a room: what is forgotten is not written down once more. It is
paid for like the talk itself. What failed tools taught is kept without a model. Which
rooms have lines that were not looked at is known from following them, and at the start from what
was said in the last day; up to where a room was looked at stands in the mate's stream.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from itertools import islice

from sqlalchemy.engine import Connection

from loopforge.chat.remembering.note_checks import (
    CheckedNote,
    check_note,
    lessons_from_failures,
    noted_talk,
)
from loopforge.chat.remembering.remembered_rooms import is_remembered, newest_since
from loopforge.chat.room.member_visibility import audience_of_lines, mates_in, stays_of_mate
from loopforge.chat.room.permissions import charge_for_lines
from loopforge.chat.room.room_state import RoomState
from loopforge.chat.room.room_store import PREFIX as ROOMS
from loopforge.chat.room.room_store import RoomStore
from loopforge.chat.room.visible_lines import VisibleLines, entry_of
from loopforge.chat.speaking.room_rules import RoomRules
from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.context_window import ContextEntry, as_lines
from loopforge.core.effect_states import EffectFailed
from loopforge.core.events import Event, Fact
from loopforge.core.mates.mate_file import Mate
from loopforge.core.memory.memory_vocabulary import PREFIX, EvidenceLine, MemoryKept
from loopforge.core.perception import AgentPerception
from loopforge.core.room_vocabulary import ConversationEnded, Heard, LineDeleted, LineEdited, Said
from loopforge.core.text.erasable_text import public_words
from loopforge.core.turn_events import Answered, Perceived, TurnEnded, Verdict
from loopforge.ledger.table_access import ReadableLedger
from loopforge.memory.memory_settings import MemorySettings
from loopforge.memory.memory_store import MemoryStore
from loopforge.runtime.background_tasks import LASTING
from loopforge.runtime.ports import CallPermission, Lanes, Models, Route, Signals
from loopforge.runtime.turn_driver import TurnEnding
from loopforge.runtime.world import AppliedTurn, OpeningView, TakenTurn, TurnDue, TurnSenses

POLICY = "notes"
LULL = timedelta(seconds=90)
"""A talk is quiet when nobody said anything for so long."""
LEAST = 4
"""Lines that a talk that has ended must have, to be looked back on."""
MOST = 40
"""Lines that are looked at in one turn, the newest; after so many it counts as a whole talk."""
SPOKE = "somebody spoke"
GONE = "something was taken back that it may be looking at"
TAKE_BACK = ("room.line_deleted", "room.line_edited", "room.closed")
TURNS = ("room.conversation_began", "room.conversation_ended")
TRIES, AGAIN = {"failed": 6, "timed_out": 6, "malformed": 2}, timedelta(minutes=10)
"""A look that came to nothing, since no model answered or what it answered was no form, is had
again: so many looks at most, each after twice as long."""
SPOKEN = ("room.heard", "room.said")
LATELY = timedelta(days=1)
"""A talk that nobody looked back on before the home ended is looked at if it is no older."""


@dataclass(kw_only=True)
class NoteState:
    """What is true in a mate's stream: up to where each room was looked at, what is under way.

    `tried` is how often, and when last, a room was looked at in vain.
    """

    stream: str
    upto: int = 0
    covered: dict[str, int] = field(default_factory=dict)
    tried: dict[str, tuple[int, datetime]] = field(default_factory=dict)
    open: dict[str, Perceived] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)

    @property
    def mate(self) -> str:
        """Whose memory it is."""
        return self.stream.removeprefix(PREFIX)


@dataclass(frozen=True, kw_only=True)
class NoteTurn(TurnDue):
    """A mate is to look back on a room's lines."""

    room: str = ""


class NoteWorld:
    """Mates' own streams, as a `World`. `settings` are those of now."""

    prefix = PREFIX
    waking: Collection[str] = ("turn.ended",)

    def __init__(
        self,
        ledger: ReadableLedger,
        house: RoomStore,
        store: MemoryStore,
        models: Models,
        mates: Mapping[str, Mate],
        rules: RoomRules,
        now: Callable[[], datetime],
        settings: Callable[[], MemorySettings],
    ) -> None:
        self._ledger, self._house, self._store, self._models = ledger, house, store, models
        self._mates, self._rules, self._now = mates, rules, now
        self._settings = settings
        self._states: dict[str, NoteState] = {}
        self._fresh: dict[str, dict[str, int]] = {}
        self._woken: dict[str, datetime] = {}
        self._ready: dict[str, list[Fact]] = {}

    def follow(self, lanes: Lanes, signals: Signals) -> None:
        """Follow what is said in rooms from now on."""

        def heard(stream: str, events: Sequence[Event]) -> None:
            state, now = self._house.known(stream), self._now()
            came = {event.kind for event in events}
            spoken, ended = "room.heard" in came, "room.conversation_ended" in came
            for mate, member in state.mates.items() if state else ():
                if spoken:
                    signals.halt(PREFIX + mate, SPOKE)
                noted = self._states.get(PREFIX + mate)
                covered = noted.covered.get(stream, 0) if noted else 0
                if member.spoke_seq <= covered and (member.spoke_seq or not ended):
                    continue  # nothing said since it looked back, or since it came (back), as yet
                fresh = self._fresh.setdefault(mate, {})
                # Nothing is due before it is quiet: who waits for that already comes back in time.
                if not fresh or now - self._woken[mate] >= LULL:
                    self._woken[mate] = now
                    lanes.wake(PREFIX + mate)
                fresh[stream] = events[-1].seq

        kinds = (*SPOKEN, "room.conversation_ended")
        self._ledger.subscribe(heard, streams=ROOMS, kinds=kinds)

        def gone(_stream: str, events: Sequence[Event]) -> None:
            if any(_takes_back(event) for event in events):
                for mate in self._mates:
                    signals.halt(PREFIX + mate, GONE)

        self._ledger.subscribe(gone, streams=ROOMS, kinds=TAKE_BACK)

    async def resume(self, lanes: Lanes) -> None:
        """Look at the talks of lately that this home had no time to look at before it ended."""
        since = self._now() - LATELY

        def talks(tables: Connection) -> list[tuple[str, int, list[str]]]:
            spoken = newest_since(tables, since, SPOKEN)
            return [(stream, seq, mates_in(tables, stream)) for stream, seq in spoken]

        for stream, seq, mates in await self._ledger.look(talks):
            for mate in mates:
                fresh = self._fresh.setdefault(mate, {})
                fresh[stream] = max(seq, fresh.get(stream, 0))
                self._woken[mate] = self._now()
                lanes.wake(PREFIX + mate)

    # ------------------------------------------------------------ what is due

    async def fold(self, stream: str) -> NoteState:
        """See `World.fold`."""
        state = self._states.setdefault(stream, NoteState(stream=stream))
        kinds = ("turn.perceived", "turn.answered", "turn.ended")
        upto = await self._ledger.told(stream)
        if upto <= state.upto:
            return state
        after = state.upto
        for event in await self._ledger.read(stream, after=after, before=upto + 1, kinds=kinds):
            match event.body:
                case Perceived() as began:
                    state.open[event.id] = began
                case Answered(turn=turn, outcome=came) if turn in state.open:
                    state.answers[turn] = came
                case TurnEnded(turn=turn, outcome=outcome) if turn in state.open:
                    over, came = state.open.pop(turn), state.answers.pop(turn, "")
                    if outcome in ("done", "failed"):
                        line = await self._ledger.event(over.line)
                        times, _ = state.tried.pop(line.stream, (0, event.at))
                        if times + 1 < TRIES.get(came, 0):
                            state.tried[line.stream] = times + 1, event.at
                        else:
                            state.covered[line.stream] = line.seq
        state.upto = upto
        return state

    async def due(self, state: NoteState) -> NoteTurn | Sequence[Fact] | datetime | None:
        """See `World.due`."""
        mate = self._mates.get(state.mate)
        if mate is None:
            return None
        for id, began in state.open.items():
            line = await self._ledger.event(began.line)
            return self._note_turn(
                mate, line.stream, line.id, final=began.summons == "final", open=id
            )
        if self._settings().keep != "all":
            return None
        waits: list[datetime] = []
        fresh = self._fresh.setdefault(state.mate, {})
        for stream, heard in list(fresh.items()):
            try:
                found = await self._room_due(state, mate, stream)
            except LASTING:  # its own lane says what cannot be read
                found = None
            match found:
                case NoteTurn() as turn:
                    return turn
                case datetime() as when:
                    waits.append(when)
                case None if fresh.get(stream) == heard:
                    del fresh[stream]
                case None:  # something was said there meanwhile, and woke nobody
                    waits.append(self._now() + LULL)
        return min(waits, default=None)

    async def _room_due(
        self, state: NoteState, mate: Mate, stream: str
    ) -> NoteTurn | datetime | None:
        """A turn on this room, when to look again, or None where nothing is to be noted of it."""
        room = await self._house.state(stream)
        upto = await self._was_there(mate.handle, room)
        after, ended = state.covered.get(stream, 0), not room.conversation
        entries, spoke = await self._turned_over(room, after, upto), room.last_at
        if over := _is_worth_noting(entries, mate.handle, LEAST):
            ended = True
        else:
            entries = self._entries_between(room, after, upto)
            spoke = entries[-1].at if entries else None
        least = LEAST if ended else self._settings().lines
        if (
            room.closed
            or spoke is None
            or not (over or _is_worth_noting(entries, mate.handle, least))
        ):
            return None
        if not await self._ledger.look(lambda tables: is_remembered(tables, stream)):
            return None
        quiet = spoke + LULL
        if stream in state.tried:
            times, last = state.tried[stream]
            quiet = max(quiet, last + AGAIN * 2 ** (times - 1))
        if room.open or room.due or room.pending():
            return max(quiet, self._now() + LULL / 2)
        if quiet > self._now():
            return quiet
        final = ended or len(entries) >= MOST
        return self._note_turn(mate, stream, entries[-1].id, final=final)

    def _note_turn(
        self, mate: Mate, room: str, line: str, *, final: bool, open: str = ""
    ) -> NoteTurn:
        summons = "final" if final else "note"
        return NoteTurn(mate=mate, policy=POLICY, line=line, summons=summons, room=room, open=open)

    async def _was_there(self, mate: str, room: RoomState) -> int:
        """Up to where a mate was in a room; 0: it is there. Nowhere, where it only stood in."""
        if mate in room.mates:
            return 0
        stays = await self._ledger.look(lambda tables: stays_of_mate(tables, mate, [room.stream]))
        return max((stay.until for stay in stays.get(room.stream, ())), default=-1)

    def _entries_between(self, room: RoomState, after: int, upto: int = 0) -> list[ContextEntry]:
        """The lines of a room after a place, and up to another if one is named; the newest MOST."""
        spoken = (
            entry
            for entry in reversed(room.lines.values())
            if entry.kind in ("heard", "said")
            and entry.text.text is not None
            and entry.seq > after
            and (not upto or entry.seq <= upto)
        )
        return list(islice(spoken, MOST))[::-1]

    async def _turned_over(self, room: RoomState, after: int, upto: int = 0) -> list[ContextEntry]:
        """The lines of talks that people ended, with which the room's page was turned over at once.

        Those of lately after a place, and up to another if one is named; the newest MOST.
        """
        if room.began <= after:
            return []
        read, start = partial(self._ledger.read, room.stream, before=room.began), room.began
        for mark in reversed(await read(after=after, kinds=TURNS, limit=MOST, newest=True)):
            if isinstance(mark.body, ConversationEnded) and mark.body.why != "asked":
                break  # it was over before the next one began, and was looked at then
            start = mark.seq
        else:
            start = after
        page, names = VisibleLines(), {**room.former, **room.people}
        for event in await read(after=start, kinds=SPOKEN, limit=MOST, newest=True):
            if isinstance(body := event.body, Heard | Said):
                who = names.get(body.person) if isinstance(body, Heard) else None
                name = who.name if who else public_words("")
                page.add(entry_of(event, body, name=name, answers=""), room.weighed)
        for event in await self._ledger.read(room.stream, after=start, kinds=TAKE_BACK[:2]):
            if isinstance(event.body, LineEdited):
                page.edit(event.id, event.body)
            elif isinstance(event.body, LineDeleted):
                page.delete(event.body.line)
        since = self._now() - LATELY
        return [
            entry
            for entry in page.lines.values()
            if entry.text.text is not None and entry.at > since and (not upto or entry.seq <= upto)
        ]

    async def _lines_to_look_at(self, room: RoomState, after: int, upto: int) -> list[ContextEntry]:
        """What is looked at, from behind one place up to another."""
        over = upto < room.began and await self._turned_over(room, after, upto)
        return over or self._entries_between(room, after, upto)

    # ------------------------------------------------------------ the turn

    async def perceive(self, state: NoteState, due: NoteTurn) -> OpeningView:
        """See `World.perceive`."""
        room = await self._house.state(due.room)
        after, last = state.covered.get(due.room, 0), await self._ledger.event(due.line)
        entries = await self._kept_of(await self._lines_to_look_at(room, after, last.seq))
        names = {handle: public_words(one.name) for handle, one in self._mates.items()}
        mate = due.mate
        route = Route.of(mate)
        small = self._models.facts(route).small
        perception = AgentPerception(
            step=0,
            name=mate.name,
            role=mate.role,
            location=room.name,
            local_events=as_lines(entries, mate.handle, names, self._rules.zone),
            context={
                "summons": due.summons,
                "model": "small" if small else "full",
                "handle": mate.handle,
            },
            tools=(),
        )
        return OpeningView(perception=perception, upto=last.seq)

    async def _kept_of(self, entries: Sequence[ContextEntry]) -> list[ContextEntry]:
        """Without the lines of people of whom nothing is kept."""
        people = {f"person:{entry.who}" for entry in entries if entry.kind == "heard"}
        said = await self._store.keeping(people)
        return [
            entry
            for entry in entries
            if entry.kind != "heard" or said.get(f"person:{entry.who}", True)
        ]

    def senses(self, state: NoteState, turn: TakenTurn[NoteTurn]) -> TurnSenses:  # noqa: ARG002
        """See `World.senses`: nothing reaches it, and it uses no tools."""
        room = self._house.known(turn.due.room)
        charge = charge_for_lines(room, [turn.due.line]) if room is not None else None
        return TurnSenses(
            permit=lambda _: CallPermission(
                verdict="refused", by="notes", why="No tool is used when notes are taken."
            ),
            charge=charge,
        )

    async def judge(
        self, state: NoteState, turn: TakenTurn[NoteTurn], plan: AgentActionPlan
    ) -> tuple[AgentActionPlan, tuple[Verdict, ...]]:
        """See `World.judge`: what no line holds is not kept."""
        due = turn.due
        room = await self._house.state(due.room)
        after = state.covered.get(due.room, 0)
        last = await self._ledger.event(due.line)
        entries = await self._kept_of(await self._lines_to_look_at(room, after, last.seq))
        lines = [EvidenceLine(room.stream, entry.seq, entry.id) for entry in entries]
        hearers = await self._ledger.look(
            lambda tables: [audience_of_lines(tables, [line]) for line in lines]
        )
        talk = noted_talk(room, due.mate, entries, hearers)
        found: list[CheckedNote] = [check_note(act, talk) for act in plan.acts]
        items = [one.item for one in found if one.item is not None]
        items += await self._failed_tool_lessons(due, after, last.seq)
        _, facts = await self._store.planned(
            state.mate, items, actor=f"mate:{state.mate}", cause=turn.id
        )
        self._ready[turn.id] = facts
        return plan, tuple(one.verdict for one in found)

    async def _failed_tool_lessons(self, due: NoteTurn, after: int, upto: int) -> list[MemoryKept]:
        """What the mate's tools failed at in these lines."""
        kinds = ("effect.failed",)
        failed = await self._ledger.read(due.room, after=after, before=upto + 1, kinds=kinds)
        uses = [e.body.effect for e in failed if isinstance(e.body, EffectFailed)]
        began = [await self._ledger.event(use) for use in dict.fromkeys(uses)]
        return lessons_from_failures([*began, *failed], due.mate.handle)

    def apply(
        self,
        state: NoteState,  # noqa: ARG002
        turn: TakenTurn[NoteTurn],
        ended: TurnEnding,  # noqa: ARG002
        verdicts: Sequence[Verdict],  # noqa: ARG002
    ) -> AppliedTurn:
        """See `World.apply`."""
        return AppliedTurn(facts=self._ready.pop(turn.id, []))


def _is_worth_noting(entries: Sequence[ContextEntry], mate: str, least: int) -> bool:
    """Whether these are enough lines to look back on, and the mate said one of them."""
    spoke = any(entry.kind == "said" and entry.who == mate for entry in entries)
    return spoke and len(entries) >= least


def _takes_back(event: Event) -> bool:
    """Whether words are to be forgotten by this: a mate's edits of its own line are news alone."""
    return not isinstance(event.body, LineEdited) or event.body.by.startswith("person:")
