"""Finding lines of a room by their words.

A line is found when every word of the search stands somewhere in what people see of it, whatever
the case; `%` and `_` mean themselves. Both databases give the same answer because the comparing is
done here: their own ideas of upper and lower case differ.

A line that was edited is found by what it says now, one that was deleted not at all.

The database only says which lines may hold the longest word: for texts of ASCII alone its idea of
case is ours, and a text with any other sign may always hold it, as may an event with public words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy.engine import Connection

from loopforge.core.events import Event
from loopforge.core.room_vocabulary import ROOM_LINES, Heard, LineEdited, Said, Told
from loopforge.ledger.erasure.later_quotes import folded
from loopforge.ledger.storage.revised_lines import by_id, standing
from loopforge.ledger.storage.row_codec import COLUMNS, events_of, mark

KINDS = (*ROOM_LINES, "room.line_edited")
PAGE = 500
"""Lines looked at before the next ones are read."""


def search(connection: Connection, stream: str, words: str, limit: int) -> list[Event]:
    """Lines of a stream that hold all these words, newest first, as they stand now."""
    wanted, found = folded(words).split(), dict[str, Event]()
    if not wanted or not stream.isprintable():
        return []
    for event in _candidates(connection, stream, max(wanted, key=len)):
        text = folded(visible(event))
        if all(word in text for word in wanted):
            found.setdefault(event.id, event)
            if len(found) == limit:
                break
    return sorted(found.values(), key=lambda event: -event.seq)


def _candidates(connection: Connection, stream: str, word: str) -> Iterator[Event]:
    """Lines that may hold the word, newest first; an edited one also where its edit stands."""
    one = mark(connection)
    kinds = ", ".join(one for _ in KINDS)
    place, values = f"e.stream = {one} AND e.kind IN ({kinds})", [stream, *KINDS]
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
        yield from standing(connection, _lines(connection, page))
        if len(page) < PAGE:
            return
        before = page[-1].seq


def _lines(connection: Connection, page: Sequence[Event]) -> list[Event]:
    """The lines that these events are, or have changed."""
    edited = {event.body.line for event in page if isinstance(event.body, LineEdited)}
    known = {event.id: event for event in by_id(connection, edited)} if edited else {}
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


def visible(event: Event) -> str:
    """What people see of a line; a forgotten text is not there."""
    match event.body:
        case Heard(text=text, files=files) | Said(text=text, files=files):
            parts = [text, *(words for file in files for words in (file.name, file.text))]
        case Told(text=text):
            parts = [text]
        case _:
            parts = []
    return "\n".join(words.text for words in parts if words.text is not None)
