"""RoomState: what is true in one room now, as the fold of its stream.

    state = fold(events)          from the beginning, or
    state = restore(snapshot)     and then state.apply(event) for what came after

It stays small however long the room lives: of the lines it keeps those of this conversation that
some mate may still see (at most HELD), of everything else a bounded rest. The history is the
ledger's. It never looks into a text, so that forgetting texts cannot change what is true; a line
that is a stop is therefore recorded as Heard and Stopped in one append.

Caller must: apply events in order; put ConversationBegan before the line that begins it.
Knows nothing of mate files, settings or models; what a line means is triggers.py's business.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import Literal, assert_never

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from loopforge.chat import energy
from loopforge.chat.energy import Energy
from loopforge.core.context import Entry, sees
from loopforge.core.delivery import Accepted, Attempting, Failed, PutOff, Queued
from loopforge.core.events import (
    Answered,
    Asked,
    Called,
    Erased,
    Event,
    Judged,
    Perceived,
    Planned,
    Returned,
    TurnEnded,
)
from loopforge.core.people import PersonMet
from loopforge.core.room import (
    ConversationBegan,
    ConversationEnded,
    EnergySet,
    Heard,
    Marked,
    MateJoined,
    MateLeft,
    Noted,
    PersonJoined,
    PersonLeft,
    PolicyChosen,
    Purged,
    Reacted,
    RoomOpened,
    Said,
    Stopped,
    Titled,
    Told,
    ToolUsed,
    TriggersSet,
    TurnDropped,
    Weighed,
    Weight,
)
from loopforge.core.words import Words, decode_stored, encode_stored, public
from loopforge.errors import LedgerBehind

VERSION = 1
"""The form of a snapshot; one of another version is not read but folded anew."""

HELD = 4000
"""Most lines held for mates that never purge; above it the oldest half is let go at once."""

SOURCES = 2000
"""How many recent lines a surface's repetition is recognised of."""

AUTHORS = 500
"""How many recent lines a reply can be traced to, whether still held or not."""

BASIS = 8
"""How many lines a title is taken to be made from."""

RANK = ("mention", "reply", "name", "alone", "continue", "conversation")
"""Summons by strength: of two calls that are answered by one turn, the stronger is named."""


class Person(Struct, frozen=True, kw_only=True):
    """A person who is here."""

    name: Words
    surface: str


class Member(Struct, kw_only=True, omit_defaults=True):
    """What the room knows of one mate in it.

    `purged` and `took_in` are line ids with a sequence number; `gone` counts lines of this
    conversation that left its context. `streak` counts its lines since a person spoke, `declined`
    how often in a row it was asked and had nothing to say.
    """

    purged: dict[str, int] = {}
    took_in: dict[str, int] = {}
    gone: int = 0
    spoke_seq: int = 0
    spoke_at: datetime | None = None
    streak: int = 0
    declined: int = 0


