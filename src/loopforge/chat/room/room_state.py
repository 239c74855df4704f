"""RoomState: what is true in one room now, as the fold of its stream.

    state = fold(events)          from the beginning, or
    state = restore(snapshot)     (room_store.py) and then state.apply(event) for what came after

It stays small however long the room lives: of the lines it keeps those of this conversation that
some mate may still see (visible_lines.py), of everything else a bounded rest. The history is the
ledger's. It never looks into a text, so that forgetting texts cannot change what is true; a line
that is a stop is therefore recorded as Heard and Stopped in one append.

Caller must: apply events in order; put ConversationBegan before the line that begins it.
Knows nothing of mate files, settings or models; what a line means is triggers.py's business.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import assert_never

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from loopforge.chat.room import energy_limit as energy
from loopforge.chat.room.energy_limit import Energy
from loopforge.chat.room.participants import (
    Member,
    Participant,
    RoomPlace,
    StandIn,
    Unprompted,
    update_places,
)
from loopforge.chat.room.permissions import Grant, may, origin_of_answer, relay_depth
from loopforge.chat.room.turn_queue import UNCALLED, DueTurn, OpenTurn, TurnQueue
from loopforge.chat.room.visible_lines import SPOKEN, LineBody, VisibleLines, entry_of, put_bounded
from loopforge.core.context_window import ContextEntry
from loopforge.core.delivery_states import (
    Accepted,
    Attempting,
    Drafted,
    Failed,
    PutOff,
    Queued,
    Uncertain,
)
from loopforge.core.effect_states import (
    EffectApproved,
    EffectDenied,
    EffectEnd,
    EffectEvent,
    EffectProposed,
)
from loopforge.core.events import Erased, Event, RoomBody
from loopforge.core.limits.turn_bounds import TurnBounds
from loopforge.core.room_vocabulary import (
    AnswerWanted,
    BoundsSet,
    ConversationBegan,
    ConversationEnded,
    DefaultMateSet,
    EnergySet,
    Heard,
    LineDeleted,
    LineEdited,
    LinePinned,
    Marked,
    MateJoined,
    MateLeft,
    MemoryAsked,
    Noted,
    PaceSet,
    PersonJoined,
    PersonLeft,
    PersonReacted,
    PlaceJoined,
    PlaceLeft,
    PlaceRenamed,
    PolicyChosen,
    Purged,
    Reacted,
    RightsSet,
    RoomClosed,
    RoomOpened,
    Said,
    StoodDown,
    StoodIn,
    Stopped,
    TalkSet,
    Titled,
    Told,
    ToolUsed,
    TriggersSet,
    TurnDropped,
    UnpromptedSet,
    Weighed,
)
from loopforge.core.schedule.reminder_events import ReminderEvent, ReminderSet
from loopforge.core.text.erasable_text import Words, public_words, set_words_text
from loopforge.core.turn_events import (
    Answered,
    Asked,
    Called,
    Judged,
    Perceived,
    Planned,
    Returned,
    TurnEnded,
)
from loopforge.errors import LedgerBroken
from loopforge.schedule.reminder_book import ReminderBook

SOURCES = 2000
"""How many recent lines a surface's repetition is recognised of."""
AUTHORS = 500
"""How many recent lines a reply can be traced to, whether still held or not."""
FORMER = 200
"""How many people who went away are still known by name."""
BASIS = 8
"""How many lines a title is taken to be made from."""


