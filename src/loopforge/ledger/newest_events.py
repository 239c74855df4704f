"""The newest events of all streams, or of one, for those who look into the ledger."""

from collections.abc import Callable
from typing import Any, NamedTuple

from sqlalchemy.engine import Connection

from loopforge.core.events import Event
from loopforge.core.text.erasable_text import Words
from loopforge.ledger.storage.row_codec import COLUMNS, event_of, fill_words, sql_placeholder
from loopforge.ledger.table_access import Tables


class EventListing(NamedTuple):
    """Which events: of this stream and kind, before this id, so many at most; "" is any."""

    stream: str
    kind: str
    before: str
    limit: int


async def newest_events(
    tables: Tables, listing: EventListing, told: Callable[[Event], bool]
) -> list[Event]:
    """Those events, newest first; with their private words where that is `told`."""
    return await tables.look(lambda found: _newest(found, listing, told))


def _newest(
    connection: Connection, listing: EventListing, told: Callable[[Event], bool]
) -> list[Event]:
    one, where, given = sql_placeholder(connection), ["1 = 1"], list[Any]()
    bounds = (
        ("stream", "=", listing.stream),
        ("kind", "=", listing.kind),
        ("id", "<", listing.before),
    )
    for column, sign, value in bounds:
        if value:
            where.append(f"{column} {sign} {one}")
            given.append(value)
    query = (
        f"SELECT {COLUMNS} FROM events WHERE {' AND '.join(where)} "  # noqa: S608
        f"ORDER BY id DESC LIMIT {listing.limit}"
    )
    found: list[Event] = []
    wanted: list[Words] = []
    for row in connection.exec_driver_sql(query, tuple(given)):
        event, words = event_of(row)
        found.append(event)
        wanted += words if told(event) else []
    fill_words(connection, wanted)
    return found
