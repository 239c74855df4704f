"""The search index: for each text of a line, which groups of three letters may stand in it.

Every three bytes of a folded text set one of 252 bits; a text can hold a word only if it has all
of the word's bits. So the database passes over a room's lines without reading their texts, and the
index holds none of their words. What was forgotten is gone from it in the same transaction.

Does not cover words of one or two letters (they have no bits: every text may hold them).
"""

from collections.abc import Iterator, Sequence
from operator import or_

from sqlalchemy import BigInteger, Column, Index, PrimaryKeyConstraint, Table, delete
from sqlalchemy.engine import Connection

from loopforge.core.events import Erased, Event
from loopforge.core.room_vocabulary import ROOM_LINES, Heard, LineEdited, Said, Told
from loopforge.core.text.erasable_text import Words
from loopforge.ledger.database.row_insert import insert_rows
from loopforge.ledger.database.table_schema import Name, metadata
from loopforge.ledger.erasure.quote_matching import fold_for_search
from loopforge.ledger.storage.row_codec import sql_placeholder

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
