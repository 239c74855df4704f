"""What comes to a mate before its turn: what it keeps, and what it remembers that may fit.

    standing   core memories and standing wishes that may be used here, and from earlier talks what
               it knows of those who are here and promised them; they change seldom, and stand
               before the lines
    recalled   items and lines that fit what was just said and are not before its eyes anyway; they
               stand after the lines, so that what a provider has cached of these stays

No model is asked. What may be used is decided where it is looked for, by all who are in the room
and all whom the turn answers. What fitted and what did not is noted with the turn. Where memory
cannot be searched just now, a turn goes without it.
"""

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from operator import attrgetter
from typing import NamedTuple

from loopforge.chat.room.permissions import answered_people
from loopforge.chat.room.room_state import RoomState
from loopforge.chat.room.room_store import RoomStore
from loopforge.chat.room.turn_queue import DueTurn
from loopforge.chat.speaking.room_rules import RoomRules
from loopforge.core.context_window import ContextEntry
from loopforge.core.mates.mate_file import Mate, mate_name
from loopforge.core.memory.memory_vocabulary import Layer
from loopforge.core.perception import Line
from loopforge.core.room_vocabulary import Heard, Said
from loopforge.core.text.erasable_text import Words, public_words
from loopforge.core.text.name_labels import truncate_text
from loopforge.core.text.topics import fold_case
from loopforge.core.turn_events import Recollection
from loopforge.errors import LoopforgeError
from loopforge.runtime.ports import Clock, ItemRecall, ModelFacts, Recall
from loopforge.runtime.ports.memory_port import (
    EVER,
    KeptItem,
    RecalledItem,
    RecalledLine,
    RecallQuery,
)

log = logging.getLogger(__name__)
BYTES, SMALL_BYTES = 1200, 360
"""Of what is recalled, at most: some 400 tokens; for a small model 120."""
KEPT_BYTES, SMALL_KEPT = 1800, 240
"""Of what stands before the lines, at most."""
ROW = 40
"""Bytes that a row takes besides its text."""
FITS = 0.25
"""The least score of what is recalled unasked: in between stands what shares a word by chance."""
FOUND, LOOKED = 8, 24
"""Items and lines that are weighed; so many are looked at, as some say what was told already."""
ASKED = 3
"""Newest lines of people by which it is looked for, at most."""
CLEAN = timedelta(hours=1)
"""Lines of this room's last talk do not come back into a new one for so long: somebody wanted a
clean page."""
SHAPING: tuple[Layer, ...] = ("core", "instruction")
KNOWING: tuple[Layer, ...] = ("fact", "note", "word")
WORDS = 12
"""The newest words of a room that a mate has before its eyes there, at most."""
LONGEST_QUESTION, LONGEST_ROW = 600, 400
UNLIKE, FULL, AGAIN = "it hardly fits", "there was no room for it", "that was told already"
_WORD = re.compile(r"(?<![@\w])\w+")
"""A word of what was said; whom it was said to is none."""
LAYERS = {
    "note": "a note",
    "final": "a note",
    "core": "your own",
    "fact": "a fact",
    "instruction": "a wish",
    "saved": "saved",
    "lesson": "a lesson",
    "reflection": "a thought",
    "insight": "an insight",
    "word": "a word of this room",
}


ID, SEQ = attrgetter("id"), attrgetter("seq")

Seen = Sequence[ContextEntry]
"""The lines before a mate's eyes, as they came."""


class RecalledMemory(NamedTuple):
    """What a mate is shown of its memory, as lines, and what is noted of it."""

    standing: tuple[Line, ...] = ()
    recalled: tuple[Line, ...] = ()
    notes: tuple[Recollection, ...] = ()


