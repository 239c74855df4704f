"""Finding lines of a room by their words, and the index that makes it quick.

A line is found when every word of the search stands somewhere in what people see of it, whatever
the case; `%` and `_` mean themselves. Both databases give the same answer because the comparing is
done here: their own ideas of upper and lower case differ. A line that was edited is found by what
it says now, one that was deleted not at all.

The index (`SearchIndex`) says of each text of a line which groups of three letters may stand in it:
every three bytes of a folded text set one of 252 bits; a text can hold a word only if it has all of
the word's bits. So the database passes over a room's lines without reading their texts, and the
index holds none of their words. What was forgotten is gone from it in the same transaction. Words
of one or two letters have no bits: every text may hold them.
"""

from collections.abc import Iterator, Sequence
from operator import or_
from typing import Any

from sqlalchemy import BigInteger, Column, Index, PrimaryKeyConstraint, Table, delete
from sqlalchemy.engine import Connection

from loopforge.core.events import Erased, Event
from loopforge.core.room_vocabulary import ROOM_LINES, Heard, LineEdited, Said, Told
from loopforge.core.text.erasable_text import Words
from loopforge.ledger.database.row_insert import insert_rows
from loopforge.ledger.database.table_schema import Name, events, metadata
from loopforge.ledger.erasure.quote_matching import fold_for_search
from loopforge.ledger.storage.revised_lines import apply_revisions, events_by_id
from loopforge.ledger.storage.row_codec import events_of, sql_placeholder

SEARCHED = (*ROOM_LINES, "room.line_edited")
WIDE = 63
"""Bits of one column: what both databases hold in a whole number that is not negative."""
LONG = 4000
"""Bytes of a text from which on it is said to hold everything."""

trigrams = Table(
    "line_trigrams",
    metadata,
    Column("stream", Name, nullable=False),
    Column("seq", BigInteger, nullable=False, autoincrement=False),
    Column("ref", Name, nullable=False),
    *(Column(f"bits{n}", BigInteger, nullable=False) for n in range(4)),
    PrimaryKeyConstraint("stream", "seq", "ref", name="line_trigrams_place"),
    Index("line_trigrams_ref", "ref"),
    sqlite_with_rowid=False,
)
BITS = trigrams.c[-4:]
FULL = 2**WIDE - 1
NONE, ALL = (0,) * len(BITS), (FULL,) * len(BITS)
SHIFTS = tuple(range(0, WIDE * len(BITS), WIDE))
FLAG = b"1"
FLAGS = bytes(FLAG[0] if byte == FLAG[0] else ord("0") for byte in range(256))
"""What is no flag, as one that is not set. (The group of FLAG's own number always seems there.)"""


def bits_of(text: str) -> tuple[int, ...]:
    """The bits of a text or word, a column each."""
    whole = fold_for_search(text).encode("utf-8", "surrogatepass")
    many = len(whole) - 2
    if many < 1:
        return NONE
    if many > LONG:
        return ALL
    wide = bytearray(2 * len(whole))
    wide[::2] = whole
    one = int.from_bytes(wide, "little")  # all groups' numbers at once: 255 * 257 fits two bytes
    sums = 11 * one + 97 * (one >> 16) + 149 * (one >> 32)
    groups = sums.to_bytes(len(wide), "little")[: 2 * many : 2]
    found = int(bytes.maketrans(groups, FLAG * many).translate(FLAGS), 2)
    return tuple([found >> shift & FULL for shift in SHIFTS])


def searchable_texts(event: Event) -> Iterator[Words]:
    """The texts of a line that people see, or what it was changed to."""
    match event.body:
        case Heard(text=text, files=files) | Said(text=text, files=files):
            yield text
            for file in files:
                yield from (file.name, file.text)
        case Told(text=text) | LineEdited(text=text):
            yield text


