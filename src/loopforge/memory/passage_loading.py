"""The passages of rooms, wherever they are kept: in segments, or as rows of the index.

A room's passages come from its blocks, which are mapped, and from the rows between and after them,
which are read when the room is first searched and held in memory; of those then only what came
since is read, or all of it anew when something in the room was changed or taken away (by whatever
process: the index says so). Rooms that were not searched for the longest time are let go when all
together take more than HELD. Belongs to one search at a time.
"""

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from sqlalchemy import bindparam, case, select
from sqlalchemy.engine import Connection

from loopforge.ledger.database.table_schema import streams as heads
from loopforge.memory.passage_arrays import Passages, concatenate_passages, no_passages, passages_of
from loopforge.memory.passage_index import changes, passages, vectors
from loopforge.memory.passage_segments import Segment, SegmentBlock, SegmentStore
from loopforge.runtime.ports.memory_port import EVER

HELD = 48_000_000
"""Bytes of rows that are kept; one room that has more is read for each search."""
PIECES = 1 << 16
"""More than a line is cut into."""
FEW = 8
"""Spans that are cut out one by one; rows of more are put together."""
Span = tuple[int, int]
"""Sequence numbers, both included."""

_CHANGES = select(changes)
_CHANGES_OF = _CHANGES.where(changes.c.stream.in_(bindparam("streams", expanding=True)))
_THERE, _MEANT = passages.c, vectors.c
_PASSAGES = (
    select(_THERE.seq, _THERE.nth, _THERE.at, _THERE.speaker, _THERE.size, _THERE.traits)
    .add_columns(_THERE.words, _MEANT.model)
    .add_columns(case((_MEANT.model == bindparam("model"), _MEANT.vector)).label("vector"))
    .add_columns(case((_MEANT.model == bindparam("former"), _MEANT.vector)).label("old"))
    .select_from(
        passages.outerjoin(
            vectors,
            (_MEANT.stream == _THERE.stream)
            & (_MEANT.seq == _THERE.seq)
            & (_MEANT.nth == _THERE.nth),
        )
    )
    .where(_THERE.stream == bindparam("stream"))
    .where(_THERE.seq.between(bindparam("since"), bindparam("until")))
    .order_by(_THERE.seq, _THERE.nth)
)
_LAST_MEANT = (
    select(_MEANT.seq * PIECES + _MEANT.nth)
    .where(_MEANT.stream == heads.c.stream)
    .correlate(heads)
    .order_by(_MEANT.seq.desc(), _MEANT.nth.desc())
    .limit(1)
    .scalar_subquery()
)
_ENDS = select(heads.c.stream, heads.c.seq, _LAST_MEANT).where(
    heads.c.stream.in_(bindparam("streams", expanding=True))
)


class VectorSpace(NamedTuple):
    """The models whose vectors are compared: today's and a former one, with their lengths."""

    model: str = ""
    dimension: int = 0
    former: str = ""
    formerly: int = 0


class PassageStretch(NamedTuple):
    """Passages of one room in a row that may be used; of a segment, its rows from `since` on."""

    passages: Passages
    segment: Segment | None = None
    since: int = 0


def change_counts(
    connection: Connection, streams: Sequence[str] | None = None
) -> dict[str, dict[int, int]]:
    """How often parts of these rooms (None: of all) were changed."""
    query, given = (_CHANGES, {}) if streams is None else (_CHANGES_OF, {"streams": streams})
    found: dict[str, dict[int, int]] = {}
    for stream, part, count in connection.execute(query, given):
        found.setdefault(stream, {})[part] = count
    return found


def read_passages(
    connection: Connection, stream: str, span: Span, space: VectorSpace, limit: int | None = None
) -> tuple[Passages, set[str]]:
    """Those of a room within a span, with their vectors; and of which other models there are some.

    A vector of another model than today's is `former`, if it is of the former one.
    """
    query = _PASSAGES if limit is None else _PASSAGES.limit(limit)
    given = {"stream": stream, "since": span[0], "until": span[1]}
    given |= {"model": space.model, "former": space.former}
    rows = connection.execute(query, given).all()
    strange = {row.model for row in rows} - {None, space.model}
    return passages_of(rows, space.dimension, space.formerly), strange


@dataclass(kw_only=True)
class _Held:
    """The rows of a room between and after its blocks.

    `upto` is how far the room went when it was read, `top` how far its vectors (see `_ends`),
    `meant` the last line before the first that has no vector; `strange`: some of another model were
    met. `key` is what must not change. `found` is what was last made of it, for what was `asked`.
    `nbytes` is the memory it takes.
    """

    passages: Passages
    key: object
    upto: int
    top: int
    meant: int
    strange: bool
    asked: object = None
    found: list[PassageStretch] = field(default_factory=list)
    nbytes: int = field(init=False)

    def __post_init__(self) -> None:
        self.nbytes = self.passages.nbytes


