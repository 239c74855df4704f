"""Quotes in a whole stream: its private texts, read in order and shown to the sieve.

Knows nothing of why a text is looked for; what makes a quote stands in quote_matching.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlalchemy.engine import Connection

from loopforge.core.room_vocabulary import MateJoined
from loopforge.ledger.erasure.quote_matching import Forgotten, Sieve, Text
from loopforge.ledger.storage.row_codec import COLUMNS, event_of, mark, unkept

PAGE = 1000
EVER = 2**62


def quoting(
    connection: Connection, stream: str, forgotten: Iterable[Forgotten], *, everything: bool = True
) -> set[str]:
    """The refs of the texts of a stream that quote these.

    Not `everything`: none of what people said, and none of memory, which rests on its lines.
    """
    sieve = Sieve(forgotten, _mates(connection, stream))
    return {
        text.ref
        for actor, kind, text in _of_stream(connection, stream)
        if sieve.holds(text)
        and (everything or not (actor.startswith("person:") or kind.startswith("memory.")))
    }


def record(connection: Connection, stream: str, since: int, upto: int) -> list[Text]:
    """The private texts of the record of turns between two events of a stream, in order."""
    every = _of_stream(connection, stream, since, upto)
    return [text for _, kind, text in every if kind.startswith("turn.")]


def _mates(connection: Connection, stream: str) -> set[str]:
    """The handles of mates who were called into a room."""
    query = (
        f"SELECT {COLUMNS} FROM events "  # noqa: S608
        f"WHERE stream = {mark(connection)} AND kind = 'room.mate_joined'"
    )
    rows = connection.exec_driver_sql(query, (stream,)).all()
    joined = (event_of(row)[0].body for row in rows)
    return {body.mate for body in joined if isinstance(body, MateJoined)}


def _of_stream(
    connection: Connection, stream: str, since: int = 0, upto: int = EVER
) -> Iterator[tuple[str, str, Text]]:
    """All private texts of a stream in order, each with who brought it in, and by what kind."""
    one, place = mark(connection), (since, "")
    query = (
        "SELECT events.actor, events.kind, events.seq, texts.ref, texts.text FROM events "  # noqa: S608
        "JOIN texts ON texts.stream = events.stream AND texts.event = events.id "
        f"WHERE events.stream = {one} AND events.seq BETWEEN {one} AND {one} "
        f"AND (events.seq, texts.ref) > ({one}, {one}) "
        f"ORDER BY events.seq, texts.ref LIMIT {PAGE}"
    )
    while rows := connection.exec_driver_sql(query, (stream, place[0], upto, *place)).all():
        for actor, kind, seq, ref, stored in rows:
            yield actor, kind, Text(ref, seq, unkept(stored))
        place = rows[-1][2], rows[-1][3]
