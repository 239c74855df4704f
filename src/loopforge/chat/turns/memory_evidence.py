"""What is to be kept rests on something: the lines and items that a wish or a mate's act is of.

A mate keeps what it says in its own words; so it rests on the line it answered, on each line before
its eyes that shares a word of weight with it, by itself or by its files, on each whose picture it
was shown, and on all that was remembered in that turn, or that a tool gave in it, and shares one:
who was not there for one of them is not told the whole. What somebody says ("remember that ...",
chat/speaking/memory_requests.py) rests on their line alone.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from loopforge.chat.room.permissions import answered_people
from loopforge.chat.room.room_state import RoomState
from loopforge.core.context_window import ContextEntry
from loopforge.core.memory.evidence_overlap import (
    Stems,
    stems_of,
    supporting_lines,
)
from loopforge.core.memory.memory_vocabulary import EvidenceLine
from loopforge.core.perception import AgentPerception
from loopforge.core.room_vocabulary import MemoryAsked
from loopforge.core.text.erasable_text import Words


class GroundLine(Struct, frozen=True):
    """A line, or an item of memory (its stream is ""), that something may rest on.

    `pictured`: a picture of it was shown, of which nobody knows in which words it is told.
    """

    stream: str
    seq: int
    id: str
    stems: Stems
    trusted: bool
    pictured: bool = False


class MemoryEvidence(Struct, frozen=True):
    """What a turn may keep something of: the lines it answered, and all that it was shown."""

    called: tuple[GroundLine, ...] = ()
    shown: tuple[GroundLine, ...] = ()
    person: str = ""

    def asked(
        self, want: Literal["keep", "forget"], text: str, turn: str, mate: str
    ) -> MemoryAsked:
        """That a mate wants this kept or let go of."""
        near = [self.shown[at] for at in supporting_lines(text, [g.stems for g in self.shown])]
        near += [one for one in self.shown if one.pictured]
        grounds = list({one.id: one for one in (*self.called, *near)}.values())
        return MemoryAsked(
            want=want,
            text=Words(text),
            mates=(mate,),
            lines=tuple(EvidenceLine(g.stream, g.seq, g.id) for g in grounds if g.seq),
            rests_on=tuple(g.id for g in grounds if not g.seq),
            person=self.person,
            turn=turn,
            trusted=all(ground.trusted for ground in grounds),
        )


def grounds_of(
    state: RoomState, mate: str, seen: AgentPerception, called: Sequence[str]
) -> MemoryEvidence:
    """What a turn of a mate that answers these lines may keep something of.

    What came while it went on, lines and what its tools gave, stands behind what it saw first.
    """
    pictured = {line.id for line in seen.lines if line.picture is not None}
    before = {line.id for line in seen.lines}
    last = max((state.lines[id].seq for id in before if id in state.lines), default=0)
    shown = [
        _ground(state, entry, pictured=entry.id in pictured)
        for entry in state.visible(mate)
        if entry.id in before or entry.seq > last
    ]
    shown += [
        GroundLine("", 0, line.id, stems_of(str(line.text)), not line.untrusted)
        for line in (*seen.standing, *seen.recalled)
    ]
    people = answered_people(state, called)
    return MemoryEvidence(
        called=tuple(_ground(state, state.lines[id]) for id in called if id in state.lines),
        shown=tuple({one.id: one for one in shown}.values()),
        person=people[0] if len(people) == 1 else "",
    )


def _ground(state: RoomState, entry: ContextEntry, *, pictured: bool = False) -> GroundLine:
    foreign = entry.kind in ("result", "told") or entry.untrusted or entry.bot
    stems = stems_of(str(entry.text), entry.given)
    return GroundLine(state.stream, entry.seq, entry.id, stems, not foreign, pictured)