class RoomState(Struct, kw_only=True, omit_defaults=True, weakref=True):
    """One room, now. Read anything; change it by `apply` alone.

    `former` are people who went away: their lines still bear their names.

    `everybody`: mates that are made later join by themselves, but not those that `left`. `private`:
    nobody comes in by themselves. `opener` is the person who opened it, if that is known.

    `places` are those of platforms that are part of it, by key; in a `quiet` room mates speak only
    when called; in an `unpaced` one at once, whatever pace their files name.

    `conversation` is the id of its ConversationBegan, "" between two; `began` its sequence number.
    `weighed` is the sequence number up to which lines were weighed. `spoken` counts lines of people
    and mates in this conversation, `heard` those of people. `titled_by` is a person's id or "room",
    `titled_at` the sequence number of that, `basis` what the title was made from; `untitled` and
    `untried` count lines since it was given and since it was last tried. `authors` says who said a
    recent line ("mate:maya").
    """

    stream: str = ""
    seq: int = 0
    name: str = ""
    people: dict[str, Participant] = {}
    former: dict[str, Participant] = {}
    mates: dict[str, Member] = {}
    everybody: bool = False
    private: bool = False
    opener: str = ""
    closed: bool = False
    left: list[str] = []
    policies: dict[str, str] = {}
    triggers: dict[str, tuple[str, ...]] = {}
    energy: Energy = Energy()
    bounds: TurnBounds = TurnBounds()
    page: VisibleLines = msgspec.field(default_factory=VisibleLines)
    turns: TurnQueue = msgspec.field(default_factory=TurnQueue)
    reminders: ReminderBook = msgspec.field(default_factory=ReminderBook)
    places: dict[str, RoomPlace] = {}
    quiet: bool = False
    unprompted: Unprompted = Unprompted()
    unpaced: bool = False
    rights: dict[str, Grant] = {}
    default_mate: str = ""
    stand_ins: dict[str, StandIn] = {}
    conversation: str = ""
    began: int = 0
    last_at: datetime | None = None
    weighed: int = 0
    stopped: bool = False
    stopped_seq: int = 0
    title: Words = msgspec.field(default_factory=lambda: public_words(""))
    titled_by: str = ""
    titled_at: int = 0
    basis: tuple[Words, ...] = ()
    spoken: int = 0
    heard: int = 0
    untitled: int = 0
    untried: int = 0
    sources: dict[str, str] = {}
    authors: dict[str, str] = {}

    # ------------------------------------------------------------ reading

    @property
    def lines(self) -> dict[str, ContextEntry]:
        """The lines that are held, by id, in order."""
        return self.page.lines

    @property
    def due(self) -> list[DueTurn]:
        """The turns that mates are to take, in order."""
        return self.turns.due

    @property
    def open(self) -> dict[str, OpenTurn]:
        """The turns that have begun and not ended, by id."""
        return self.turns.open

    @property
    def lets_unprompted(self) -> bool:
        """Whether mates may speak up here uncalled: by themselves not in groups of platforms."""
        if self.unprompted.allowed is not None:
            return self.unprompted.allowed
        return not self.quiet and all(place.kind == "private" for place in self.places.values())

    def pending(self) -> list[ContextEntry]:
        """Lines of people and mates that nobody has weighed yet, oldest first."""
        return self.page.since(self.weighed)

    def visible(self, mate: str) -> list[ContextEntry]:
        """What a mate still has in its context, oldest first."""
        return self.page.visible(mate)

    def recent(self, count: int) -> list[ContextEntry]:
        """The last lines of people and mates that are still held, oldest first."""
        return self.page.recent(count)

    def policy(self, mate: str) -> str:
        """The policy chosen for a mate in this room, or for all; "" if none was."""
        return self.policies.get(mate) or self.policies.get("", "")

    def heard_before(self, surface: str, source: str) -> str:
        """The id of the event a surface's line became, if it was heard lately; else ""."""
        return self.sources.get(_source_key(surface, source), "") if source else ""

    # ------------------------------------------------------------ folding

    def apply(self, event: Event) -> None:
        """Take in one event. What was taken in already is passed over.

        Raises LedgerBroken for one that cannot stand in a room's stream.
        """
        if event.seq <= self.seq:
            return
        body = event.body
        if not isinstance(body, RoomBody):
            raise LedgerBroken(f"{event.kind} cannot stand in {event.stream} ({event.id}).")
        self.stream, self.seq = event.stream, event.seq
        if isinstance(body, EffectEvent):
            self._apply_effect(event, body)
            return
        if isinstance(body, ReminderEvent):
            self.reminders.apply(event, body)
            if isinstance(body, ReminderSet) and body.wakes and not body.asked:
                self.energy = energy.said(self.energy)
            return
        match body:
            case Heard() | Said() | Noted() | ToolUsed() | Told():
                self._apply_line(event, body)
            case Perceived() | Judged() | TurnEnded() | TurnDropped() | Weighed() | Reacted():
                self._apply_turn(event, body)
            case RoomOpened() | PersonJoined() | PersonLeft() | MateJoined() | MateLeft():
                self._apply_presence(body)
            case RoomClosed():
                self._close_room(event)
            case PlaceJoined() | PlaceRenamed() | PlaceLeft():
                if update_places(self.places, body):
                    self._came_in()
            case TalkSet():
                self.quiet = not body.free
            case UnpromptedSet():
                self.unprompted = replace(self.unprompted, allowed=body.allowed)
            case PaceSet():
                self.unpaced = not body.kept
            case LineEdited():
                self.page.edit(event.id, body)
                if body.transcribed:  # who took the note in did not know what it says
                    for member in self.mates.values():
                        member.took_in.pop(body.line, None)
            case AnswerWanted():
                self.stopped = False
                self.turns.want(body)
            case LineDeleted():
                self.page.delete(body.line)
                self.turns.deleted(body.line)
            case RightsSet():
                self.rights[body.who] = Grant(rights=body.rights, tools=body.tools)
            case DefaultMateSet():
                self.default_mate = body.mate
            case BoundsSet():
                self.bounds = body.bounds
            case StoodIn() | StoodDown():
                self._apply_stand_in(body)
            case EnergySet() | TriggersSet() | PolicyChosen() | Titled() | Marked() | Purged():
                self._apply_setting(body)
            case Stopped():
                self._apply_stop(event, body)
            case ConversationBegan():
                self._begin_conversation(event)
            case ConversationEnded():
                self.conversation = ""
            case Erased():
                self.forget(body.refs)
            case PersonReacted() | LinePinned() | MemoryAsked() | Asked() | Answered() | Planned():
                pass
            case Called():
                self.turns.affected(body.turn)
            case Returned():
                self.turns.told(body)
            case (
                Queued() | Attempting() | Accepted() | PutOff() | Failed() | Uncertain() | Drafted()
            ):
                pass  # surfaces fold drafts (chat/room/platform_channels.py)
            case _:
                assert_never(body)

    def _apply_presence(
        self, body: RoomOpened | PersonJoined | PersonLeft | MateJoined | MateLeft
    ) -> None:
        match body:
            case RoomOpened():
                self.name, self.everybody = body.name, body.everybody
                self.private, self.opener = body.private, body.by
            case PersonJoined():
                gone = self.former.pop(body.person, None)
                if body.person not in self.people:
                    self._came_in()
                was = self.people.get(body.person, gone)
                since = was.since if was else self.seq
                self.people[body.person] = Participant(
                    name=body.name, surface=body.surface, since=since
                )
            case PersonLeft():
                if person := self.people.pop(body.person, None):
                    put_bounded(self.former, body.person, person, FORMER)
            case MateJoined():
                self.mates.setdefault(body.mate, Member())
                self.left = [mate for mate in self.left if mate != body.mate]
                self.stand_ins = {
                    mate: one if one.mate != body.mate else StandIn(mate=one.mate)
                    for mate, one in self.stand_ins.items()
                }
            case MateLeft():
                self.mates.pop(body.mate, None)
                self.left = [*(mate for mate in self.left if mate != body.mate), body.mate]
                self.turns.leave(body.mate)
                self.page.release(self.mates, self.weighed)
                self._end_stand_in(body.mate)
                self.stand_ins = {m: s for m, s in self.stand_ins.items() if s.mate != body.mate}
                if self.default_mate == body.mate:
                    self.default_mate = ""

    def _apply_stand_in(self, body: StoodIn | StoodDown) -> None:
        """One mate answers for another, or does so no more."""
        match body:
            case StoodIn():
                if body.mate in self.stand_ins and self.stand_ins[body.mate].mate != body.by:
                    self._end_stand_in(body.mate)
                self.stand_ins[body.mate] = StandIn(mate=body.by, guest=body.guest)
                if body.guest:
                    self.mates.setdefault(body.by, Member())
                self.turns.hand_over(body)
            case StoodDown():
                self._end_stand_in(body.mate)

    def _end_stand_in(self, mate: str) -> None:
        """Nobody answers for this mate any more; who was here for that alone goes."""
        gone = self.stand_ins.pop(mate, None)
        others = {one.mate for one in self.stand_ins.values()}
        if gone and gone.guest and gone.mate not in others:
            self.mates.pop(gone.mate, None)
            self.turns.leave(gone.mate)
            self.page.release(self.mates, self.weighed)

    def _apply_setting(
        self, body: EnergySet | TriggersSet | PolicyChosen | Titled | Marked | Purged
    ) -> None:
        match body:
            case EnergySet():
                self.energy = energy.reset(self.energy, body.capacity, body.refill)
            case TriggersSet():
                self.triggers.pop(body.mate, None)
                if body.triggers is not None:
                    self.triggers[body.mate] = body.triggers
            case PolicyChosen():
                self.policies[body.mate] = body.policy
            case Titled():
                self.title, self.titled_by = body.title, body.by
                self.titled_at = self.seq
                self.basis = tuple(entry.text for entry in self.recent(BASIS))
                self.untitled = self.untried = 0
            case Marked():
                self.page.mark(body.line, None if body.mark == "none" else body.mark)
            case Purged():
                if body.mate in self.mates:
                    self.page.purge(body.mate, body.lines)
                    self.page.shorten(body.shortened)
                    self.page.release(self.mates, self.weighed)

    # ------------------------------------------------------------ lines

    def _apply_line(self, event: Event, body: LineBody) -> None:
        name, answers, origin, relayed = public_words(""), "", None, 0
        match body:
            case Heard():
                person = self.people.get(body.person)
                name = person.name if person else public_words("somebody")
                self._apply_heard(event, body)
            case Said():
                answers, lines, relayed = self.turns.answered(body.turn, event.cause)
                origin = origin_of_answer(self, answers, lines)
                self._apply_said(event, body)
            case Noted() | ToolUsed():
                self.turns.affected(body.turn)
            case Told():
                self.turns.numbered(event.cause, body.asks)
        entry = entry_of(event, body, name=name, answers=answers, origin=origin, relayed=relayed)
        self.page.add(entry, self.weighed)

    def _apply_heard(self, event: Event, body: Heard) -> None:
        self._count_line(event, f"person:{body.person}")
        self._note_source(body.surface, body.source, event.id)
        self.heard += 1
        may_talk = may(self, body.person, "talk", keeper=body.keeper, owner=body.owner)
        if body.bot or body.late or not may_talk:
            return
        self.stopped = False
        self.unprompted = replace(self.unprompted, woken=False)
        self.energy = energy.heard(self.energy)
        for member in self.mates.values():
            member.streak = 0

    def _apply_said(self, event: Event, body: Said) -> None:
        self._count_line(event, f"mate:{body.mate}")
        self.turns.affected(body.turn, spoke=True)
        self.energy = energy.said(self.energy)
        if member := self.mates.get(body.mate):
            member.spoke_seq, member.spoke_at = event.seq, event.at
            member.streak, member.declined = member.streak + 1, 0

    def _count_line(self, event: Event, author: str) -> None:
        self.last_at = event.at
        self.spoken += 1
        self.untitled += 1
        self.untried += 1
        put_bounded(self.authors, event.id, author, AUTHORS)

    def _note_source(self, surface: str, source: str, id: str) -> None:
        if source:
            put_bounded(self.sources, _source_key(surface, source), id, SOURCES)

    # ------------------------------------------------------------ turns

    def _apply_turn(
        self,
        event: Event,
        body: Perceived | Judged | TurnEnded | TurnDropped | Weighed | Reacted,
    ) -> None:
        match body:
            case Weighed():
                self._apply_weighed(body)
            case TurnDropped():
                self.turns.take(body.mate, body.line)
            case Perceived():
                off = self.stopped or body.mate not in self.mates or self._is_gone(body.line)
                begun = self.turns.begin(event.id, body, bound=self.page.binds(body.mate), off=off)
                begun.relayed = relay_depth(self, begun.lines)
                if body.summons == "title":
                    self.untried = 0
            case Judged():
                self.turns.judged(body)
            case Reacted():
                self.turns.affected(body.turn)
            case TurnEnded():
                self._apply_turn_end(body)

    def _apply_effect(self, event: Event, body: EffectEvent) -> None:
        """A use of a tool: its end is a line of its mate, if it was not refused within a turn."""
        if isinstance(body, EffectProposed):
            self.turns.proposed(event.id, body)
        elif isinstance(body, EffectApproved):
            self.turns.approved(body.effect)
        if (
            not isinstance(body, EffectEnd)
            or (effect := self.turns.ended(body.effect, event.seq)) is None
        ):
            return
        if self.closed or (isinstance(body, EffectDenied) and effect.turn in self.open):
            return
        outcome = event.kind.partition(".")[2]
        used = ToolUsed(
            turn=effect.turn, mate=effect.mate, tool=effect.tool, outcome=outcome, value=body.value
        )
        self._apply_line(event, used)
        if effect.reminding:
            self.page.bound.add(event.id)

    def _came_in(self) -> None:
        """Somebody came in, who may not know what was recalled for those who were here."""
        self.turns.came_in(self.seq, bound=bool(self.page.bound))
        self.page.came_in()

    def _apply_weighed(self, body: Weighed) -> None:
        self.weighed = max(self.weighed, body.upto)
        for weight in body.weights:
            line = self.lines.get(weight.caller)
            void = line is not None and line.seq <= self.stopped_seq
            if weight.summons in UNCALLED:
                self.unprompted = replace(self.unprompted, woken=True)
            elif self._is_gone(weight.caller):
                continue
            if weight.mate in self.mates and not self.stopped and not void:
                self.turns.call(weight)
        for member in self.mates.values():
            member.took_in = {id: seq for id, seq in member.took_in.items() if seq > self.weighed}

    def _is_gone(self, line: str) -> bool:
        """Whether a line that calls was deleted: else it is held until it is answered."""
        return line in self.authors and line not in self.lines

    def _apply_turn_end(self, body: TurnEnded) -> None:
        begun = self.open.get(body.turn)
        member = self.mates.get(begun.mate) if begun else None
        turn = self.turns.end(body, onward=member is not None and not self.stopped)
        if turn is None or member is None:
            return
        if (
            turn.due
            and turn.due.verdict == "ask"
            and body.outcome == "done"
            and not turn.spoke
            and not turn.again
        ):
            member.declined += 1
        for line in body.took_in:
            entry = self.lines.get(line)
            if entry and entry.seq > self.weighed:
                member.took_in[line] = entry.seq

    def _apply_stop(self, event: Event, body: Stopped) -> None:
        self._note_source(body.surface, body.source, event.id)
        self.stopped, self.stopped_seq = True, event.seq
        self.weighed = max(self.weighed, event.seq)
        self.turns.halt()

    def _close_room(self, event: Event) -> None:
        """Nobody is here any more, and nothing is due."""
        self.closed, self.stopped, self.stopped_seq = True, True, event.seq
        self.weighed = max(self.weighed, event.seq)
        self.conversation = ""
        self.turns.halt()
        for mate in tuple(self.mates):
            self.turns.leave(mate)
        for those in (self.mates, self.people, self.former):
            those.clear()
        self.places.clear()
        self.page.release(self.mates, self.weighed)

    def _begin_conversation(self, event: Event) -> None:
        """A clean page, at which the silence begins anew; what waits for an answer goes along."""
        self.page.turn_over(self.turns.lines() | {entry.id for entry in self.pending()})
        self.conversation, self.began = event.id, event.seq
        self.last_at = self.last_at and event.at
        spoken = [entry.kind for entry in self.lines.values() if entry.kind in SPOKEN]
        self.spoken, self.heard = len(spoken), spoken.count("heard")

    # ------------------------------------------------------------ texts

    def words(self) -> Iterator[Words]:
        """Every text the state holds."""
        yield from (each.name for each in (*self.people.values(), *self.former.values()))
        yield from (name for each in self.places.values() for name in (each.name, each.met))
        yield from self.page.words()
        yield from self.reminders.words()
        yield self.title
        yield from self.basis

    def wanting(self) -> set[str]:
        """Refs whose text is not here: after a restore all of them, else forgotten ones."""
        return {words.ref for words in self.words() if words.ref and words.text is None}

    def fill(self, texts: Mapping[str, str]) -> None:
        """Put texts back in after a restore, by their refs; those not given stay forgotten."""
        for words in self.words():
            if words.text is None and words.ref in texts:
                set_words_text(words, texts[words.ref])

    def forget(self, refs: Iterable[str]) -> None:
        """Forget texts, wherever the state holds them."""
        gone = set(refs) - {""}
        for words in self.words():
            if words.ref in gone:
                set_words_text(words, None)


def _source_key(surface: str, source: str) -> str:
    return f"{surface}\x1f{source}"


# ---------------------------------------------------------------- whole states


def fold(events: Iterable[Event], state: RoomState | None = None) -> RoomState:
    """The state after these events, from nothing or going on from `state` (which is changed)."""
    state = RoomState() if state is None else state
    for event in events:
        state.apply(event)
    return state