class TurnRecall:
    """Remembers for turns in rooms."""

    def __init__(
        self,
        lines: Recall,
        items: ItemRecall,
        house: RoomStore,
        rules: RoomRules,
        clock: Clock,
        mates: Mapping[str, Mate],
    ) -> None:
        self._lines, self._items, self._house, self._rules = lines, items, house, rules
        self._clock, self._mates = clock, mates

    def most(self, facts: ModelFacts) -> int:
        """Tokens that what is remembered takes at most, about."""
        return sum(_bounds(facts)) // 3

    async def remembered(
        self, state: RoomState, mate: Mate, due: DueTurn, seen: Seen, facts: ModelFacts
    ) -> RecalledMemory:
        """What comes to a mate that is called so, and has these lines before its eyes."""
        query, (kept_bytes, left) = self._query(state, mate, due, seen), _bounds(facts)
        if query is None:
            return RecalledMemory()
        try:
            standing = await self._standing(query, kept_bytes, small=facts.small)
            items = await self._items.recall_items(query)
            lines = await self._lines.recall(query)
        except LoopforgeError as error:
            log.warning("A turn goes without memory. %s", error)
            return RecalledMemory()
        kept = tuple(Recollection(of=line.id) for line in standing)
        since = self._clock.now() - CLEAN
        lines = [one for one in lines if not _put_aside(one, state, since)]
        every: list[RecalledItem | RecalledLine] = [*items, *lines]
        if not every:
            return RecalledMemory(tuple(standing), notes=kept)
        asked = [state.lines[id].text for id in due.lines if id in state.lines]
        shown = [*map(ID, seen), *map(ID, standing)]
        told = _Told(shown, [*asked, *(line.text for line in standing)])
        found = sorted((one for one in every if not told.knows(one)), key=lambda one: -one.score)
        rows, notes = list[Line](), list[Recollection]()
        for one in found[:FOUND]:
            row = await self._row(state, one)
            size = ROW + len(str(row.text).encode("utf-8", "replace"))
            why = UNLIKE if one.score < FITS else FULL if size > left else ""
            why = AGAIN if told.knows(one) else why
            if not why:
                left -= size
                rows.append(row)
                told.add(one)
            parts = tuple(one.parts.items())
            notes.append(Recollection(of=row.id, score=one.score, parts=parts, left=why))
        return RecalledMemory(tuple(standing), tuple(rows), (*kept, *notes))

    def _query(self, state: RoomState, mate: Mate, due: DueTurn, seen: Seen) -> RecallQuery | None:
        """What is asked of memory; nothing where nobody said anything that could be asked by."""
        entries = [state.lines[id] for id in due.lines if id in state.lines]
        said = [str(e.text) for e in entries[-ASKED:] if e.text.text]
        people = answered_people(state, due.lines)
        if not said:
            return None
        names = speaker_names(state, self._mates)
        return RecallQuery(
            text=_without_call("\n".join(said), mate)[-LONGEST_QUESTION:],
            stream=state.stream,
            present=tuple(dict.fromkeys((*state.people, *people))),
            mate=mate.handle,
            asker=f"person:{people[0]}" if len(people) == 1 else "",
            names={who: one for who, one in names.items() if who != f"mate:{mate.handle}"},
            everywhere=True,
            seen=frozenset(map(SEQ, seen)),
            upto=seen[-1].seq if seen else EVER,
            limit=LOOKED,
        )

    # ------------------------------------------------------------ rows

    async def _standing(self, query: RecallQuery, left: int, *, small: bool) -> list[Line]:
        """Core memories and wishes, then what it knows of those present; the newest find room."""
        usable = await self._items.usable(query, SHAPING if small else (*SHAPING, *KNOWING))
        state = await self._house.state(query.stream)
        held = [item for item in usable if item.state == "held" and item.trusted]
        shaping = [
            item
            for item in held
            if (item.layer == "core" and not small)
            or (item.layer == "instruction" and item.told_by in query.present)
        ]
        knowing = [item for item in held if _known_before(item, state, query.present)]
        older = [one for one in knowing if one.layer == "word"][:-WORDS]
        knowing = [one for one in knowing if one not in older]
        found: list[list[Line]] = []
        told: set[tuple[str, str]] = set()
        for items in (shaping, knowing):
            rows: list[Line] = []
            for item in reversed(items):
                if (wording := (item.layer, _worded(item.text))) in told:
                    continue  # kept once more where it was said before others
                told.add(wording)
                row = await self._item_row(state, item, "standing")
                left -= ROW + len(str(row.text).encode("utf-8", "replace"))
                if left < 0:
                    break
                rows.append(row)
            found.append(rows[::-1])
        return [*found[0], *found[1]]

    async def _row(self, state: RoomState, one: RecalledItem | RecalledLine) -> Line:
        if isinstance(one, RecalledItem):
            return await self._item_row(state, one.item, "recalled")
        line, body = one.line, one.line.body
        assert isinstance(body, Heard | Said)
        here = line.stream == state.stream
        there = state if here else await self._house.state(line.stream)
        who = (
            public_words(mate_name(self._mates, body.mate))
            if isinstance(body, Said)
            else _name(there, body.person)
        )
        return Line(
            kind="recalled",
            who=who,
            text=_short(body.text),
            id=line.id,
            at=self._day(line.at),
            which="" if here else "in another room",
            untrusted=isinstance(body, Heard) and (body.untrusted or body.bot),
        )

    async def _item_row(self, state: RoomState, item: KeptItem, kind: str) -> Line:
        there = state
        if item.told_by not in {*state.people, *state.former} and item.room.startswith("room:"):
            there = await self._house.state(item.room)
        which = LAYERS[item.layer]
        if item.until is not None:
            which = f"{which} that held until {self._day(item.until)}"
        return Line(
            kind="standing" if kind == "standing" else "recalled",
            who=_name(there, item.told_by) if item.told_by else public_words(""),
            text=item.text,
            id=item.id,
            at=self._day(item.since or item.at),
            which=which,
            untrusted=not item.trusted,
        )

    def _day(self, at: datetime) -> str:
        local = at.astimezone(self._rules.zone)
        return f"{local.day} {local:%B %Y}"


