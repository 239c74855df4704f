"""Packing: passages of the index's tables are put into segments, when there are many of them.

What is in no segment is read from the tables when it is searched, and held in memory. So a home of
some thousands of lines has none; of more, every FULL passages become one, those of many small rooms
together. One whose vectors are of a former model is written again once today's are all there.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sqlalchemy import func, select
from sqlalchemy.engine import Connection

from loopforge.memory.passage_arrays import Passages, concatenate_passages
from loopforge.memory.passage_index import changes, passages, vectors
from loopforge.memory.passage_loading import (
    VectorSpace,
    change_counts,
    read_passages,
    unpacked_spans,
)
from loopforge.memory.passage_segments import Segment, SegmentBlock, SegmentStore

FULL = 16_384
"""Passages of a segment, about; whole lines."""
LEAST = 64
"""A room with fewer that are in none is left as it is."""


class PackedSegment(NamedTuple):
    """What is to become a segment."""

    model: str
    blocks: list[SegmentBlock]
    passages: Passages


def drop_stale_segments(connection: Connection, store: SegmentStore, model: str) -> None:
    """Take out segments that no longer hold what the tables do, and those of a former model."""
    now = change_counts(connection)
    store.drop_unfinished()
    for segment in list(store.stale(now)):
        store.drop(segment)
    for segment in store.all():
        if model not in ("", segment.head.model) and _remade(connection, segment, model):
            store.drop(segment)


def _remade(connection: Connection, segment: Segment, model: str) -> bool:
    """Whether the tables have a vector of today's for each of its passages."""
    made = 0
    for block in segment.head.blocks:
        mine = (vectors.c.stream == block.stream) & (vectors.c.model == model)
        mine &= (vectors.c.seq >= block.first) & (vectors.c.seq <= block.last)
        made += connection.execute(select(func.count()).where(mine)).scalar() or 0
    return made == sum(block.until - block.since for block in segment.head.blocks)


def next_packed(
    connection: Connection, store: SegmentStore, model: str, dimension: int, full: int = FULL
) -> PackedSegment | None:
    """The next segment that is to be written; None where too little is in none."""
    space = VectorSpace(model, dimension or _dimension(connection, model))
    now = change_counts(connection)
    count = func.count().label("count")
    one = passages.c
    rows = connection.execute(select(one.stream, count).group_by(one.stream))
    rooms: dict[str, int] = {stream: many for stream, many in rows.all()}  # noqa: C416
    blocks = store.blocks(list(rooms))
    left = {
        stream: many - sum(b.until - b.since for _, b in blocks.get(stream, ()))
        for stream, many in rooms.items()
    }
    least = min(LEAST, full)
    left = {stream: many for stream, many in left.items() if many >= least}
    if sum(left.values()) < full:
        return None
    parts: list[tuple[str, Passages]] = []
    for stream in sorted(left, key=lambda stream: -left[stream]):
        done = [block for _, block in blocks.get(stream, ())]
        for span in unpacked_spans(done, 1):
            room = full - sum(len(part) for _, part in parts)
            if room < least:
                break
            found, _ = read_passages(connection, stream, span, space, room)
            if len(whole := _whole(found, room)):
                parts.append((stream, whole))
    made = list(_blocks(connection, parts, now))
    return PackedSegment(space.model, made, concatenate_passages([part for _, part in parts]))


def _dimension(connection: Connection, model: str) -> int:
    """How long vectors of a model are, which a server has not told since the start."""
    one = connection.execute(select(vectors.c.vector).where(vectors.c.model == model).limit(1))
    return len(one.scalar() or b"")


def commit_segment(
    connection: Connection, store: SegmentStore, aside: Path, blocks: list[SegmentBlock]
) -> bool:
    """Within a transaction that writes: a segment is taken in, if nothing of it was changed since.

    No other transaction changes passages meanwhile: one is over, and told by the stamps, or comes
    later and finds the file, in whatever process.
    """
    if connection.dialect.name != "sqlite":
        connection.exec_driver_sql(f"LOCK TABLE {changes.name} IN EXCLUSIVE MODE")
    now = change_counts(connection, sorted({block.stream for block in blocks}))
    still = all(block.stands(now.get(block.stream, {})) for block in blocks)
    return store.take_in(aside, still=still)


def _whole(found: Passages, limit: int) -> Passages:
    """Without the last line, where it may have been cut by the limit."""
    if len(found) < limit:
        return found
    return found.cut(0, int(np.searchsorted(found.seq, found.seq[-1])))


def _blocks(
    connection: Connection, parts: Sequence[tuple[str, Passages]], now: dict[str, dict[int, int]]
) -> Iterator[SegmentBlock]:
    since = 0
    for stream, part in parts:
        first, last = int(part.seq[0]), int(part.seq[-1])
        place = (passages.c.stream == stream) & (passages.c.seq == first)
        yield SegmentBlock(
            stream=stream,
            since=since,
            until=since + len(part),
            first=first,
            last=last,
            line=connection.execute(select(passages.c.line).where(place)).scalar() or "",
            stamp=now.get(stream, {}),
        )
        since += len(part)
