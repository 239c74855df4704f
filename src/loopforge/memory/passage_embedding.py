"""Vectors of passages, made beside the talk: no line and no reply ever waits for one.

Whenever lines come or change, what has no vector of today's model is given one, some at a time;
so is, once after a start, whatever has none in any room. After a failure it waits and tries again;
where another model is set, every vector is made anew, and until then the old ones serve. A passage
that is forgotten while its vector is made gets none: writing it looks whether it is still there.
Where there are very many passages, they are then put into segments (segment_packing.py), or the
database makes indexes of its own (candidates/pgvector_index.py).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from sqlalchemy import delete, select
from sqlalchemy.engine import Connection

from loopforge.core.events import Event
from loopforge.core.memory.memory_vocabulary import PREFIX, MemoryCorrected
from loopforge.core.room_vocabulary import Heard, LineEdited, Said
from loopforge.errors import LoopforgeError, NotInstalled
from loopforge.ledger.storage.revised_lines import apply_revisions, events_by_id
from loopforge.memory.memory_view import current_wordings
from loopforge.memory.passage_index import CHANGING, ITEMS, SPOKEN, passages, vectors
from loopforge.memory.passages import split_passages
from loopforge.runtime.ports import Clock, Embeddings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from loopforge.ledger.sql_ledger import SqlLedger
    from loopforge.memory.passage_segments import SegmentBlock, SegmentStore
    from loopforge.memory.segment_packing import PackedSegment

log = logging.getLogger(__name__)
T = TypeVar("T")
BATCH = 64
"""Passages whose vectors are made at once: a second of a small model's time."""
LULL, PATIENCE = 20.0, 240.0
"""Seconds without a line after which vectors are made: who has just said one is to be answered
first. Where people never pause so long, vectors are made all the same after the latter."""
PAUSE = 60.0
"""Seconds to wait after a failure."""


class PassageIndex(Protocol):
    """Indexes by which a database itself finds passages, so that there are no segments."""

    async def made(self, model: str, dimension: int) -> bool:
        """Make what is wanting, for vectors of this model; False where it cannot.

        Raises LedgerError; then it is to be asked again.
        """


class _Piece(NamedTuple):
    """A passage that is to have a vector, and what it says."""

    stream: str
    seq: int
    nth: int
    ref: str
    text: str


class PassageVectors:
    """Makes what vectors are wanting. `soon` may be called at any time; `run` does the work.

    `embeddings` gives those of today; NotInstalled where there are none. `index` is what the
    database has of its own.
    """

    def __init__(
        self,
        ledger: SqlLedger,
        embeddings: Callable[[], Embeddings],
        store: Callable[[], SegmentStore],
        clock: Clock,
        index: PassageIndex | None = None,
    ) -> None:
        self._ledger, self._embeddings, self._clock = ledger, embeddings, clock
        self._store, self._index = store, index
        self._all, self._stale = True, False
        self._from: dict[str, int] = {}
        self._spoken = -LULL
        self._wanted = asyncio.Event()
        ledger.subscribe(self._follow, streams="room:", kinds=SPOKEN | {"room.line_edited"})
        ledger.subscribe(self._follow, streams=PREFIX, kinds=ITEMS)
        ledger.subscribe(self._changed, kinds=CHANGING)

    def _follow(self, stream: str, events: Sequence[Event]) -> None:
        self._spoken = self._clock.ticks()
        edited = any(isinstance(event.body, LineEdited | MemoryCorrected) for event in events)
        self.soon(stream, 0 if edited else events[0].seq)

    def _changed(self, _stream: str, _events: Sequence[Event]) -> None:
        self._stale = True
        self._wanted.set()

    def soon(self, stream: str, seq: int) -> None:
        """From this line of the room on there may be passages without a vector."""
        self._from[stream] = min(seq, self._from.get(stream, seq))
        self._wanted.set()

    def everything(self) -> None:
        """Vectors may be wanting anywhere, since another model was set."""
        self._all = True
        self._wanted.set()

    async def anew(self) -> None:
        """There may be passages without a vector anywhere: at a start, or for another model."""
        for prefix in ("room:", PREFIX):
            for stream in await self._ledger.heads(prefix):
                self.soon(stream, 0)

    async def run(self) -> None:
        """Fill in idle time, until cancelled."""
        self._wanted.set()
        while True:
            await self._wanted.wait()
            try:
                if self._all:
                    await self.anew()
                    self._all = False
                if self._stale:
                    self._stale = False
                    await self.tidy()
                await self._quiet()
                try:
                    await self.fill()
                except NotInstalled as error:
                    log.info("What was said is found by words alone. %s", error)
                    self._from.clear()
                    self._wanted.clear()
                await self.pack()
            except Exception as error:
                told = isinstance(error, (LoopforgeError, OSError))
                why = "Vectors of what was said are made later. %s"
                log.warning(why, error, exc_info=None if told else error)
                await self._clock.sleep(PAUSE)

    async def _quiet(self) -> None:
        """Return when nothing was said for LULL, at the latest after PATIENCE."""
        wait, until = LULL, self._clock.ticks() + PATIENCE
        while wait > 0:
            await self._clock.sleep(wait)
            now = self._clock.ticks()
            wait = min(self._spoken + LULL, until) - now

    async def fill(self) -> int:
        """Make all that are known to be wanting; how many. Raises ModelError, LedgerError."""
        many = 0
        while self._from:
            stream, seq = next(iter(self._from.items()))
            del self._from[stream]
            try:
                many += await self._fill_room(stream, seq)
            except BaseException:
                self.soon(stream, seq)
                raise
        self._wanted.clear()
        return many

    async def tidy(self) -> None:
        """Take out segments that hold what is no more, by whatever process it was changed."""
        await self._ledger.look(partial(_tidied, store=self._store, space=self._space()))

    async def pack(self, full: int | None = None) -> int:
        """Put passages into segments, where there are `full` (some thousands) that are in none.

        Where the database has indexes of its own, those are seen to, and there are no segments.

        Gives how many segments there are more.
        """
        many, space = 0, self._space()
        if self._index is not None and await self._index.made(*space):
            return 0
        await self.tidy()
        following = partial(_next, store=self._store, space=space, full=full)
        while packed := await self._ledger.look(following):
            aside = await asyncio.to_thread(self._store().write, *packed)
            work = partial(_taken, store=self._store, aside=aside, blocks=packed.blocks)
            many += await self._ledger.change(work)
        return many

    def _space(self) -> tuple[str, int]:
        try:
            embeddings = self._embeddings()
        except NotInstalled:
            return "", 0
        return embeddings.name, embeddings.dimension

    async def _fill_room(self, stream: str, seq: int) -> int:
        many, place = 0, (seq, -1)
        while True:
            embeddings = self._embeddings()
            work = partial(_wanting, stream=stream, model=embeddings.name, after=place)
            if not (wanting := await self._ledger.look(work)):
                break
            found = await embeddings.vectors([piece.text for piece in wanting])
            keep = partial(_write, model=embeddings.name, done=wanting, found=found)
            many += await self._ledger.change(keep)
            place = wanting[-1].seq, wanting[-1].nth
        return many


