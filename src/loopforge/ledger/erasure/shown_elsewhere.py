"""What turns of other streams were shown of texts that are to go, and what they made of it.

A line of one room comes to a mate in another: recalled, told by a tool, or looked back on. The
record there names what it was shown, by ref or by id (Perceived, Asked, EffectReturned). What
quotes it (stream_quotes.py) goes along: of the record of turns, from there on; of what mates said
and tools gave, in such a turn alone. What people said there stays: they said it themselves; and
what is kept of it in memory goes by the lines that it rests on (derived_texts.py).

Does not know of what a tool told whose result does not say which lines or memories it tells.
"""

from bisect import bisect_left
from collections.abc import Collection, Mapping

from sqlalchemy.engine import Connection

from loopforge.ledger.erasure.erasure_search import ErasureSearch, Origin
from loopforge.ledger.erasure.quote_matching import ForgottenText
from loopforge.ledger.erasure.stream_quotes import EVER, QuotesMade, Span, made_of
from loopforge.ledger.storage.row_codec import sql_placeholder

SAID = (
    *("room.heard", "room.line_edited"),
    *("memory.kept", "memory.corrected"),
)
"""Events whose words a mind in another stream can be shown."""


def shown_elsewhere(
    connection: Connection,
    search: ErasureSearch,
    refs: Collection[str],
    named: Mapping[str, bool],
    whole: str,
) -> dict[str, QuotesMade]:
    """By stream, in what mates elsewhere quote what they were shown of these.

    `named` are those that were wanted gone themselves, and whether each is a person's name. The
    stream `whole` goes anyway.
    """
    texts, found = search.texts(connection, refs), dict[str, QuotesMade]()
    brought = _brought(search.origins(connection, refs), named)
    for stream, shown in _places(connection, search, brought, whole).items():
        forgotten = [
            ForgottenText(texts[ref], min(at), named.get(ref, False)) for ref, at in shown.items()
        ]
        spans = _turns(connection, stream, set[int]().union(*shown.values()))
        found[stream] = made_of(search.quotes(connection, stream, forgotten), spans)
    return found


def _turns(connection: Connection, stream: str, shown: Collection[int]) -> list[Span]:
    """From each of these events to the end of its turn."""
    one = sql_placeholder(connection)
    query = (
        f"SELECT seq FROM events WHERE stream = {one} AND seq >= {one} "  # noqa: S608
        "AND kind = 'turn.ended' ORDER BY seq"
    )
    ends = connection.exec_driver_sql(query, (stream, min(shown))).scalars().all()
    over = [*ends, EVER]
    return [(seq, over[bisect_left(ends, seq)]) for seq in sorted(shown)]


def _brought(origins: Mapping[str, Origin], named: Collection[str]) -> dict[str, Origin]:
    """What people said, memories, and what was named: phrases of mates come again everywhere."""
    return {ref: one for ref, one in origins.items() if one.kind in SAID or ref in named}


def _places(
    connection: Connection, search: ErasureSearch, brought: Mapping[str, Origin], whole: str
) -> dict[str, dict[str, set[int]]]:
    """By stream, which of these texts were shown there, and in which events."""
    called: dict[str, set[str]] = {}
    for ref, origin in brought.items():
        called.setdefault(ref, set()).add(ref)
        called.setdefault(origin.event, set()).add(ref)
    found: dict[str, dict[str, set[int]]] = {}
    if not brought:
        return found
    since = min(origin.event for origin in brought.values())
    for stream, seq, names in search.mentions(connection, called, since):
        for ref in set[str]().union(*(called[name] for name in names)):
            if stream not in (whole, brought[ref].stream):
                found.setdefault(stream, {}).setdefault(ref, set()).add(seq)
    return found