def _known_before(item: KeptItem, state: RoomState, present: Sequence[str]) -> bool:
    """Whether it is of an earlier talk than this one, about somebody present or promised to them.

    What was kept in this talk stands in its lines anyway; here it would change what is cached.
    """
    if state.conversation and item.id > state.conversation:
        return False
    if item.layer == "word":
        return item.room == state.stream
    if item.layer == "fact":
        return not set(item.about).isdisjoint(present)
    return item.layer == "note" and item.made_by == "mate" and item.told_by in present


def _without_call(text: str, mate: Mate) -> str:
    """What was said, without the name of the mate that is called by it."""
    names = "|".join(re.escape(name) for name in {mate.handle, mate.name})
    return re.sub(rf"@?\b(?:{names})\b", "", text, flags=re.IGNORECASE)


def _bounds(facts: ModelFacts) -> tuple[int, int]:
    """Bytes of what it keeps, and of what is recalled: less where the window is narrow."""
    if facts.small:
        return SMALL_KEPT, SMALL_BYTES
    return min(KEPT_BYTES, facts.window // 5), min(BYTES, facts.window // 10)


def _put_aside(one: RecalledLine, state: RoomState, since: datetime) -> bool:
    """Whether a line was said in this room just before the present talk began."""
    here = one.line.stream == state.stream and one.line.seq < state.began
    return here and one.line.at > since


class _Told:
    """What a mate has before its eyes by now: no line, and no wording, is told it twice."""

    def __init__(self, seen: Iterable[str], words: Iterable[Words]) -> None:
        self._seen, self._words = set(seen), {_worded(text) for text in words}

    def knows(self, one: RecalledItem | RecalledLine) -> bool:
        """Whether it, or all that it rests on, is there."""
        said = _worded(_text(one)) in self._words
        return said or _id(one) in self._seen or set(_grounds(one)) <= self._seen

    def add(self, one: RecalledItem | RecalledLine) -> None:
        """It is told now."""
        self._seen |= {_id(one), *_grounds(one)}
        self._words.add(_worded(_text(one)))


def _worded(text: Words) -> str:
    return " ".join(_WORD.findall(fold_case(str(text))))


def _text(one: RecalledItem | RecalledLine) -> Words:
    if isinstance(one, RecalledItem):
        return one.item.text
    assert isinstance(one.line.body, Heard | Said)
    return one.line.body.text


def _id(one: RecalledItem | RecalledLine) -> str:
    return one.item.id if isinstance(one, RecalledItem) else one.line.id


def _grounds(one: RecalledItem | RecalledLine) -> Sequence[str]:
    """The lines that it is, or rests on."""
    if isinstance(one, RecalledLine):
        return [one.line.id]
    return [line.line for line in one.item.evidence] or [one.item.id]


def _short(text: Words) -> Words:
    """The text itself; of a long one a copy of its beginning, which is erased with its record."""
    whole = text.text or ""
    return text if len(whole) <= LONGEST_ROW else Words(truncate_text(whole, LONGEST_ROW))


def _name(state: RoomState, person: str) -> Words:
    known = state.people.get(person) or state.former.get(person)
    return known.name if known else public_words("somebody")


def speaker_names(state: RoomState, mates: Mapping[str, Mate]) -> dict[str, str]:
    """The names of all who ever spoke in a room, by speaker."""
    people = {f"person:{id}": str(_name(state, id)) for id in (*state.people, *state.former)}
    return people | {f"mate:{mate}": mate_name(mates, mate) for mate in state.mates}
