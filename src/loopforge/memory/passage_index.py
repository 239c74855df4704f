"""The index of the transcript: a view of the ledger with one row for each passage of each line.

    Heard, Said   ->  its passages: who, when, and the numbers of its words
    LineEdited    ->  those of what it says now
    LineDeleted   ->  gone
    Erased        ->  gone, in the same transaction, with their vectors
    MemoryKept, MemoryCorrected  ->  those of an item of memory, by what it says now, likewise

A line whose words were forgotten keeps its place as long as it is not deleted: what it was edited
to, or will be, is no less to be found.

Vectors come later (passage_embedding.py), into a table beside it that no event fills; a passage
that goes takes its vector along. Rows are only ever found by their room: who searches reads the
rooms that may be used and ranks what is there (passage_loading.py), so that nothing here holds
words of all rooms in one piece, and what was forgotten is in no segment, log or list of words.

Does not know who may read what.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
    delete,
    false,
    select,
)
from sqlalchemy.engine import Connection

from loopforge.core.events import Erased, Event, epoch_micros, from_epoch_micros
from loopforge.core.memory.memory_vocabulary import MemoryCorrected, MemoryKept
from loopforge.core.room_vocabulary import Heard, LineDeleted, LineEdited, RoomClosed, Said
from loopforge.core.text.erasable_text import Words
from loopforge.ledger.database.table_schema import (
    FILLED_LATER,
    Name,
    metadata,
    name_columns,
    number_columns,
)
from loopforge.memory.passages import (
    bag_of_words,
    date_words,
    pack_bag,
    passage_traits,
    search_stems,
    split_passages,
)

passages = Table(
    "passages",
    metadata,
    Column("stream", Name, nullable=False),
    Column("seq", BigInteger, nullable=False, autoincrement=False),
    Column("nth", BigInteger, nullable=False, autoincrement=False),
    *name_columns("line", "ref"),
    Column("at", BigInteger, nullable=False),
    Column("speaker", Name, nullable=False),
    *number_columns("size", "traits"),
    Column("words", LargeBinary, nullable=False),
    PrimaryKeyConstraint("stream", "seq", "nth", name="passages_place"),
    Index("passages_line", "line"),
    Index("passages_ref", "ref"),
)
forgotten = Table(
    "forgotten_lines",
    metadata,
    Column("stream", Name, nullable=False),
    Column("seq", BigInteger, nullable=False, autoincrement=False),
    Column("line", Name, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("speaker", Name, nullable=False),
    PrimaryKeyConstraint("line", name="forgotten_lines_line"),
    Index("forgotten_lines_stream", "stream"),
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
SPOKEN = frozenset({"room.heard", "room.said"})
ITEMS = frozenset({"memory.kept", "memory.corrected"})
CHANGING = frozenset({"room.line_edited", "room.line_deleted", "room.closed", "ledger.erased"})


Row = dict[str, Any]
"""Of one of these tables: of `passages` where it has an `nth`, else of `forgotten`."""
TakeOut = Callable[[str, Sequence[int]], None]
"""Told of a room's lines that go or change, in the transaction in which they do."""

_INSERT, _FORGET = passages.insert(), forgotten.insert()
_PLACE = ("stream", "seq", "line", "at", "speaker")
"""What stands in both tables."""


class TranscriptIndex:
    """The view. `take_out` is told of what is to go from wherever else passages are kept."""

    name = "transcript"
    version = 5
    kinds = SPOKEN | ITEMS | CHANGING
    tables = (passages, forgotten, vectors, changes)
    holds_texts = False

    def __init__(self, take_out: TakeOut | None = None) -> None:
        self._take_out = take_out

    def apply(self, connection: Connection, events: Sequence[Event]) -> None:
        """Take in lines, and what became of them."""
        new: list[Row] = []
        for event in events:
            body = event.body
            if isinstance(body, Heard | Said | MemoryKept):
                place = (event.stream, event.seq, event.id, epoch_micros(event.at), speaker(body))
                new += _rows(dict(zip(_PLACE, place, strict=True)), body.text)
                continue
            _insert(connection, new)
            new = []
            self._change(connection, event)
        _insert(connection, new)

    def _change(self, connection: Connection, event: Event) -> None:
        """A line was edited or deleted, texts were forgotten, or the room is no more."""
        match event.body:
            case LineEdited(line=line) | MemoryCorrected(item=line) | LineDeleted(line=line):
                gone, blank = passages.c.line == line, forgotten.c.line == line
            case RoomClosed():
                gone = passages.c.stream == event.stream
                blank = forgotten.c.stream == event.stream
            case Erased(refs=refs):
                gone, blank = passages.c.ref.in_(refs), false()
            case _:
                raise AssertionError(event.kind)
        found = [*_places(connection, passages, gone), *_places(connection, forgotten, blank)]
        lines: dict[str, list[int]] = {}
        for place in found:
            lines.setdefault(place["stream"], []).append(place["seq"])
        for stream, mine in lines.items():
            # In this order: who writes a segment holds this table while it looks and takes it in.
            _count(connection, stream, {seq // PART for seq in mine})
            if self._take_out is not None:
                self._take_out(stream, mine)
        connection.execute(delete(passages).where(gone))
        connection.execute(delete(forgotten).where(blank))
        match event.body:
            case LineEdited(text=text) | MemoryCorrected(text=text):
                _insert(connection, [row for place in found for row in _rows(place, text)])
            case Erased():
                _insert(connection, found)


def speaker(body: Heard | Said | MemoryKept) -> str:
    """Who said a line, or what an item rests on: person:ID or mate:HANDLE; "" if nobody did."""
    if isinstance(body, MemoryKept):
        return f"person:{body.told_by}" if body.told_by else ""
    return f"person:{body.person}" if isinstance(body, Heard) else f"mate:{body.mate}"


def _rows(place: Row, text: Words) -> Iterator[Row]:
    """The rows of a line's passages; its place alone where its words are forgotten."""
    if text.text is None:
        yield place
        return
    when = [*date_words(from_epoch_micros(place["at"]))]
    for nth, piece in enumerate(split_passages(text.text)):
        yield place | {
            "nth": nth,
            "ref": "" if text.public else text.ref,
            "size": len(piece.split()),
            "traits": passage_traits(piece),
            "words": pack_bag(bag_of_words([*search_stems(piece), *when])),
        }


def _places(connection: Connection, table: Table, where: ColumnElement[bool]) -> list[Row]:
    """Where the lines of these rows stand."""
    query = select(*(table.c[name] for name in _PLACE)).where(where).distinct()
    return [dict(row) for row in connection.execute(query).mappings()]


def _insert(connection: Connection, rows: Sequence[Row]) -> None:
    if said := [row for row in rows if "nth" in row]:
        connection.execute(_INSERT, said)
    if unsaid := [row for row in rows if "nth" not in row]:
        connection.execute(_FORGET, unsaid)


def _count(connection: Connection, stream: str, parts: Iterable[int]) -> None:
    """Something in these parts of a room was changed or taken away."""
    for part in sorted(parts):
        here = (changes.c.stream == stream) & (changes.c.part == part)
        count = connection.execute(select(changes.c.count).where(here)).scalar()
        if count is None:
            connection.execute(changes.insert().values(stream=stream, part=part, count=1))
        else:
            connection.execute(changes.update().where(here).values(count=count + 1))
