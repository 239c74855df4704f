"""Visible lines: those of this conversation that some mate may still see.

Lines come to its end; they leave it when every mate has purged them, when a conversation begins
anew, or, in one block, when there are more than anybody could read. The ledger keeps them all.

Knows the rules of who sees what (notes and results are their own mate's alone), nothing of turns.
"""

from collections.abc import Collection, Iterator
from itertools import compress, islice
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from loopforge.core.context_window import (
    PRIVATE,
    ContextEntry,
    Mark,
    has_readable_text,
    may_see_entry,
)
from loopforge.core.events import Event
from loopforge.core.limits.line_origin import LineOrigin
from loopforge.core.perception import KIND
from loopforge.core.room_vocabulary import Heard, LineEdited, Noted, Said, Told, ToolUsed
from loopforge.core.text.erasable_text import Words, public_words

HELD = 4000
"""Most lines held for mates that never purge; above it the oldest go, down to half of it."""

LineBody = Heard | Said | Noted | ToolUsed | Told
V = TypeVar("V")
SPOKEN = ("heard", "said")
"""The kinds of entry that call for an answer."""


class NewestLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The last line of a mate: the events that hold its `versions`, and the one that stands."""

    line: str = ""
    versions: tuple[str, ...] = ()
    now: str = ""

    @property
    def place(self) -> int:
        """Which of its versions stands, from 1; 0 without a line."""
        return self.versions.index(self.now) + 1 if self.now in self.versions else 0


class VisibleLines(Struct, kw_only=True, omit_defaults=True):
    """Entries by id, in order, and by mate the ids that have left its context.

    `bound` are those that only who is present now may know. `newest` is the last line of a mate,
    and which versions of it there are.
    """

    lines: dict[str, ContextEntry] = {}
    purged: dict[str, set[str]] = {}
    bound: set[str] = set()
    newest: NewestLine = NewestLine()

    # ------------------------------------------------------------ reading

    def visible(self, mate: str) -> list[ContextEntry]:
        """What a mate still has in its context."""
        gone = self.purged.get(mate, ())
        lines = self.lines.values()
        there = [e for e in lines if e.id not in gone] if gone else [*lines]
        if PRIVATE.isdisjoint(map(KIND, there)):
            return there
        private = compress(there, map(PRIVATE.__contains__, map(KIND, there)))
        unseen = {e.id for e in private if not may_see_entry(mate, e)}
        return [e for e in there if e.id not in unseen] if unseen else there

    def recent(self, count: int) -> list[ContextEntry]:
        """The last lines of people and mates, oldest first."""
        spoken = (e for e in reversed(self.lines.values()) if e.kind in SPOKEN)
        return list(islice(spoken, count))[::-1]

    @property
    def last_of_a_mate(self) -> NewestLine:
        """`newest`, while that line is held."""
        return self.newest if self.newest.line in self.lines else NewestLine()

    def since(self, seq: int) -> list[ContextEntry]:
        """The lines of people and mates after a sequence number."""
        found = []
        for entry in reversed(self.lines.values()):
            if entry.seq <= seq:
                break
            if entry.kind in SPOKEN:
                found.append(entry)
        return found[::-1]

    def binds(self, mate: str) -> bool:
        """Whether a mate has before its eyes what only who is present now may know."""
        gone = self.purged.get(mate, ())
        return any(self.lines[id].who == mate and id not in gone for id in self.bound)

    def words(self) -> Iterator[Words]:
        """Every text on the page."""
        for entry in self.lines.values():
            yield from (entry.name, entry.text, entry.rule, entry.narrative)
            for file in entry.files:
                yield from (file.name, file.text, file.hash)

    # ------------------------------------------------------------ changing

    def add(self, entry: ContextEntry, weighed: int) -> None:
        """A line comes to the end. Beyond HELD the oldest go, but none after `weighed`."""
        self.lines[entry.id] = entry
        if entry.kind == "said":
            self.newest = NewestLine(line=entry.id, versions=(entry.id,), now=entry.id)
        if len(self.lines) > HELD or entry.files:
            self._bound(weighed)

    def mark(self, line: str, mark: Mark | None) -> None:
        """Mark a line, or take its mark off."""
        if entry := self.lines.get(line):
            self.lines[line] = replace(entry, mark=mark)

    def edit(self, event: str, body: LineEdited) -> None:
        """A line says something else from now on."""
        if entry := self.lines.get(body.line):
            if body.anew:
                said = {"mode": body.mode, "rule": body.rule, "narrative": body.narrative}
                entry = replace(entry, **said)
            heard = entry.transcribed or body.transcribed
            self.lines[body.line] = replace(entry, text=body.text, transcribed=heard)
        if body.anew and body.line == self.newest.line:
            held = self.newest.versions
            self.newest = NewestLine(
                line=body.line,
                versions=(*held, event) if body.turn else held,
                now=event if body.turn else body.version,
            )

    def delete(self, line: str) -> None:
        """A line is gone, for every mate."""
        self._keep(self.lines.keys() - {line})

    def came_in(self) -> None:
        """Somebody came in: what was for those before them alone is gone, for every mate."""
        self._keep(self.lines.keys() - self.bound)

    def purge(self, mate: str, lines: Collection[str]) -> None:
        """Lines leave a mate's context, and never come back to it."""
        held = {id for id in lines if id in self.lines}
        self.purged[mate] = self.purged.get(mate, set()) | held

    def shorten(self, lines: Collection[str]) -> None:
        """Results of tools are shown by their heads and handles from now on."""
        for id in self.lines.keys() & set(lines):
            self.lines[id] = replace(self.lines[id], short=True)

    def release(self, mates: Collection[str], weighed: int) -> None:
        """Let go of what none of these mates sees any more; lines after `weighed` stay."""
        self.purged = {mate: gone for mate, gone in self.purged.items() if mate in mates}
        if not mates:
            return  # lines wait for the first mate to come
        self._keep({e.id for e in self.lines.values() if e.seq > weighed or self._seen(e, mates)})

    def turn_over(self, staying: Collection[str]) -> None:
        """A clean page, with these lines alone."""
        self._keep(staying)

    def _seen(self, entry: ContextEntry, mates: Collection[str]) -> bool:
        return any(
            may_see_entry(mate, entry) and entry.id not in self.purged.get(mate, ())
            for mate in mates
        )

    def _bound(self, weighed: int) -> None:
        oldest = next(iter(self.lines.values()))
        if oldest.seq > weighed:
            return  # a burst: everything here is still to be weighed
        bulk = {id: _bulk(entry) for id, entry in self.lines.items()}
        total = sum(bulk.values())
        if total <= HELD:
            return
        old = [entry for entry in self.lines.values() if entry.seq <= weighed]
        going = set()
        for entry in sorted(old, key=lambda entry: (entry.mark == "keep", entry.seq)):
            if total <= HELD // 2:
                break
            total -= bulk[entry.id]
            going.add(entry.id)
        self._keep(self.lines.keys() - going)

    def _keep(self, staying: Collection[str]) -> None:
        self.lines = {id: entry for id, entry in self.lines.items() if id in staying}
        for mate, gone in self.purged.items():
            self.purged[mate] = gone & self.lines.keys()
        self.bound = self.bound & self.lines.keys()


