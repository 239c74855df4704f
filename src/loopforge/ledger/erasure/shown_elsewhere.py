"""What turns of other streams were shown of texts that are to go, and what they made of it.

A line of one room comes to a mate in another: recalled, told by a tool, or looked back on. The
record there names what it was shown, by ref or by id (Perceived, Asked, EffectReturned). What
quotes it (stream_quotes.py) goes along: of the record of turns, from there on; of what mates said
and tools gave, in such a turn alone. What people said there stays: they said it themselves; and
what is kept of it in memory goes by the lines that it rests on (derived_texts.py).

Does not know of what a tool told whose result does not say which lines or memories it tells.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping

from sqlalchemy.engine import Connection

from loopforge.ledger.erasure.quote_matching import Forgotten
from loopforge.ledger.erasure.stream_quotes import EVER, QuotesMade, Span, made_of
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
) -> dict[str, QuotesMade]:
    """By stream, in what mates elsewhere quote what they were shown of these.

    `named` are those that were wanted gone themselves, and whether each is a person's name. The
    stream `whole` goes anyway.
    """
    texts, found = texts_of(connection, sorted(refs)), dict[str, QuotesMade]()
    brought = _brought(connection, refs, named)
    for stream, shown in _places(connection, brought, whole).items():
        forgotten = [
            Forgotten(texts[ref], min(at), named.get(ref, False)) for ref, at in shown.items()
        ]
        spans = _turns(connection, stream, set[int]().union(*shown.values()))
        found[stream] = made_of(connection, stream, forgotten, spans)
    return found


def _turns(connection: Connection, stream: str, shown: Collection[int]) -> list[Span]:
    """From each of these events to the end of its turn."""
    one = mark(connection)
    query = (
        f"SELECT seq FROM events WHERE stream = {one} AND seq >= {one} "  # noqa: S608
        "AND kind = 'turn.ended' ORDER BY seq"
    )
    ends = connection.exec_driver_sql(query, (stream, min(shown))).scalars().all()
    over = [*ends, EVER]
    return [(seq, over[bisect_left(ends, seq)]) for seq in sorted(shown)]


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


def _places(connection: Connection, brought: Brought, whole: str) -> dict[str, dict[str, set[int]]]:
    """By stream, which of these texts were shown there, and in which events."""
    called: dict[str, set[str]] = {}
    for ref, (_, event) in brought.items():
        called.setdefault(ref, set()).add(ref)
        called.setdefault(event, set()).add(ref)
    found: dict[str, dict[str, set[int]]] = {}
    for stream, seq, body in _shown(connection, brought):
        for name in called.keys() & set(_NAME.findall(body)):
            for ref in called[name]:
                if stream not in (whole, brought[ref][0]):
                    found.setdefault(stream, {}).setdefault(ref, set()).add(seq)
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
