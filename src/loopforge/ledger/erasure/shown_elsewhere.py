"""What turns of other streams were shown of texts that are to go, and what they made of it.

A line of one room comes to a mate in another: recalled, told by a tool, or looked back on. The
record there names what it was shown, by ref or by id (Perceived, Asked, EffectReturned). From
there on, what mates and tools brought into that stream and what quotes it (stream_quotes.py) goes
along. What people said there stays: they said it themselves; and what is kept of it in memory goes
by the lines that it rests on (derived_texts.py).

Does not know of what a tool told whose result does not say which lines or memories it tells.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from sqlalchemy.engine import Connection

from loopforge.ledger.erasure.quote_matching import Forgotten
from loopforge.ledger.erasure.stream_quotes import quoting
from loopforge.ledger.storage.event_reading import texts as texts_of
from loopforge.ledger.storage.row_codec import listed, mark, within

KINDS = ("turn.perceived", "turn.asked", "effect.returned")
"""Events that say what a mind was shown."""
SAID = (
    *("room.heard", "room.line_edited"),
    *("memory.kept", "memory.corrected"),
)
"""Events whose words a mind in another stream can be shown."""
PAGE = 1000
_NAME = re.compile("[0-9a-f]{32,64}")
"""An id or a ref, as it stands in the body of an event."""

Brought = Mapping[str, tuple[str, str]]
"""By ref, the stream and the event that brought a text in."""


def shown_elsewhere(
    connection: Connection,
    refs: Collection[str],
    named: Mapping[str, bool],
    whole: str,
) -> dict[str, set[str]]:
    """The refs of texts, by stream, in which mates elsewhere quote what they were shown of these.

    `named` are those that were wanted gone themselves, and whether each is a person's name. The
    stream `whole` goes anyway.
    """
    texts, found = texts_of(connection, sorted(refs)), dict[str, set[str]]()
    brought = _brought(connection, refs, named)
    for stream, shown in _places(connection, brought, whole).items():
        forgotten = [
            Forgotten(texts[ref], since, named.get(ref, False)) for ref, since in shown.items()
        ]
        if more := quoting(connection, stream, forgotten, everything=False) - set(refs):
            found[stream] = more
    return found


def _brought(connection: Connection, refs: Collection[str], named: Collection[str]) -> Brought:
    """What people said, memories, and what was named: phrases of mates come again everywhere."""
    query = (
        "SELECT texts.ref, texts.stream, texts.event, events.kind FROM texts "  # noqa: S608
        "JOIN events ON events.id = texts.event AND events.stream = texts.stream "
        f"WHERE texts.ref {within(connection)}"
    )
    rows = connection.exec_driver_sql(query, (listed(connection, sorted(refs)),)).all()
    return {
        ref: (stream, event) for ref, stream, event, kind in rows if kind in SAID or ref in named
    }


def _places(connection: Connection, brought: Brought, whole: str) -> dict[str, dict[str, int]]:
    """By stream, which of these texts were shown there, and from which event on."""
    called: dict[str, set[str]] = {}
    for ref, (_, event) in brought.items():
        called.setdefault(ref, set()).add(ref)
        called.setdefault(event, set()).add(ref)
    found: dict[str, dict[str, int]] = {}
    for stream, seq, body in _shown(connection, brought):
        for name in called.keys() & set(_NAME.findall(body)):
            for ref in called[name]:
                if stream not in (whole, brought[ref][0]):
                    places = found.setdefault(stream, {})
                    places[ref] = min(seq, places.get(ref, seq))
    return found


def _shown(connection: Connection, brought: Brought) -> Iterator[tuple[str, int, str]]:
    """What minds were shown since the first of these texts came in, by the order of ids."""
    last, one = min((event for _, event in brought.values()), default=""), mark(connection)
    query = (
        "SELECT id, stream, seq, body FROM events "  # noqa: S608
        f"WHERE id > {one} AND kind {within(connection)} ORDER BY id LIMIT {PAGE}"
    )
    kinds = listed(connection, KINDS)
    while last and (rows := connection.exec_driver_sql(query, (last, kinds)).all()):
        for id, stream, seq, body in rows:
            yield stream, seq, body
            last = id
