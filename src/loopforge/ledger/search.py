"""Finding lines of a room by their words.

A line is found when every word of the search stands somewhere in what people see of it, whatever
the case; `%` and `_` mean themselves. Both databases give the same answer because the comparing is
done here: their own ideas of upper and lower case differ.
"""

from __future__ import annotations

from sqlalchemy.engine import Connection

from loopforge.core.events import Event
from loopforge.core.room import ROOM_LINES, Heard, Said, Told
from loopforge.ledger.quotes import folded
from loopforge.ledger.read import read

PAGE = 500
"""Lines looked at before the next ones are read."""


def search(connection: Connection, stream: str, words: str, limit: int) -> list[Event]:
    """Lines of a stream that hold all these words, newest first."""
    wanted, found, before = folded(words).split(), list[Event](), None
    while wanted and len(found) < limit:
        page = read(connection, stream, before=before, kinds=ROOM_LINES, limit=PAGE, newest=True)
        for event in reversed(page):
            text = folded(visible(event))
            if all(word in text for word in wanted):
                found.append(event)
        if len(page) < PAGE:
            break
        before = page[0].seq
    return found[:limit]


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
