"""The passages of rooms as arrays, read from the index when a room is first searched.

A room is read once; from then on only what came since, or all of it anew when something in it was
changed or taken away (by whatever process: the index says so). Rooms that were not searched for the
longest time are let go when all together take more than HELD. Belongs to one search at a time.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import select
from sqlalchemy.engine import Connection

from loopforge.core.memory.memory_vocabulary import PREFIX
from loopforge.memory.transcript_index import changes, passages, vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

HELD = 200_000_000
"""Bytes of arrays that are kept; one room that is larger is read for each search."""
APART = 3_600 * 1_000_000
"""Microseconds of silence after which another talk begins."""
NEVER = -1


@dataclass(frozen=True, kw_only=True)
class Passages:
    """n passages in the order in which they were said. The words of all stand one after another.

    `starts` (n + 1) says where those of each begin; `number` and `often` are a word's number and
    count. `talk` counts the talks. `vector` is n x dimension, in int8; `meant`: there is one (else
    it is all 0).
    """

    room: NDArray[np.int32]
    seq: NDArray[np.int64]
    nth: NDArray[np.int32]
    at: NDArray[np.int64]
    talk: NDArray[np.int64]
    speaker: NDArray[np.object_]
    size: NDArray[np.int32]
    traits: NDArray[np.int32]
    starts: NDArray[np.int64]
    number: NDArray[np.uint32]
    often: NDArray[np.uint8]
    meant: NDArray[np.bool_]
    vector: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.seq)

    @property
    def nbytes(self) -> int:
        """Memory that the arrays take."""
        return int(sum(getattr(self, field.name).nbytes for field in fields(self)))

    def only(self, kept: NDArray[np.bool_]) -> Passages:
        """Those that are kept; the others might as well never have been said."""
        if kept.all():
            return self
        words = np.repeat(kept, np.diff(self.starts))
        one_each = {
            field.name: getattr(self, field.name)[kept]
            for field in fields(self)
            if field.name not in ("starts", "number", "often")
        }
        starts = np.concatenate([[0], np.cumsum(np.diff(self.starts)[kept])])
        return Passages(
            **one_each, starts=starts, number=self.number[words], often=self.often[words]
        )


def joined(rooms: Sequence[Passages]) -> Passages:
    """The passages of several rooms; `room` says of which each is, by its place in the list."""
    if len(rooms) == 1:
        return rooms[0]
    parts: dict[str, Any] = {
        field.name: np.concatenate([getattr(each, field.name) for each in rooms])
        for field in fields(Passages)
        if field.name not in ("starts", "room", "talk")
    }
    lengths = np.concatenate([np.diff(each.starts) for each in rooms])
    before = np.cumsum([0, *(int(each.talk[-1]) + 1 if len(each) else 0 for each in rooms)])
    return Passages(
        **parts,
        starts=np.concatenate([[0], np.cumsum(lengths)]),
        room=np.concatenate([np.full(len(e), nth, np.int32) for nth, e in enumerate(rooms)]),
        talk=np.concatenate([e.talk + first for e, first in zip(rooms, before, strict=False)]),
    )


def read_passages(
    connection: Connection, stream: str, after: int, model: str, dimension: int
) -> Passages:
    """Those of a room after a line, with their vectors, as far as they are of this model's."""
    same = (
        (vectors.c.stream == passages.c.stream)
        & (vectors.c.seq == passages.c.seq)
        & (vectors.c.nth == passages.c.nth)
        & (vectors.c.model == model)
    )
    one = passages.c
    query = (
        select(one.seq, one.nth, one.at, one.speaker, one.size, one.traits, one.words)
        .add_columns(vectors.c.vector)
        .select_from(passages.outerjoin(vectors, same))
        .where(one.stream == stream, one.seq > after)
        .order_by(one.seq, one.nth)
    )
    rows = connection.execute(query).all()
    return _arrays(rows, dimension)


def _arrays(rows: Sequence[Any], dimension: int) -> Passages:
    many = [len(row.words) // 5 for row in rows]
    none = bytes(dimension)
    whole = b"".join(
        row.vector if row.vector is not None and len(row.vector) == dimension else none
        for row in rows
    )
    at = np.array([row.at for row in rows], np.int64)
    return Passages(
        room=np.zeros(len(rows), np.int32),
        seq=np.array([row.seq for row in rows], np.int64),
        nth=np.array([row.nth for row in rows], np.int32),
        at=at,
        talk=_talks(at),
        speaker=np.array([row.speaker for row in rows], object),
        size=np.array([row.size for row in rows], np.int32),
        traits=np.array([row.traits for row in rows], np.int32),
        starts=np.concatenate([[0], np.cumsum(many, dtype=np.int64)]).astype(np.int64),
        number=np.frombuffer(
            b"".join(row.words[: 4 * n] for row, n in zip(rows, many, strict=True)), "<u4"
        ),
        often=np.frombuffer(
            b"".join(row.words[4 * n :] for row, n in zip(rows, many, strict=True)), np.uint8
        ),
        meant=np.array([row.vector is not None or not dimension for row in rows], bool),
        vector=np.frombuffer(whole, np.int8).reshape(len(rows), dimension),
    )


def _talks(at: NDArray[np.int64]) -> NDArray[np.int64]:
    """A number for each talk: a new one begins after a long silence."""
    talks: NDArray[np.int64] = np.zeros(len(at), np.int64)
    talks[1:] = np.cumsum(np.abs(np.diff(at)) > APART)
    return talks


@dataclass(kw_only=True)
class _Held:
    """A room in memory; `upto` and `meant` are the last line read, and the last with a vector."""

    passages: Passages
    changed: int
    upto: int
    meant: int


class RoomPassages:
    """Rooms that were searched lately, for vectors of one model."""

    def __init__(self, model: str = "", dimension: int = 0, held: int = HELD) -> None:
        self.model, self.dimension, self._most = model, dimension, held
        self._rooms: OrderedDict[str, _Held] = OrderedDict()

    def none(self) -> Passages:
        """No passages at all."""
        return _arrays((), self.dimension)

    def of(self, connection: Connection, stream: str) -> Passages:
        """The passages of a room as they stand now."""
        names = [stream, PREFIX] if stream.startswith(PREFIX) else [stream]
        counts = connection.execute(select(changes.c.count).where(changes.c.stream.in_(names)))
        changed = sum(counts.scalars())
        held = self._rooms.pop(stream, None)
        if held is None or held.changed != changed:
            held = _Held(passages=_arrays((), self.dimension), changed=changed, upto=0, meant=0)
        # What had no vector when it was read may have one now: it is read again.
        after = min(held.upto, held.meant)
        kept = held.passages.only(held.passages.seq <= after)
        new = read_passages(connection, stream, after, self.model, self.dimension)
        whole = _extended(kept, new)
        missing = np.flatnonzero(~whole.meant)
        upto = int(whole.seq[-1]) if len(whole) else 0
        meant = int(whole.seq[missing[0]]) - 1 if len(missing) else upto
        self._rooms[stream] = _Held(passages=whole, changed=changed, upto=upto, meant=meant)
        self._let_go()
        return whole

    def _let_go(self) -> None:
        total = sum(held.passages.nbytes for held in self._rooms.values())
        while self._rooms and total > self._most:
            _, held = self._rooms.popitem(last=False)
            total -= held.passages.nbytes


def _extended(kept: Passages, new: Passages) -> Passages:
    """What was held and what came after it."""
    if not len(new):
        return kept
    both = joined([kept, new]) if len(kept) else new
    return replace(both, room=np.zeros(len(both), np.int32), talk=_talks(both.at))
