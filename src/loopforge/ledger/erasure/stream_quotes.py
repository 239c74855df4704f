"""Quotes in a whole stream: its private texts, read in order and shown to the sieve.

Knows nothing of why a text is looked for; what makes a quote stands in quote_matching.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from sqlalchemy.engine import Connection

from loopforge.core.room_vocabulary import MateJoined
from loopforge.ledger.erasure.quote_matching import ForgottenText, QuoteMatcher, StreamText
from loopforge.ledger.storage.row_codec import (
    COLUMNS,
    event_of,
    sql_placeholder,
    unescape_stored_text,
)

PAGE = 1000
EVER = 2**62
_HASH = re.compile("[0-9a-f]{64}").fullmatch
Span = tuple[int, int]
"""Sequence numbers, both included."""


class QuotesMade(NamedTuple):
    """The refs of texts by which mates and tools quote something.

    `told` is what people can read in a room or a task, `record` that of the turns.
    """

    told: set[str]
    record: set[str]

    def add(self, more: QuotesMade) -> None:
        """Take in others."""
        self.told.update(more.told)
        self.record.update(more.record)


class FoundQuote(NamedTuple):
    """A text that quotes something: by whom it came in, by what kind of event, and where."""

    actor: str
    kind: str
    ref: str
    order: int


Contents = Callable[[str], str | None]
"""Gives what a kept file says, by its hash; None where nothing in it can be read."""
GIVEN = ("effect.returned", "room.said")
"""Events by which files come that tools made and tasks kept."""


class StreamQuotes:
    """What quotes some texts in one stream. Asked again, it reads on from where it was.

    A file that a tool gave is one by what it says: `contents` are read of those that may be.
    `unread` are those of which nothing could be, their hashes by ref.
    """

    def __init__(
        self,
        connection: Connection,
        stream: str,
        forgotten: Collection[ForgottenText],
        contents: Contents,
    ) -> None:
        self._stream, self._place = stream, (0, "")
        self._sieve = QuoteMatcher(forgotten, _mates(connection, stream))
        self._since, self._contents = min((one.since for one in forgotten), default=EVER), contents
        self._quotes: list[FoundQuote] = []
        self.unread: dict[str, str] = {}

    def quotes(self, connection: Connection) -> list[FoundQuote]:
        """Every quote so far."""
        for actor, kind, text in _of_stream(connection, self._stream, self._place):
            self._place = text.order, text.ref
            if kind in GIVEN and text.order >= self._since and _HASH(text.text):
                if (said := self._contents(text.text)) is None:
                    self.unread[text.ref] = text.text
                text = text._replace(text=f"{text.text}\n{said or ''}")
            if self._sieve.holds(text):
                self._quotes.append(FoundQuote(actor, kind, text.ref, text.order))
        return self._quotes


def made_of(quotes: Iterable[FoundQuote], spans: Sequence[Span]) -> QuotesMade:
    """What mates and tools of a stream made of texts, of which they were told from elsewhere.

    What people can read goes where it came in within these `spans` alone: words that mates use
    later may have another ground. Memory goes by the lines that it rests on.
    """
    made = QuotesMade(set(), set())
    for actor, kind, ref, order in quotes:
        if actor.startswith("person:") or kind.startswith("memory."):
            continue
        if kind.startswith("turn."):
            made.record.add(ref)
        elif any(since <= order <= until for since, until in spans):
            made.told.add(ref)
    return made


def turn_texts(connection: Connection, stream: str, since: int, upto: int) -> list[StreamText]:
    """The private texts of the record of turns between two events of a stream, in order."""
    every = _of_stream(connection, stream, (since, ""), upto)
    return [text for _, kind, text in every if kind.startswith("turn.")]


def _mates(connection: Connection, stream: str) -> set[str]:
    """The handles of mates who were called into a room."""
    query = (
        f"SELECT {COLUMNS} FROM events "  # noqa: S608
        f"WHERE stream = {sql_placeholder(connection)} AND kind = 'room.mate_joined'"
    )
    rows = connection.exec_driver_sql(query, (stream,)).all()
    joined = (event_of(row)[0].body for row in rows)
    return {body.mate for body in joined if isinstance(body, MateJoined)}


def _of_stream(
    connection: Connection, stream: str, place: tuple[int, str], upto: int = EVER
) -> Iterator[tuple[str, str, StreamText]]:
    """The private texts of a stream after a place (seq, ref), each with who brought it in, how."""
    one = sql_placeholder(connection)
    query = (
        "SELECT events.actor, events.kind, events.seq, texts.ref, texts.text FROM events "  # noqa: S608
        "JOIN texts ON texts.stream = events.stream AND texts.event = events.id "
        f"WHERE events.stream = {one} AND events.seq BETWEEN {one} AND {one} "
        f"AND (events.seq, texts.ref) > ({one}, {one}) "
        f"ORDER BY events.seq, texts.ref LIMIT {PAGE}"
    )
    while rows := connection.exec_driver_sql(query, (stream, place[0], upto, *place)).all():
        for actor, kind, seq, ref, stored in rows:
            yield actor, kind, StreamText(ref, seq, unescape_stored_text(stored))
        place = rows[-1][2], rows[-1][3]