class Due(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A turn that a mate is to take: one answer to all of `lines`, the newest last.

    `step` counts from 0; a step that follows another one's Continue or UseTool is `continue`.
    """

    mate: str
    lines: tuple[str, ...]
    summons: str
    verdict: Literal["speak", "ask"] = "speak"
    score: int = 0
    step: int = 0

    @property
    def line(self) -> str:
        """The line that calls."""
        return self.lines[-1]


class OpenTurn(Struct, kw_only=True, omit_defaults=True):
    """A turn that has begun and not ended.

    `again`: the guard allowed another step. `effects`: something of it is in the room already.
    `halted`: a person said stop; it must be closed as stopped, also after a crash.
    """

    id: str
    mate: str
    line: str
    summons: str
    step: int
    due: Due | None = None
    again: bool = False
    effects: bool = False
    spoke: bool = False
    halted: bool = False


class RoomState(Struct, kw_only=True, omit_defaults=True):
    """One room, now. Read anything; change it by `apply` alone.

    `conversation` is the id of its ConversationBegan, "" between two. `lines` maps ids to entries
    in order. `weighed` is the sequence number up to which lines were weighed. `spoken` counts lines
    of people and mates in this conversation, `heard` those of people. `titled_by` is a person's id
    or "room", `basis` what the title was made from; `untitled` and `untried` count lines since it
    was given and since it was last tried.
    """

    stream: str = ""
    seq: int = 0
    name: str = ""
    people: dict[str, Person] = {}
    mates: dict[str, Member] = {}
    policies: dict[str, str] = {}
    triggers: dict[str, tuple[str, ...]] = {}
    energy: Energy = Energy()
    conversation: str = ""
    began: int = 0
    last_at: datetime | None = None
    lines: dict[str, Entry] = {}
    weighed: int = 0
    stopped: bool = False
    stopped_seq: int = 0
    due: list[Due] = []
    open: dict[str, OpenTurn] = {}
    title: Words = public("")
    titled_by: str = ""
    basis: tuple[Words, ...] = ()
    spoken: int = 0
    heard: int = 0
    untitled: int = 0
    untried: int = 0
    sources: dict[str, str] = {}
    authors: dict[str, str] = {}
    released: int = 0

    # ------------------------------------------------------------ reading

    def pending(self) -> list[Entry]:
        """Lines of people and mates that nobody has weighed yet, oldest first."""
        fresh = []
        for entry in reversed(self.lines.values()):
            if entry.seq <= self.weighed:
                break
            if entry.kind in ("heard", "said"):
                fresh.append(entry)
        return fresh[::-1]

    def entry(self, id: str) -> Entry | None:
        """A line that is still held."""
        return self.lines.get(id)

    def gone_from(self, mate: str) -> int:
        """How many lines of this conversation have left a mate's context."""
        member = self.mates.get(mate)
        return member.gone if member else 0

    def visible(self, mate: str) -> list[Entry]:
        """What a mate still has in its context, oldest first."""
        member = self.mates.get(mate)
        purged: Collection[str] = member.purged if member else ()
        return [e for e in self.lines.values() if e.id not in purged and sees(mate, e)]

    def recent(self, count: int) -> list[Entry]:
        """The last lines of people and mates that are still held, oldest first."""
        said = (e for e in reversed(self.lines.values()) if e.kind in ("heard", "said"))
        return list(islice(said, count))[::-1]

    def policy(self, mate: str) -> str:
        """The policy chosen for a mate in this room, or for all; "" if none was."""
        return self.policies.get(mate) or self.policies.get("", "")

    def heard_before(self, surface: str, source: str) -> str:
        """The id of the event a surface's line became, if it was heard lately; else ""."""
        return self.sources.get(_source(surface, source), "") if source else ""

    # ------------------------------------------------------------ folding

    def apply(self, event: Event) -> None:
        """Take in one event. What was taken in already is passed over."""
        if event.seq <= self.seq:
            return
        self.stream, self.seq = event.stream, event.seq
        body = event.body
        match body:
            case Heard() | Said() | Noted() | ToolUsed() | Told():
                self._line(event, body)
            case Perceived() | Judged() | TurnEnded() | TurnDropped() | Weighed():
                self._turn(event, body)
            case Asked() | Answered() | Called() | Returned() | Planned():
                pass
            case RoomOpened() | PersonJoined() | PersonLeft() | MateJoined() | MateLeft():
                self._comings(body)
            case EnergySet() | TriggersSet() | PolicyChosen() | Titled():
                self._settings(body)
            case Stopped():
                self._stop(event, body)
            case ConversationBegan():
                self._begin(event)
            case ConversationEnded():
                self.conversation = ""
            case Marked() | Purged():
                self._context(event, body)
            case Reacted():
                self._affected(body.turn)
            case Erased():
                self.forget(body.refs)
            case Queued() | Attempting() | Accepted() | PutOff() | Failed() | PersonMet():
                pass
            case _:
                assert_never(body)

    def _comings(
        self, body: RoomOpened | PersonJoined | PersonLeft | MateJoined | MateLeft
    ) -> None:
        match body:
            case RoomOpened():
                self.name = body.name
            case PersonJoined():
                self.people[body.person] = Person(name=body.name, surface=body.surface)
            case PersonLeft():
                self.people.pop(body.person, None)
            case MateJoined():
                self.mates.setdefault(body.mate, Member())
            case MateLeft():
                self.mates.pop(body.mate, None)
                self.due = [due for due in self.due if due.mate != body.mate]
                self._release()

    def _settings(self, body: EnergySet | TriggersSet | PolicyChosen | Titled) -> None:
        match body:
            case EnergySet():
                self.energy = energy.reset(self.energy, body.capacity, body.refill)
            case TriggersSet():
                self.triggers[body.mate] = body.triggers
            case PolicyChosen():
                self.policies[body.mate] = body.policy
            case Titled():
                self.title, self.titled_by = body.title, body.by
                self.basis = tuple(entry.text for entry in self.recent(BASIS))
                self.untitled = self.untried = 0

    # ------------------------------------------------------------ lines

    def _line(self, event: Event, body: Heard | Said | Noted | ToolUsed | Told) -> None:
        entry = self._entry(event, body)
        self.lines[entry.id] = entry
        match body:
            case Heard():
                self._heard(event, body)
            case Said():
                self._said(event, body)
            case Noted() | ToolUsed():
                self._affected(body.turn)
            case Told():
                pass
        if len(self.lines) > HELD // 2:
            self._bound()

    def _entry(self, event: Event, body: Heard | Said | Noted | ToolUsed | Told) -> Entry:
        id, seq, at = event.id, event.seq, event.at
        match body:
            case Heard():
                person = self.people.get(body.person)
                return Entry(
                    id=id,
                    seq=seq,
                    kind="heard",
                    at=at,
                    who=body.person,
                    name=person.name if person else public("somebody"),
                    text=body.text,
                    reply_to=body.reply_to,
                    files=body.files,
                )
            case Said():
                turn = self.open.get(body.turn)
                return Entry(
                    id=id,
                    seq=seq,
                    kind="said",
                    at=at,
                    who=body.mate,
                    text=body.text,
                    reply_to=body.reply_to,
                    answers=turn.line if turn else "",
                    turn=body.turn,
                    mode=body.mode,
                    narrative=body.narrative,
                )
            case Noted():
                return Entry(
                    id=id,
                    seq=seq,
                    kind="note",
                    at=at,
                    who=body.mate,
                    text=body.text,
                    turn=body.turn,
                )
            case ToolUsed():
                tool = body.tool if body.outcome == "returned" else f"{body.tool}, {body.outcome}"
                return Entry(
                    id=id,
                    seq=seq,
                    kind="result",
                    at=at,
                    who=body.mate,
                    name=public(tool),
                    text=body.value,
                    turn=body.turn,
                )
            case Told():
                return Entry(id=id, seq=seq, kind="told", at=at, text=body.text)

    def _heard(self, event: Event, body: Heard) -> None:
        self._counted(event, f"person:{body.person}")
        self.heard += 1
        self.stopped = False
        self.energy = energy.heard(self.energy)
        self._met(body.surface, body.source, event.id)
        for member in self.mates.values():
            member.streak = 0

    def _said(self, event: Event, body: Said) -> None:
        self._counted(event, f"mate:{body.mate}")
        self.energy = energy.said(self.energy)
        self._affected(body.turn)
        if turn := self.open.get(body.turn):
            turn.spoke = True
        if member := self.mates.get(body.mate):
            member.spoke_seq, member.spoke_at = event.seq, event.at
            member.streak += 1
            member.declined = 0

    def _counted(self, event: Event, author: str) -> None:
        self.last_at = event.at
        self.spoken += 1
        self.untitled += 1
        self.untried += 1
        _remember(self.authors, event.id, author, AUTHORS)

    def _met(self, surface: str, source: str, id: str) -> None:
        if source:
            _remember(self.sources, _source(surface, source), id, SOURCES)

    # ------------------------------------------------------------ turns

    def _turn(
        self, event: Event, body: Perceived | Judged | TurnEnded | TurnDropped | Weighed
    ) -> None:
        match body:
            case Weighed():
                self._weighed(body)
            case TurnDropped():
                self._take(body.mate, body.line)
            case Perceived():
                self._perceived(event.id, body)
            case Judged():
                turn = self.open.get(body.turn)
                if turn:
                    turn.again = any(
                        verdict.allowed and verdict.act in ("continue", "use_tool")
                        for verdict in body.verdicts
                    )
            case TurnEnded():
                self._ended(body)

    def _weighed(self, body: Weighed) -> None:
        self.weighed = max(self.weighed, body.upto)
        for weight in body.weights:
            line = self.lines.get(weight.line)
            void = line is not None and line.seq <= self.stopped_seq
            if weight.mate in self.mates and not self.stopped and not void:
                self._call(weight)
        for member in self.mates.values():
            member.took_in = {id: seq for id, seq in member.took_in.items() if seq > self.weighed}

    def _call(self, weight: Weight) -> None:
        """A mate is to take a turn; if it is to take one anyway, that one answers this line too."""
        if weight.verdict == "pass":
            return
        new = Due(
            mate=weight.mate,
            lines=(weight.line,),
            summons=weight.summons,
            verdict=weight.verdict,
            score=weight.score,
        )
        for place, old in enumerate(self.due):
            if old.mate == new.mate:
                self.due[place] = _merged(old, new)
                return
        self.due.append(new)

    def _take(self, mate: str, line: str) -> Due | None:
        for place, due in enumerate(self.due):
            if due.mate == mate and line in due.lines:
                return self.due.pop(place)
        return None

    def _perceived(self, id: str, body: Perceived) -> None:
        due = None
        if body.summons == "title":
            self.untried = 0
        else:
            due = self._take(body.mate, body.line)
        before = [turn for turn in self.open.values() if turn.mate == body.mate]
        for turn in before:
            if (turn.line, turn.step, turn.summons) == (body.line, body.step, body.summons):
                due = due or self.open.pop(turn.id).due
        self.open[id] = OpenTurn(
            id=id, mate=body.mate, line=body.line, summons=body.summons, step=body.step, due=due
        )

    def _affected(self, turn: str) -> None:
        if found := self.open.get(turn):
            found.effects = True

    def _ended(self, body: TurnEnded) -> None:
        turn = self.open.pop(body.turn, None)
        member = self.mates.get(turn.mate) if turn else None
        if turn is None or member is None:
            return
        if turn.due and turn.due.verdict == "ask" and body.outcome == "done" and not turn.spoke:
            member.declined += 1
        for id in body.took_in:
            if id in self.lines and self.lines[id].seq > self.weighed:
                member.took_in[id] = self.lines[id].seq
        if turn.halted or self.stopped or turn.summons == "title":
            return
        if body.outcome == "done" and turn.again:
            lines = turn.due.lines if turn.due else (turn.line,)
            self._first(Due(mate=turn.mate, lines=lines, summons="continue", step=turn.step + 1))
        elif body.outcome == "diverged" and not turn.effects and turn.due:
            self._first(turn.due)

    def _first(self, due: Due) -> None:
        """This turn comes next; another one due to the same mate becomes part of it."""
        for place, old in enumerate(self.due):
            if old.mate == due.mate:
                due = _merged(due, self.due.pop(place))
                break
        self.due.insert(0, due)

    def _stop(self, event: Event, body: Stopped) -> None:
        self._met(body.surface, body.source, event.id)
        self.stopped, self.stopped_seq = True, event.seq
        self.weighed = max(self.weighed, event.seq)
        self.due = []
        for turn in self.open.values():
            turn.halted = True

    # ------------------------------------------------------------ what is held

    def _begin(self, event: Event) -> None:
        """A clean page; only lines that still wait for an answer go along."""
        waiting = {line for due in self.due for line in due.lines}
        waiting |= {turn.line for turn in self.open.values()}
        waiting |= {entry.id for entry in self.pending()}
        self.conversation, self.began = event.id, event.seq
        self.lines = {id: entry for id, entry in self.lines.items() if id in waiting}
        spoken = [e for e in self.lines.values() if e.kind in ("heard", "said")]
        self.spoken = len(spoken)
        self.heard = sum(entry.kind == "heard" for entry in spoken)
        for member in self.mates.values():
            member.gone = 0
        self._tidy()

    def _context(self, event: Event, body: Marked | Purged) -> None:
        match body:
            case Marked():
                if entry := self.lines.get(body.line):
                    mark = None if body.mark == "none" else body.mark
                    self.lines[body.line] = replace(entry, mark=mark)
            case Purged():
                if member := self.mates.get(body.mate):
                    fresh = [id for id in body.lines if id not in member.purged]
                    member.gone += len(fresh)
                    member.purged |= {id: event.seq for id in fresh if id in self.lines}
                    self._release()

    def _release(self) -> None:
        """Let go of what no mate sees any more (unless it is still to be weighed)."""
        if not self.mates:
            return
        self.lines = {
            id: e for id, e in self.lines.items() if e.seq > self.weighed or self._seen(e)
        }
        self._tidy()

    def _seen(self, entry: Entry) -> bool:
        return any(
            sees(mate, entry) and entry.id not in member.purged
            for mate, member in self.mates.items()
        )

    def _bound(self) -> None:
        """Hold at most HELD, whatever mates purge: the oldest go in one block, kept ones last."""
        if sum(map(_bulk, self.lines.values())) <= HELD:
            return
        excess = sum(map(_bulk, self.lines.values())) - HELD // 2
        old = [e for e in self.lines.values() if e.seq <= self.weighed]
        for entry in sorted(old, key=lambda e: (e.mark == "keep", e.seq)):
            if excess <= 0:
                break
            excess -= _bulk(entry)
            del self.lines[entry.id]
            for mate, member in self.mates.items():
                member.gone += sees(mate, entry) and entry.id not in member.purged
            self.released = max(self.released, entry.seq)
        self._tidy()

    def _tidy(self) -> None:
        for member in self.mates.values():
            member.purged = {id: seq for id, seq in member.purged.items() if id in self.lines}

    # ------------------------------------------------------------ texts

    def words(self) -> Iterator[Words]:
        """Every text the state holds."""
        for person in self.people.values():
            yield person.name
        for entry in self.lines.values():
            yield from (entry.name, entry.text, entry.narrative)
            for file in entry.files:
                yield from (file.name, file.text)
        yield self.title
        yield from self.basis

    def wanting(self) -> set[str]:
        """Refs whose text is not here: after a restore all of them, else forgotten ones."""
        return {words.ref for words in self.words() if words.ref and words.text is None}

    def fill(self, texts: Mapping[str, str]) -> None:
        """Put texts back in after a restore, by their refs; those not given stay forgotten."""
        for words in self.words():
            if words.text is None and words.ref in texts:
                words.text = texts[words.ref]

    def forget(self, refs: Iterable[str]) -> None:
        """Forget texts, wherever the state holds them."""
        gone = set(refs)
        for words in self.words():
            if words.ref in gone:
                words.text = None


def _source(surface: str, source: str) -> str:
    return f"{surface}\x1f{source}"


def _remember(table: dict[str, str], key: str, value: str, most: int) -> None:
    """Put it last; the first goes when there are too many."""
    table.pop(key, None)
    table[key] = value
    if len(table) > most:
        del table[next(iter(table))]


def _bulk(entry: Entry) -> int:
    """How much an entry counts against HELD: one, and one more for each kilobyte of files."""
    return 1 + sum(file.size for file in entry.files) // 1000


def _merged(first: Due, second: Due) -> Due:
    """One turn for two calls: all lines, the stronger summons, the surer verdict."""
    lines = tuple(dict.fromkeys(first.lines + second.lines))
    return Due(
        mate=first.mate,
        lines=lines,
        summons=min(first.summons, second.summons, key=RANK.index),
        verdict="speak" if "speak" in (first.verdict, second.verdict) else "ask",
        score=max(first.score, second.score),
        step=max(first.step, second.step),
    )


# ---------------------------------------------------------------- whole states


def fold(events: Iterable[Event], state: RoomState | None = None) -> RoomState:
    """The state after these events, from nothing or going on from `state` (which is changed)."""
    state = RoomState() if state is None else state
    for event in events:
        state.apply(event)
    return state


class _Snapshot(Struct, kw_only=True):
    version: int
    state: msgspec.Raw


_encoder = msgspec.json.Encoder(enc_hook=encode_stored)
_decoder = msgspec.json.Decoder(RoomState, dec_hook=decode_stored)


def snapshot(state: RoomState) -> bytes:
    """The state as JSON, with references for private texts (which must all be stored)."""
    return msgspec.json.encode(
        _Snapshot(version=VERSION, state=msgspec.Raw(_encoder.encode(state)))
    )


def restore(stored: bytes) -> RoomState:
    """The state of a snapshot; its private texts are to be put back with `fill`.

    Raises LedgerBehind for a snapshot of another version: fold the stream instead.
    """
    read = msgspec.json.decode(stored, type=_Snapshot)
    if read.version != VERSION:
        raise LedgerBehind(
            f"the snapshot is of version {read.version}, this program reads {VERSION}; "
            "fold the stream from its beginning"
        )
    return _decoder.decode(read.state)
