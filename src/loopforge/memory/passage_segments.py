"""Segments: passages in files that are mapped, for homes of hundreds of thousands of lines.

A segment holds blocks, each some passages of one room in a row, and beside the arrays of
passage_arrays.py two indexes: the signs of all vectors, a bit a number, and for each word the
passages that hold it. Nothing stands in a segment that could not be made again from the index's
tables, and none is ever changed: what is forgotten or edited takes the whole file along, in the
transaction in which it goes from the tables; until another is made, its passages are read from
there. A block is only used while the tables say that nothing in its room's stretch was changed
since (`stamp`), whoever did it and whenever.

    length of the head (8 bytes), the head as JSON, the arrays, each at a multiple of 64 bytes
"""

from __future__ import annotations

import logging
import mmap
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from msgspec import Struct

from loopforge.memory.passage_arrays import EACH, WORDS, Passages
from loopforge.memory.passage_index import PART

if TYPE_CHECKING:
    from numpy.typing import NDArray

log = logging.getLogger(__name__)
FORM = 2
"""To be raised when the form of the file changes, or lines are cut otherwise: older ones are then
made anew."""
SUFFIX, ASIDE = ".passages", ".writing"
ALIGNED = 64
Stamps = Mapping[int, int]
"""How often passages in each part of a room were changed or taken away; 0 for those not named."""


class SegmentBlock(Struct, frozen=True, kw_only=True):
    """Passages of a room in a row: rows `since` to before `until`, of its lines `first` to `last`.

    `line` is the id of the first, by which another ledger's room of the same name is known.
    """

    stream: str
    since: int
    until: int
    first: int
    last: int
    line: str
    stamp: dict[int, int]

    def stands(self, now: Stamps) -> bool:
        """Whether nothing of it was changed since."""
        parts = range(self.first // PART, self.last // PART + 1)
        return all(now.get(part, 0) == self.stamp.get(part, 0) for part in parts)


class SegmentHead(Struct, frozen=True, kw_only=True):
    """What stands at the beginning: whose vectors, its blocks, and where each array is."""

    form: int
    model: str
    blocks: list[SegmentBlock]
    arrays: dict[str, tuple[str, int, list[int]]]


class Segment:
    """A file of them, mapped when something of it is first looked at."""

    def __init__(self, path: Path, head: SegmentHead, start: int) -> None:
        self.path, self.head, self._start = path, head, start

    @cached_property
    def _bytes(self) -> mmap.mmap:
        with self.path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def array(self, name: str) -> NDArray[Any]:
        """One of its arrays, which may only be read."""
        kind, at, shape = self.head.arrays[name]
        count = int(np.prod(shape, dtype=np.int64))
        found = np.frombuffer(self._bytes, np.dtype(kind), count, self._start + at)
        return found.reshape(shape)

    @cached_property
    def passages(self) -> Passages:
        """Its passages, of all blocks."""
        here = {name: self.array(name) for name in (*EACH, *WORDS) if name in self.head.arrays}
        count = len(here["seq"])
        return Passages(
            room=np.zeros(count, np.int32), former=np.zeros((count, 0), np.int8), **here
        )

    @cached_property
    def signs(self) -> NDArray[np.uint64]:
        """The signs of vectors: for every 64 numbers a row, with one entry a passage."""
        return self.array("signs")

    @cached_property
    def words(self) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.uint32]]:
        """All words by number, where the passages of each begin, and their rows, in order."""
        return self.array("word"), self.array("begins"), self.array("holder")


def signs_of(vectors: NDArray[np.int8]) -> NDArray[np.uint64]:
    """As `Segment.signs` has them."""
    packed = np.packbits(vectors > 0, axis=1)
    short = -packed.shape[1] % 8
    whole = np.pad(packed, ((0, 0), (0, short))) if short else packed
    return np.ascontiguousarray(np.ascontiguousarray(whole).view(np.uint64).T)


def _arrays(found: Passages) -> dict[str, NDArray[Any]]:
    rows = np.repeat(np.arange(len(found), dtype=np.uint32), np.diff(found.starts))
    order = np.argsort(found.number, kind="stable")
    word, begins = np.unique(found.number[order], return_index=True)
    each = {
        name: getattr(found, name) for name in (*EACH, *WORDS) if name not in ("room", "former")
    }
    return each | {
        "signs": signs_of(found.vector),
        "word": word,
        "begins": np.append(begins, len(order)).astype(np.int64),
        "holder": rows[order],
    }


