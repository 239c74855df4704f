"""Presence: what may be used in a room of lines, files and memory, decided in the query, only here.

Of the lines of rooms:

    the room itself    what all may see who are there and whom the turn answers
    a private room     takes in, besides, what all saw of other rooms while the mate was there
    an open room       takes in what all of them saw of other open rooms, likewise
    a group or thread  of a platform takes in nothing: who reads along there is not known; of a room
                       that it was joined with, nothing of before

A room's files come with its lines. So what was said in private comes up again in private alone,
among people who were there. Who comes later changes what may be used from that moment on; who left
still knows what they saw. A person who was met under another account is somebody else here until
the room knows them as one.

An item of memory may be used where one of these holds, and all lines that it rests on still stand
as they did when it was made:

    its lines    all lie in spans that everybody present saw while the mate was there, of rooms of
                 which something may be used here, as above
    own word     the only person present told it of themselves, saw all of its lines, and the room
                 is private
    shared       each person whom it concerns said that it may be used here
    travels      it was checked when it was made to hold no person, no quote, no fact about anybody

What a person corrected is their word: its lines count where they alone are present. What it was
made of counts by its lines: an item has the lines of its sources, too, and their words.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from msgspec.structs import replace
from sqlalchemy import ColumnElement, Row, select
from sqlalchemy.engine import Connection

from loopforge.chat.remembering.remembered_rooms import crowds_of, is_crowd
from loopforge.chat.room.member_visibility import (
    FOREVER,
    Members,
    MembershipSpan,
    MemberSight,
    audience_of_lines,
    groups_of,
    private_rooms,
    sights_of,
    stays_of_mate,
)
from loopforge.chat.room.room_store import PREFIX
from loopforge.core.memory.memory_vocabulary import EVERYWHERE, EvidenceLine
from loopforge.memory.memory_view import (
    fallen_items,
    id_batches,
    memories,
    memory_evidence,
    memory_people,
    memory_shares,
    memory_sources,
)
from loopforge.runtime.ports import ToolCall
from loopforge.runtime.ports.memory_port import RecallQuery

MOVES = Members.kinds
"""Kinds of events after which other rooms, or other lines of them, may be usable."""
Rooms = dict[str, tuple[MembershipSpan, ...]]


def usable_rooms(connection: Connection, query: RecallQuery) -> Rooms:
    """The streams of rooms, each with the spans whose lines may be used. Nobody present: none."""
    if not query.stream.startswith(PREFIX) or not query.present:
        return {}
    crowds = crowds_of(connection, query.stream)
    apart = not query.everywhere or bool(crowds)
    seen = sights_of(connection, query.present, query.stream if apart else "").values()
    own = [each[query.stream].stays if query.stream in each else () for each in seen]
    first = groups_of(connection, query.stream) if crowds else {}
    own += [(MembershipSpan(first.get(crowd, 0), FOREVER),) for crowd in crowds]
    here = {query.stream: shared(own)}
    return here if apart else _elsewhere(connection, query, list(seen)) | here


def usable_spans(connection: Connection, call: ToolCall) -> tuple[MembershipSpan, ...] | None:
    """The spans of its room of which a use of a tool may tell; None in no room, and for nobody."""
    present = tuple(dict.fromkeys((*call.present, *call.people)))
    if not call.stream.startswith(PREFIX) or not present:
        return None
    query = RecallQuery(text="", stream=call.stream, present=present, mate=call.mate)
    return usable_rooms(connection, query)[call.stream]


def is_private(connection: Connection, stream: str) -> bool:
    """Whether nobody comes into a room unless a person in it brings them."""
    return bool(private_rooms(connection, [stream]))


def is_more_visible(
    connection: Connection, new: Sequence[EvidenceLine], old: Sequence[EvidenceLine]
) -> bool:
    """Whether what rests on some lines may be used where what rests on others may not.

    They lie in another room, or somebody saw them who did not see all of the others.
    """
    rooms = {one.stream for one in new if one.stream.startswith(PREFIX)}
    if not rooms <= {one.stream for one in old}:
        return True
    return bool(new) and not audience_of_lines(connection, new) <= audience_of_lines(
        connection, old
    )


def shared(each: Iterable[Sequence[MembershipSpan]]) -> tuple[MembershipSpan, ...]:
    """What all saw: the spans that lie in one stay of each."""
    common: tuple[MembershipSpan, ...] = (MembershipSpan(0, FOREVER),)
    for stays in each:
        common = tuple(
            MembershipSpan(max(one.since, other.since), min(one.until, other.until))
            for one in common
            for other in stays
            if max(one.since, other.since) <= min(one.until, other.until)
        )
    return common


def _elsewhere(
    connection: Connection, query: RecallQuery, seen: Sequence[Mapping[str, MemberSight]]
) -> Rooms:
    """What all who are present saw of other rooms, while the mate was in them."""
    streams = set.intersection(*map(set, seen)) - {query.stream}
    if not streams:
        return {}
    here = sorted({*streams, query.stream})
    private, mates = private_rooms(connection, here), stays_of_mate(connection, query.mate, here)
    found: Rooms = {}
    for stream in streams:
        if stream in private and query.stream not in private:
            continue
        stays = shared([*(each[stream].stays for each in seen), mates.get(stream, ())])
        if stays:
            found[stream] = stays
    return found


class _Ground(NamedTuple):
    """What an item rests on, whom it is about: lines as (stream, seq), persons.

    `worded_by` are those who corrected it, or what it was made of.
    """

    lines: Sequence[tuple[str, int]]
    about: Collection[str]
    worded_by: Collection[str]


def usable_items(
    connection: Connection, query: RecallQuery, layers: Collection[str] = ()
) -> dict[str, int]:
    """The items of `query.mate` that may be used: their numbers in its stream, by id.

    With `layers`, those of these layers alone: the others cost nothing then.
    """
    if not query.stream.startswith(PREFIX) or not query.present:
        return {}
    one = memories.c
    usable = one.state.in_(("held", "superseded")) & ~one.forgotten
    all_mine = (one.mate == query.mate) & usable
    mine = all_mine & one.layer.in_(layers) if layers else all_mine
    wanted = [one.item, one.seq, one.told_by, one.learned_by, one.travels, one.worded_by]
    rows = connection.execute(select(*wanted).where(mine)).all()
    if not rows:
        return {}
    place = _Place(connection, query)
    words, seen = _worded_by(connection, all_mine), place.seen(mine)
    plain = seen - words.keys()
    others = [row for row in rows if row.item not in plain and place.might(row, words)]
    grounds = _grounds(connection, others, words)
    plain |= {row.item for row in others if place.may(row, grounds[row.item], seen)}
    if not plain:
        return {}
    gone = fallen_items(connection, query.mate)
    return {row.item: row.seq for row in rows if row.item in plain and row.item not in gone}


class _Place:
    """The room where items are to be used, with who is there."""

    def __init__(self, connection: Connection, query: RecallQuery) -> None:
        self._connection, self._query = connection, query
        self._spans: dict[str, Rooms] = {}
        self._crowd = is_crowd(connection, query.stream)
        private = not self._crowd and is_private(connection, query.stream)
        present = set(query.present)
        self._alone = next(iter(present)) if private and len(present) == 1 else ""
        self._shares = _shares(connection, query.stream, crowd=self._crowd)

    def seen(self, mine: ColumnElement[bool]) -> set[str]:
        """The items that rest on lines all of which everybody present saw; looked at in one go."""
        line, item = memory_evidence.c, memories.c
        query = select(line.item, item.learned_by, line.stream, line.seq)
        query = query.join(memories, item.item == line.item).where(mine)
        resting, unseen = set[str](), set[str]()
        for id, learned_by, stream, seq in self._connection.execute(query).all():
            resting.add(id)
            if id not in unseen and not self._saw(learned_by, stream, seq):
                unseen.add(id)
        return resting - unseen

    def might(self, row: Row[Any], words: Collection[str]) -> bool:
        """Whether an item may be used though not all saw its lines, as far as is known so far."""
        return row.travels or row.item in words or bool(self._alone or self._shares)

    def may(self, row: Row[Any], ground: _Ground, seen: Collection[str]) -> bool:
        """Whether an item may be used here."""
        if not self._query.everywhere and any(s != self._query.stream for s, _ in ground.lines):
            return False
        if row.travels:
            return True
        if row.item in seen and set(ground.worded_by).issuperset(self._query.present):
            return True
        return self._own_word(row, ground) or self._shared(row, ground)

    def _own_word(self, row: Row[Any], ground: _Ground) -> bool:
        """Whether it is of the only person present, by their word alone: nothing new to them."""
        told_by = set(ground.worded_by or (row.told_by,))
        if not self._alone or told_by != {self._alone} or not set(ground.about) <= {self._alone}:
            return False
        if ground.worded_by:
            return True
        sights = self._own_sights
        return all(stream in sights and sights[stream].sees(seq) for stream, seq in ground.lines)

    @cached_property
    def _own_sights(self) -> Mapping[str, MemberSight]:
        return sights_of(self._connection, [self._alone])[self._alone]

    def _saw(self, learned_by: str, stream: str, seq: int) -> bool:
        if not self._query.everywhere and stream != self._query.stream:
            return False
        mate = learned_by or self._query.mate
        if mate not in self._spans:
            asked = replace(self._query, everywhere=True, mate=mate)
            self._spans[mate] = usable_rooms(self._connection, asked)
        return any(since <= seq <= until for since, until in self._spans[mate].get(stream, ()))

    def _shared(self, row: Row[Any], ground: _Ground) -> bool:
        concerned = ground.about or ((row.told_by,) if row.told_by else ())
        return bool(concerned) and all((each, row.item) in self._shares for each in concerned)


def _shares(connection: Connection, stream: str, *, crowd: bool) -> Collection[tuple[str, str]]:
    """What persons let be used here: (person, item). Everywhere means no platform group."""
    targets = [stream] if crowd else [stream, EVERYWHERE]
    query = select(memory_shares).where(memory_shares.c.target.in_(targets))
    return {(row.person, row.item) for row in connection.execute(query)}


def _grounds(
    connection: Connection, rows: Sequence[Row[Any]], words: Mapping[str, Collection[str]]
) -> Mapping[str, _Ground]:
    """What these items rest on and whom they are about, by item."""
    lines: dict[str, list[tuple[str, int]]] = {}
    about: dict[str, list[str]] = {}
    one, who = memory_evidence.c, memory_people.c
    for ids in id_batches([row.item for row in rows]):
        rests = select(one.item, one.stream, one.seq).where(one.item.in_(ids))
        for item, stream, seq in connection.execute(rests).all():
            lines.setdefault(item, []).append((stream, seq))
        for item, person in connection.execute(
            select(memory_people).where(who.item.in_(ids))
        ).all():
            about.setdefault(item, []).append(person)
    return {
        id: _Ground(lines.get(id, ()), about.get(id, ()), words.get(id, ()))
        for id in (row.item for row in rows)
    }


def _worded_by(connection: Connection, mine: ColumnElement[bool]) -> dict[str, frozenset[str]]:
    """Who corrected these items, or what they were made of, by item."""
    one = memories.c
    rows = connection.execute(select(one.item, one.worded_by).where(mine & (one.worded_by != "")))
    words = {row.item: frozenset({row.worded_by}) for row in rows}
    if not words:
        return words
    pairs = [(row.item, row.source) for row in connection.execute(select(memory_sources))]
    more = True
    while more:
        before = dict(words)
        for item, source in pairs:
            if source in words:
                words[item] = words.get(item, frozenset()) | words[source]
        more = words != before
    return words
