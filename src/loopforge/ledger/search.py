"""Finding lines of a room by their words.

A line is found when every word of the search stands somewhere in what people see of it, whatever
the case; `%` and `_` mean themselves. Both databases give the same answer because the comparing is
done here: their own ideas of upper and lower case differ.

The database only says which lines may hold the longest word: for texts of ASCII alone its idea of
case is ours, and a text with any other sign may always hold it, as may an event with public words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy.engine import Connection

from loopforge.core.events import Event
from loopforge.core.room import ROOM_LINES, Heard, Said, Told
from loopforge.ledger.quotes import folded
from loopforge.ledger.rows import COLUMNS, events_of, mark

PAGE = 500
"""Lines looked at before the next ones are read."""


def search(connection: Connection, stream: str, words: str, limit: int) -> list[Event]:
    """Lines of a stream that hold all these words, newest first."""
    wanted, found = folded(words).split(), list[Event]()
    if not wanted or not stream.isprintable():
        return found
    for event in _candidates(connection, stream, max(wanted, key=len)):
        text = folded(visible(event))
        if all(word in text for word in wanted):
            found.append(event)
            if len(found) == limit:
                break
    return found


def _candidates(connection: Connection, stream: str, word: str) -> Iterator[Event]:
    """Lines that may hold the word, newest first."""
    one = mark(connection)
    kinds = ", ".join(one for _ in ROOM_LINES)
    place, values = f"e.stream = {one} AND e.kind IN ({kinds})", [stream, *ROOM_LINES]
    holds, texts = _holding(connection, word)
    percent = "%" if one == "?" else "%%"
    public = f"e.body LIKE '{percent}\"={percent}'"
    before, page = 2**62, list[Event]()
    while True:
        query = (
            f"SELECT {COLUMNS} FROM events e WHERE {place} AND e.seq < {one} "  # noqa: S608
            f"AND ({public} OR EXISTS (SELECT 1 FROM texts t "
            f"WHERE t.stream = e.stream AND t.event = e.id AND {holds})) "
            f"ORDER BY e.seq DESC LIMIT {PAGE}"
        )
        rows = connection.exec_driver_sql(query, (*values, before, *texts)).all()
        page = events_of(connection, rows)
        yield from page
        if len(page) < PAGE:
            return
        before = page[-1].seq


def _holding(connection: Connection, word: str) -> tuple[str, Sequence[Any]]:
    """The condition that a text may hold the word, and its values."""
    if not word.isascii():
        return "1 = 1", ()
    like = "%" + word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
    if connection.dialect.name == "sqlite":
        return "(t.text LIKE ? ESCAPE '\\' OR t.text GLOB '*[^ -~]*')", (like,)
    return "(t.text ILIKE %s ESCAPE '\\' OR t.text ~ '[^ -~]')", (like,)


def visible(event: Event) -> str:
    """What people see of a line; a forgotten text is not there."""
    match event.body:
        case Heard(text=text, files=files):
            parts = [text, *(words for file in files for words in (file.name, file.text))]
        case Said(text=text) | Told(text=text):
            parts = [text]
        case _:
            parts = []
    return "\n".join(words.text for words in parts if words.text is not None)