def written(path: Path, model: str, blocks: list[SegmentBlock], found: Passages) -> None:
    """Write a segment of these passages, whole or not at all."""
    arrays = {name: np.ascontiguousarray(each) for name, each in _arrays(found).items()}
    at, places = 0, {}
    for name, each in arrays.items():
        places[name] = (each.dtype.str, at, list(each.shape))
        at += each.nbytes + -each.nbytes % ALIGNED
    head = msgspec.json.encode(SegmentHead(form=FORM, model=model, blocks=blocks, arrays=places))
    head += b" " * (-(8 + len(head)) % ALIGNED)
    with path.open("wb") as file:
        file.write(len(head).to_bytes(8, "little") + head)
        for each in arrays.values():
            file.write(each.tobytes() + bytes(-each.nbytes % ALIGNED))


def _opened(path: Path) -> Segment | None:
    """The segment in a file; None for what is none of today's form."""
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            raw = file.read(length) if length < path.stat().st_size else b""
        head = msgspec.json.decode(raw, type=SegmentHead)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return Segment(path, head, 8 + length) if head.form == FORM else None


class SegmentStore:
    """The segments of a home, in a folder of their own. May be used from several threads."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._lock = folder, threading.RLock()
        self._there: dict[str, Segment] = {}
        self._seen = 0

    def all(self, *, look: bool = False) -> list[Segment]:
        """Those that are there now, also by other processes; `look`: to the very last moment."""
        with self._lock:
            if not self._folder.is_dir():
                self._there.clear()
                return []
            changed = self._folder.stat().st_mtime_ns
            if look or changed != self._seen:
                names = {path.name: path for path in self._folder.glob(f"*{SUFFIX}")}
                kept = {name: each for name, each in self._there.items() if name in names}
                for name in sorted(names.keys() - kept.keys()):
                    if (found := _opened(names[name])) is None:
                        names[name].unlink(missing_ok=True)
                    else:
                        kept[name] = found
                self._there, self._seen = kept, changed
            return list(self._there.values())

    def blocks(self, streams: Sequence[str]) -> dict[str, list[tuple[Segment, SegmentBlock]]]:
        """The blocks of rooms, each room's in the order of its lines."""
        wanted = set(streams)
        found: dict[str, list[tuple[Segment, SegmentBlock]]] = {}
        for segment in self.all():
            for block in segment.head.blocks:
                if block.stream in wanted:
                    found.setdefault(block.stream, []).append((segment, block))
        for mine in found.values():
            mine.sort(key=lambda each: each[1].first)
        return found

    def take_out(self, stream: str, lines: Sequence[int]) -> None:
        """Something of these lines goes: so do the files that hold it, at once."""
        self.drop_unfinished()
        for segment in self.all(look=True):
            for block in segment.head.blocks:
                here = block.stream == stream
                if here and any(block.first <= seq <= block.last for seq in lines):
                    self.drop(segment)

    def drop_unfinished(self) -> None:
        """Delete what was written aside; if that is still under way, it is written once more."""
        for aside in self._folder.glob(f"*{ASIDE}"):
            aside.unlink(missing_ok=True)

    def drop(self, segment: Segment) -> None:
        """Delete a file. Who is still reading it reads on."""
        with self._lock:
            if self._there.pop(segment.path.name, None) is not None:
                segment.path.unlink(missing_ok=True)

    def write(self, model: str, blocks: list[SegmentBlock], found: Passages) -> Path:
        """Write a segment of these passages aside; it is none before it is taken in."""
        self._folder.mkdir(parents=True, exist_ok=True)
        name = f"{blocks[0].line}-{blocks[0].first}-{len(found)}"
        written(aside := self._folder / f"{name}{ASIDE}", model, blocks, found)
        return aside

    def take_in(self, aside: Path, *, still: bool) -> bool:
        """What was written is a segment from now on, if it is `still` what the tables hold.

        The same may be asked again, where the transaction was taken back: as far as it came, it is
        done. Whether there is a segment now.
        """
        path = aside.with_suffix(SUFFIX)
        with self._lock:
            if still:
                with suppress(FileNotFoundError):
                    aside.replace(path)
                self._there.pop(path.name, None)
                self._seen = 0
            else:
                aside.unlink(missing_ok=True)
        return still and path.exists()

    def stale(self, stamps: Mapping[str, Stamps]) -> Iterator[Segment]:
        """Those of which something was changed since, by the stamps of all rooms."""
        for segment in self.all():
            if not all(block.stands(stamps.get(block.stream, {})) for block in segment.head.blocks):
                yield segment