class SearchIndex:
    """The view: one row for each text of a line."""

    name = "search"
    version = 3
    kinds = frozenset({*SEARCHED, "ledger.erased"})
    tables = (trigrams,)
    holds_texts = False

    def apply(self, connection: Connection, events: Sequence[Event]) -> None:
        """Take in lines, and let go of what was forgotten."""
        rows: dict[tuple[str, int, str], tuple[int, ...]] = {}
        for event in events:
            if isinstance(event.body, Erased):
                gone = event.body.refs
                rows = {place: bits for place, bits in rows.items() if place[2] not in gone}
                connection.execute(delete(trigrams).where(trigrams.c.ref.in_(gone)))
            for words in searchable_texts(event):
                if words.text:
                    place = (event.stream, event.seq, "" if words.public else words.ref)
                    bits = bits_of(words.text)
                    if place in rows:
                        bits = tuple(map(or_, rows[place], bits))
                    rows[place] = bits
        if rows:
            wanted = ", ".join([sql_placeholder(connection)] * len(trigrams.c))
            values = [(*place, *bits) for place, bits in rows.items()]
            insert_rows(connection, f"INSERT INTO line_trigrams VALUES ({wanted})", values)  # noqa: S608


PAGE = 500
"""Lines looked at before the next ones are read."""
LOOKED_FOR = 16
"""Signs of a word that the database looks for: at each place of a text it may compare them all."""


def search(connection: Connection, stream: str, words: str, limit: int) -> list[Event]:
    """Lines of a stream that hold all these words, newest first, as they stand now."""
    wanted, found = fold_for_search(words).split(), dict[str, Event]()
    if not wanted or not stream.isprintable():
        return []
    for event in _candidates(connection, stream, max(wanted, key=len)):
        text = fold_for_search("\n".join(part.text or "" for part in searchable_texts(event)))
        if all(word in text for word in wanted):
            found.setdefault(event.id, event)
            if len(found) == limit:
                break
    return sorted(found.values(), key=lambda event: -event.seq)


def _candidates(connection: Connection, stream: str, word: str) -> Iterator[Event]:
    """Lines that may hold the word, newest first; an edited one also where its edit stands."""
    one, (holds, holding) = sql_placeholder(connection), _holding(connection, word[:LOOKED_FOR])
    bits = [(column.name, bits) for column, bits in zip(BITS, bits_of(word), strict=True) if bits]
    having = "".join(f" AND {name} & {one} = {one}" for name, _ in bits)
    values = [value for _, bits in bits for value in (bits, bits)]
    query = (
        f"SELECT DISTINCT seq FROM line_trigrams i WHERE stream = {one} AND seq < {one}{having} "  # noqa: S608
        f"AND (ref = '' OR EXISTS (SELECT 1 FROM texts t WHERE t.ref = i.ref AND {holds})) "
        f"ORDER BY seq DESC LIMIT {PAGE}"
    )
    before = 2**62
    while True:
        found = (
            connection.exec_driver_sql(query, (stream, before, *values, *holding)).scalars().all()
        )
        yield from apply_revisions(
            connection, _lines(connection, _events(connection, stream, found))
        )
        if len(found) < PAGE:
            return
        before = found[-1]


def _events(connection: Connection, stream: str, numbers: Sequence[int]) -> list[Event]:
    place = events.c.stream == stream, events.c.seq.in_(numbers)
    rows = connection.execute(events.select().where(*place).order_by(events.c.seq.desc()))
    return events_of(connection, rows.all())


def _lines(connection: Connection, page: Sequence[Event]) -> list[Event]:
    """The lines that these events are, or have changed."""
    edited = {event.body.line for event in page if isinstance(event.body, LineEdited)}
    known = {event.id: event for event in events_by_id(connection, edited)} if edited else {}
    found = []
    for event in page:
        line = event
        if isinstance(event.body, LineEdited):
            if event.body.line not in known:
                continue
            line = known[event.body.line]
        found.append(line)
    return found


def _holding(connection: Connection, word: str) -> tuple[str, Sequence[Any]]:
    """The condition that a text may hold the word, and its values."""
    if not word.isascii():
        return "1 = 1", ()
    like = "%" + word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
    if connection.dialect.name == "sqlite":
        return "(t.text LIKE ? ESCAPE '\\' OR t.text GLOB '*[^ -~]*')", (like,)
    return "(t.text ILIKE %s ESCAPE '\\' OR t.text ~ '[^ -~]')", (like,)
