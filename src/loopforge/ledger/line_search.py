"""Finding lines of a room by their words.

A line is found when every word of the search stands somewhere in what people see of it, whatever
the case; `%` and `_` mean themselves. Both databases give the same answer because the comparing is
done here: their own ideas of upper and lower case differ.

A line that was edited is found by what it says now, one that was deleted not at all.

The database only says which lines may hold the longest word (search_index.py). Where a text is
ASCII alone its idea of case is ours; one with any other sign may always hold it.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy.engine import Connection

from loopforge.core.events import Event
from loopforge.core.room_vocabulary import LineEdited
from loopforge.ledger.database.table_schema import events
from loopforge.ledger.erasure.quote_matching import fold_for_search
from loopforge.ledger.search_index import BITS, bits_of, searchable_texts
from loopforge.ledger.storage.revised_lines import apply_revisions, events_by_id
from loopforge.ledger.storage.row_codec import events_of, sql_placeholder

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