def _bulk(entry: ContextEntry) -> int:
    """How much an entry counts against HELD: one, and one more for each kilobyte mates can read."""
    return (
        1 + sum(file.length or file.size for file in entry.files if has_readable_text(file)) // 1000
    )


def entry_of(
    event: Event,
    body: LineBody,
    *,
    name: Words,
    answers: str,
    origin: LineOrigin | None = None,
    relayed: int = 0,
) -> ContextEntry:
    """An event as a line. `name` is its speaker's (of a person), `answers` what called its turn.

    `origin` is whose line that goes back to, by so many lines of mates (`relayed`).
    """
    entry = ContextEntry(id=event.id, seq=event.seq, kind="told", at=event.at)
    match body:
        case Heard():
            return replace(
                entry,
                kind="heard",
                who=body.person,
                name=name,
                text=body.text,
                reply_to=body.reply_to,
                files=body.files,
                bot=body.bot,
                late=body.late,
                over=body.over,
                untrusted=body.untrusted,
                keeper=body.keeper,
                owner=body.owner,
                guest=body.guest,
                called=body.called,
                surface=body.surface,
                ago=body.ago,
            )
        case Said():
            return replace(
                entry,
                kind="said",
                who=body.mate,
                text=body.text,
                reply_to=body.reply_to,
                answers=answers,
                origin=origin,
                relayed=relayed,
                turn=body.turn,
                mode=body.mode,
                rule=body.rule,
                narrative=body.narrative,
                files=body.files,
            )
        case Noted():
            return replace(entry, kind="note", who=body.mate, text=body.text, turn=body.turn)
        case ToolUsed():
            tool = body.tool if body.outcome == "returned" else f"{body.tool}, {body.outcome}"
            return replace(
                entry,
                kind="result",
                who=body.mate,
                name=public_words(tool),
                text=body.value,
                turn=body.turn,
            )
        case Told():
            return replace(entry, text=body.text, who=body.person, origin=body.origin)


def put_bounded(table: dict[str, V], key: str, value: V, most: int) -> None:
    """Put it last; the first goes when there are too many."""
    table.pop(key, None)
    table[key] = value
    if len(table) > most:
        del table[next(iter(table))]
