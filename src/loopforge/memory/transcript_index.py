"""The index of the transcript: a view of the ledger with one row for each passage of each line.

    Heard, Said   ->  its passages: who, when, and the numbers of its words
    LineEdited    ->  those of what it says now
    LineDeleted   ->  gone
    Erased        ->  gone, in the same transaction, with their vectors
    MemoryKept, MemoryCorrected  ->  those of an item of memory, by what it says now, likewise

Vectors come later (passage_vectors.py), into a table beside it that no event fills; a passage that
goes takes its vector along. Rows are only ever found by their room: who searches reads the rooms
that may be used and ranks what is there (room_passages.py), so that nothing here holds words of all
rooms in one piece, and what was forgotten is in no segment, log or list of words.

Does not know who may read what.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
    delete,
    select,
)
from sqlalchemy.engine import Connection

from loopforge.core.events import Erased, Event, micros, moment
from loopforge.core.memory.memory_vocabulary import MemoryCorrected, MemoryKept
from loopforge.core.room_vocabulary import Heard, LineDeleted, LineEdited, RoomClosed, Said
from loopforge.core.text.erasable_text import Words
from loopforge.ledger.database.table_schema import FILLED_LATER, Name, metadata
from loopforge.memory.passages import bag, dated, packed, pieces, stems, traits

passages = Table(
    "passages",
    metadata,
    Column("stream", Name, nullable=False),
    Column("seq", BigInteger, nullable=False, autoincrement=False),
    Column("nth", BigInteger, nullable=False, autoincrement=False),
    Column("line", Name, nullable=False),
    Column("ref", Name, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("speaker", Name, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("traits", BigInteger, nullable=False),
    Column("words", LargeBinary, nullable=False),
    PrimaryKeyConstraint("stream", "seq", "nth", name="passages_place"),
    Index("passages_line", "line"),
    Index("passages_ref", "ref"),
)
vectors = Table(
    "passage_vectors",
    metadata,
    Column("stream", Name, nullable=False),
    Column("seq", BigInteger, nullable=False, autoincrement=False),
    Column("nth", BigInteger, nullable=False, autoincrement=False),
    Column("model", Name, nullable=False),
    Column("vector", LargeBinary, nullable=False),
    PrimaryKeyConstraint("stream", "seq", "nth", name="passage_vectors_place"),
    ForeignKeyConstraint(
        ["stream", "seq", "nth"],
        ["passages.stream", "passages.seq", "passages.nth"],
        name="passage_vectors_passage",
        ondelete="CASCADE",
    ),
    info={FILLED_LATER: True},
)
changes = Table(
    "passage_changes",
    metadata,
    Column("stream", Name, nullable=False),
    Column("part", BigInteger, nullable=False, autoincrement=False),
    Column("count", BigInteger, nullable=False),
    PrimaryKeyConstraint("stream", "part", name="passage_changes_place"),
    info={FILLED_LATER: True},  # of a text that is forgotten no event tells where it stood
)
"""How often passages of each PART lines were changed or taken away: who holds them, in memory or in
a file, reads them anew."""
PART = 4_096
"""Lines of a room that have one count together."""
TakeOut = Callable[[str, Sequence[int]], None]
"""Told of a room's lines that go or change, in the transaction in which they do."""

_INSERT = passages.insert()
SPOKEN = frozenset({"room.heard", "room.said"})
ITEMS = frozenset({"memory.kept", "memory.corrected"})
CHANGING = frozenset({"room.line_edited", "room.line_deleted", "room.closed", "ledger.erased"})


class TranscriptIndex:
    """The view. `take_out` is told of what is to go from wherever else passages are kept."""

    name = "transcript"
    version = 4
    kinds = SPOKEN | ITEMS | CHANGING
    tables = (passages, vectors, changes)
    holds_texts = False

    def __init__(self, take_out: TakeOut | None = None) -> None:
        self._take_out = take_out

    def apply(self, connection: Connection, events: Sequence[Event]) -> None:
        """Take in lines, and what became of them."""
        new: list[dict[str, Any]] = []
        for event in events:
            body = event.body
            if isinstance(body, Heard | Said | MemoryKept):
                new += _rows(event.stream, event.seq, event.id, event.at, speaker(body), body.text)
                continue
            _insert(connection, new)
            new = []
            self._change(connection, event)
        _insert(connection, new)

    def _change(self, connection: Connection, event: Event) -> None:
        """A line was edited or deleted, texts were forgotten, or the room is no more."""
        new: list[dict[str, Any]] = []
        match event.body:
            case LineEdited(line=line, text=text) | MemoryCorrected(item=line, text=text):
                gone = passages.c.line == line
                was = connection.execute(select(passages).where(gone)).first()
                if was is not None:
                    place = was.stream, was.seq, line, moment(was.at), was.speaker
                    new = list(_rows(*place, text))
            case LineDeleted(line=line):
                gone = passages.c.line == line
            case RoomClosed():
                gone = passages.c.stream == event.stream
            case Erased(refs=refs):
                gone = passages.c.ref.in_(refs)
            case _:
                raise AssertionError(event.kind)
        places = select(passages.c.stream, passages.c.seq).where(gone).distinct()
        lines: dict[str, list[int]] = {}
        for stream, seq in connection.execute(places):
            lines.setdefault(stream, []).append(seq)
        for stream, mine in lines.items():
            # In this order: who writes a segment holds this table while it looks and takes it in.
            _count(connection, stream, {seq // PART for seq in mine})
            if self._take_out is not None:
                self._take_out(stream, mine)
        if lines and isinstance(event.body, Erased) and connection.dialect.name != "sqlite":
            from loopforge.memory.candidates.pgvector_index import drop_graphs

            drop_graphs(connection)
        connection.execute(delete(passages).where(gone))
        _insert(connection, new)


def speaker(body: Heard | Said | MemoryKept) -> str:
    """Who said a line, or what an item rests on: person:ID or mate:HANDLE; "" if nobody did."""
    if isinstance(body, MemoryKept):
        return f"person:{body.told_by}" if body.told_by else ""
    return f"person:{body.person}" if isinstance(body, Heard) else f"mate:{body.mate}"


def _rows(
    stream: str, seq: int, line: str, at: datetime, who: str, text: Words
) -> Iterator[dict[str, Any]]:
    if text.text is None:
        return
    for nth, piece in enumerate(pieces(text.text)):
        yield {
            "stream": stream,
            "seq": seq,
            "nth": nth,
            "line": line,
            "ref": "" if text.public else text.ref,
            "at": micros(at),
            "speaker": who,
            "size": len(piece.split()),
            "traits": traits(piece),
            "words": packed(bag([*stems(piece), *dated(at)])),
        }


def _insert(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    if rows:
        connection.execute(_INSERT, rows)


def _count(connection: Connection, stream: str, parts: Iterable[int]) -> None:
    """Something in these parts of a room was changed or taken away."""
    for part in sorted(parts):
        here = (changes.c.stream == stream) & (changes.c.part == part)
        count = connection.execute(select(changes.c.count).where(here)).scalar()
        if count is None:
            connection.execute(changes.insert().values(stream=stream, part=part, count=1))
        else:
            connection.execute(changes.update().where(here).values(count=count + 1))