class RoomPassages:
    """Where passages of rooms are found, for the vectors of some models.

    `strange` are models met that are neither: somebody may want to ask by them, too.
    """

    def __init__(self, space: VectorSpace, store: SegmentStore, held: int = HELD) -> None:
        self.space, self._store, self._most = space, store, held
        self._rooms: OrderedDict[str, _Held] = OrderedDict()
        self._known: dict[str, bool] = {}
        self.strange: set[str] = set()

    def within(
        self, connection: Connection, spans: Mapping[str, Sequence[Span]]
    ) -> tuple[list[str], list[PassageStretch]]:
        """The rooms, and their passages within these spans; `room` is a place in the first."""
        streams, self.strange = sorted(spans), set()
        changed = change_counts(connection, streams)
        ends = _ends(connection, streams)
        blocks = self._store.blocks(streams)
        found: list[PassageStretch] = []
        for room, stream in enumerate(streams):
            stamp, end = changed.get(stream, {}), ends.get(stream, (0, 0))
            mine = [b for b in blocks.get(stream, ()) if self._stands(connection, b, stamp)]
            held = self._rows(connection, stream, [block for _, block in mine], stamp, end)
            asked = room, tuple(spans[stream])
            if mine or held.asked != asked:
                held.found = [
                    self._shown(each, room)
                    for stretch in _stretches(held.passages, mine)
                    for each in _cut(stretch, spans[stream])
                ]
            found += held.found
            held.asked = asked
            if mine:  # who holds on to a mapped file keeps what was forgotten on the disk
                held.asked, held.found = None, []
        self._let_go()
        return streams, found

    def none(self) -> Passages:
        """No passages at all."""
        return no_passages(self.space.dimension, self.space.formerly)

    def _stands(
        self, connection: Connection, found: tuple[Segment, SegmentBlock], stamp: Mapping[int, int]
    ) -> bool:
        """Whether a block holds what the index does; a segment that does not is deleted."""
        segment, block = found
        if (name := f"{segment.path.name}/{block.since}") not in self._known:
            there = (passages.c.stream == block.stream) & (passages.c.seq == block.first)
            line = connection.execute(select(passages.c.line).where(there)).scalar()
            self._known[name] = line == block.line
        if self._known[name] and block.stands(stamp):
            return True
        self._store.drop(segment)
        return False

    def _shown(self, stretch: PassageStretch, room: int) -> PassageStretch:
        """With the room's number, and those vectors that questions can be compared with."""
        found, segment, since = stretch
        if segment is not None:
            theirs = segment.head.model
            today = True if theirs == self.space.model else None
            if today is None and theirs:
                self.strange.add(theirs)
                today = False if theirs == self.space.former else None
            found = found.shown(self.space.dimension, self.space.formerly, today=today)
        return PassageStretch(found.of(room), segment, since)

    def _rows(
        self,
        connection: Connection,
        stream: str,
        blocks: Sequence[SegmentBlock],
        stamp: Mapping[int, int],
        end: tuple[int, int],
    ) -> _Held:
        key = ([(block.first, block.last) for block in blocks], dict(stamp))
        held, (upto, top) = self._rooms.pop(stream, None), end
        if held is None or held.key != key:
            held = _Held(passages=self.none(), key=key, upto=0, top=0, meant=0, strange=False)
        # What had no vector when it was read may have one now: it is read again.
        same = held.top == top and not held.strange
        after = held.upto if same else min(held.upto, held.meant)
        if after < upto:
            parts = [held.passages.cut(0, int(np.searchsorted(held.passages.seq, after + 1)))]
            strangers: set[str] = set()
            for since, until in unpacked_spans(blocks, after + 1):
                new, strange = read_passages(connection, stream, (since, until), self.space)
                self.strange |= strange
                strangers |= strange
                parts.append(new)
            whole = concatenate_passages([part for part in parts if len(part)] or [self.none()])
            missing = np.flatnonzero(~whole.meant)
            meant = int(whole.seq[missing[0]]) - 1 if len(missing) else upto
            held = _Held(
                passages=whole, key=key, upto=upto, top=top, meant=meant, strange=bool(strangers)
            )
        elif held.passages.former.any():
            self.strange.add(self.space.former)
        self._rooms[stream] = held
        return held

    def _let_go(self) -> None:
        total = sum(held.nbytes for held in self._rooms.values())
        while self._rooms and total > self._most:
            _, held = self._rooms.popitem(last=False)
            total -= held.nbytes


def _ends(connection: Connection, streams: Sequence[str]) -> dict[str, tuple[int, int]]:
    """How far these rooms go, and their vectors."""
    rows = connection.execute(_ENDS, {"streams": streams})
    return {stream: (upto, top or 0) for stream, upto, top in rows}


def _stretches(
    rows: Passages, blocks: Sequence[tuple[Segment, SegmentBlock]]
) -> Iterator[PassageStretch]:
    """All passages of a room: blocks, and rows between and after them, in their order."""
    at = 0
    for segment, block in blocks:
        here = int(np.searchsorted(rows.seq, block.first))
        if here > at:
            yield PassageStretch(rows.cut(at, here))
        yield PassageStretch(segment.passages.cut(block.since, block.until), segment, block.since)
        at = here
    if len(rows) > at:
        yield PassageStretch(rows.cut(at, len(rows)))


def unpacked_spans(blocks: Sequence[SegmentBlock], since: int) -> Iterator[Span]:
    """The lines of a room from one on that are in none of its blocks."""
    for block in blocks:
        if since < block.first:
            yield since, block.first - 1
        since = max(since, block.last + 1)
    yield since, EVER


def _cut(stretch: PassageStretch, spans: Sequence[Span]) -> Iterator[PassageStretch]:
    """Of a stretch what lies within spans."""
    found, segment, first = stretch
    if segment is None and len(spans) > FEW:
        kept = np.zeros(len(found), bool)
        for since, until in spans:
            kept |= (found.seq >= since) & (found.seq <= until)
        if kept.any():
            yield PassageStretch(found.only(np.flatnonzero(kept)))
        return
    for span in spans:
        since = int(np.searchsorted(found.seq, span[0]))
        until = int(np.searchsorted(found.seq, min(span[1], EVER), side="right"))
        if since < until:
            yield PassageStretch(found.cut(since, until), segment, first + since)
