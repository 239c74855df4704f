"""Passages as arrays: those of one room or of many, in the order in which they were said.

They come out of tables (passage_loading.py) or out of mapped files (passage_segments.py), and are
ranked without asking which (passage_ranking.py). Slices share memory with what they were cut from,
so that of a mapped file only what is looked at is read. Pure arithmetic; knows no tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from loopforge.memory.passages import hash_stem

if TYPE_CHECKING:
    from numpy.typing import NDArray

APART = 3_600 * 1_000_000
"""Microseconds of silence after which another talk begins."""
WORDS = ("starts", "number", "often")
"""The arrays that do not have one entry for each passage."""


@dataclass(frozen=True, kw_only=True)
class Passages:
    """n passages. The words of all stand one after another.

    `starts` (n + 1) says where those of each begin; `number` and `often` are a word's number and
    count. `speaker` is the number of the speaker's name (`passages.hash_stem`). `vector` is
    n x dimension, in int8; `meant`: there is one (else it is all 0). `former` are vectors of the
    model that was in use before, of those that have none of today's.
    """

    room: NDArray[np.int32]
    seq: NDArray[np.int64]
    nth: NDArray[np.int32]
    at: NDArray[np.int64]
    speaker: NDArray[np.uint32]
    size: NDArray[np.int32]
    traits: NDArray[np.int32]
    starts: NDArray[np.int64]
    number: NDArray[np.uint32]
    often: NDArray[np.uint8]
    meant: NDArray[np.bool_]
    vector: NDArray[np.int8]
    former: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.seq)

    @property
    def nbytes(self) -> int:
        """Memory that the arrays take."""
        return int(sum(getattr(self, field.name).nbytes for field in fields(self)))

    def cut(self, since: int, until: int) -> Passages:
        """Those from one place to before another; shares their memory."""
        first, last = int(self.starts[since]), int(self.starts[until])
        each = {name: getattr(self, name)[since:until] for name in EACH}
        starts = self.starts[since : until + 1] - first
        numbers, counts = self.number[first:last], self.often[first:last]
        return Passages(**each, starts=starts, number=numbers, often=counts)

    def only(self, rows: NDArray[np.int64]) -> Passages:
        """Those at these places, in that order."""
        begin, many = self.starts[rows], np.diff(self.starts)[rows]
        starts = np.concatenate([[0], np.cumsum(many)])
        places = np.arange(int(starts[-1])) + np.repeat(begin - starts[:-1], many)
        each = {name: getattr(self, name)[rows] for name in EACH}
        return Passages(**each, starts=starts, number=self.number[places], often=self.often[places])

    def shown(self, dimension: int, former: int, *, today: bool | None) -> Passages:
        """The same with vectors of these lengths.

        Theirs are of today's model (`today`), of the former one (False), or of neither (None).
        """
        here = self.vector.shape[1]
        none: Any = np.broadcast_to(np.int8(0), (len(self), dimension))
        before: Any = np.broadcast_to(np.int8(0), (len(self), former))
        fits = today is True and here == dimension
        return replace(
            self,
            meant=self.meant if fits else np.zeros(len(self), bool),
            vector=self.vector if fits else none,
            former=self.vector if today is False and here == former else before,
        )

    def of(self, room: int) -> Passages:
        """The same, as those of the room with this number."""
        return replace(self, room=np.full(len(self), room, np.int32))


EACH = tuple(field.name for field in fields(Passages) if field.name not in WORDS)


def concatenate_passages(parts: Sequence[Passages]) -> Passages:
    """Passages one after another. All must have vectors of the same lengths."""
    if len(parts) == 1:
        return parts[0]
    each: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in (*EACH, "number", "often")
    }
    lengths = np.concatenate([np.diff(part.starts) for part in parts])
    return Passages(**each, starts=np.concatenate([[0], np.cumsum(lengths)]))


def talk_numbers(found: Passages) -> NDArray[np.int64]:
    """A number for each talk: one begins with a room, and after a long silence."""
    begins = (np.abs(np.diff(found.at)) > APART) | (np.diff(found.room) != 0)
    numbers: NDArray[np.int64] = np.zeros(len(found), np.int64)
    numbers[1:] = np.cumsum(begins)
    return numbers


def no_passages(dimension: int = 0, former: int = 0) -> Passages:
    """None at all."""
    return passages_of((), dimension, former)


def passages_of(rows: Sequence[Any], dimension: int, former: int = 0) -> Passages:
    """Rows of the index: seq, nth, at, speaker, size, traits, words, vector, old (a former one)."""
    many = [len(row.words) // 5 for row in rows]
    words = list(zip(rows, many, strict=True))
    return Passages(
        room=np.zeros(len(rows), np.int32),
        seq=np.array([row.seq for row in rows], np.int64),
        nth=np.array([row.nth for row in rows], np.int32),
        at=np.array([row.at for row in rows], np.int64),
        speaker=np.array([hash_stem(row.speaker) for row in rows], np.uint32),
        size=np.array([row.size for row in rows], np.int32),
        traits=np.array([row.traits for row in rows], np.int32),
        starts=np.concatenate([[0], np.cumsum(many, dtype=np.int64)]).astype(np.int64),
        number=np.frombuffer(b"".join(row.words[: 4 * n] for row, n in words), "<u4"),
        often=np.frombuffer(b"".join(row.words[4 * n :] for row, n in words), np.uint8),
        meant=np.array([row.vector is not None or not dimension for row in rows], bool),
        vector=_vectors([row.vector for row in rows], dimension),
        former=_vectors([row.old for row in rows], former),
    )


def _vectors(given: Sequence[bytes | None], dimension: int) -> NDArray[np.int8]:
    none = bytes(dimension)
    whole = b"".join(each if each and len(each) == dimension else none for each in given)
    return np.frombuffer(whole, np.int8).reshape(len(given), dimension)