def _wanting(
    connection: Connection, stream: str, model: str, after: tuple[int, int]
) -> list[_Piece]:
    """Passages of a room after a place that have no vector of this model."""
    one, (seq, nth) = passages.c, after
    there = (vectors.c.stream == one.stream) & (vectors.c.seq == one.seq)
    there &= (vectors.c.nth == one.nth) & (vectors.c.model == model)
    query = (
        select(one.seq, one.nth, one.line, one.ref)
        .select_from(passages.outerjoin(vectors, there))
        .where(one.stream == stream, vectors.c.model.is_(None))
        .where((one.seq > seq) | ((one.seq == seq) & (one.nth > nth)))
        .order_by(one.seq, one.nth)
        .limit(BATCH)
    )
    rows = connection.execute(query).all()
    lines = apply_revisions(connection, events_by_id(connection, {row.line for row in rows}))
    said = {
        line.id: split_passages(line.body.text.text or "")
        for line in lines
        if isinstance(line.body, Heard | Said)
    }
    if stream.startswith(PREFIX):
        items = current_wordings(connection, {row.line for row in rows})
        said = {item: split_passages(text) for item, text in items.items()}
    return [
        _Piece(stream, row.seq, row.nth, row.ref, text)
        for row in rows
        for text in said.get(row.line, ())[row.nth : row.nth + 1]
    ]


def _write(
    connection: Connection, model: str, done: Sequence[_Piece], found: NDArray[np.float32]
) -> int:
    """Keep them, of passages that still say the same; how many."""
    from loopforge.memory.passage_ranking import quantize_vectors

    rows = []
    for piece, vector in zip(done, quantize_vectors(found), strict=True):
        place = (piece.stream, piece.seq, piece.nth)
        at = dict(zip(("stream", "seq", "nth"), place, strict=True))
        mine = [getattr(passages.c, name) == value for name, value in at.items()]
        ref = connection.execute(select(passages.c.ref).where(*mine)).scalar()
        was = [getattr(vectors.c, name) == value for name, value in at.items()]
        connection.execute(delete(vectors).where(*was))
        if ref == piece.ref:
            rows.append(at | {"model": model, "vector": vector.tobytes()})
    if rows:
        connection.execute(vectors.insert(), rows)
    return len(rows)


# Numbers are only loaded where there are segments to be made, or looked through.


def _tidied(
    connection: Connection, store: Callable[[], SegmentStore], space: tuple[str, int]
) -> None:
    from loopforge.memory.segment_packing import drop_stale_segments

    drop_stale_segments(connection, store(), space[0])


def _next(
    connection: Connection,
    store: Callable[[], SegmentStore],
    space: tuple[str, int],
    full: int | None,
) -> PackedSegment | None:
    from loopforge.memory.segment_packing import FULL, next_packed

    return next_packed(connection, store(), *space, full or FULL)


def _taken(
    connection: Connection,
    store: Callable[[], SegmentStore],
    aside: Path,
    blocks: list[SegmentBlock],
) -> bool:
    from loopforge.memory.segment_packing import commit_segment

    return commit_segment(connection, store(), aside, blocks)
