"""Reading events back, with their private words filled in. Runs in a reading thread.

    one stream, or one event        read_events, read_event, tail, page
    the newest of all streams       newest_events, for those who look into the ledger
    one state for a whole block     in_read_snapshot, whatever is appended meanwhile

Long reads go page by page, so that no statement holds a reader's place in SQLite for long.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from sqlalchemy.engine import Connection

from loopforge.core.events import Event
from loopforge.core.text.erasable_text import Words
from loopforge.errors import Unknown
from loopforge.ledger.storage.row_codec import (
    COLUMNS,
    event_of,
    events_of,
    fill_words,
    sql_placeholder,
)
from loopforge.ledger.table_access import Tables

PAGE = 2000
"""Events read by one statement."""

END = "\U0010ffff"
"""Greater than anything a printable name can go on with."""


def read_events(
    connection: Connection,
    stream: str,
    *,
    after: int = 0,
    before: int | None = None,
    kinds: Sequence[str] = (),
    limit: int | None = None,
    newest: bool = False,
) -> list[Event]:
    """See `Ledger.read`."""
    if not stream.isprintable():
        return []
    kinds = tuple(dict.fromkeys(kinds))
    events: list[Event] = []
    backwards = newest and limit is not None
    while limit is None or len(events) < limit:
        count = PAGE if limit is None else min(PAGE, limit - len(events))
        page = _page(connection, stream, after, before, kinds, count, backwards)
        events = page + events if backwards else events + page
        if len(page) < count:
            break
        after, before = (after, page[0].seq) if backwards else (page[-1].seq, before)
    return events


def _page(
    connection: Connection,
    stream: str,
    after: int,
    before: int | None,
    kinds: Sequence[str],
    count: int,
    backwards: bool,
) -> list[Event]:
    one = sql_placeholder(connection)
    span, values = f"stream = {one} AND seq > {one}", [stream, after]
    if before is not None:
        span, values = f"{span} AND seq < {one}", [*values, before]
    order = f"ORDER BY seq {'DESC' if backwards else 'ASC'} LIMIT {count}"
    where, given = span, list[Any](values)
    if len(kinds) == 1:
        where, given = f"{span} AND kind = {one}", [*values, kinds[0]]
    elif kinds:
        # One seek in the index for each kind: otherwise rare kinds cost a walk over the stream.
        each = f"SELECT seq FROM events WHERE {span} AND kind = {one} {order}"  # noqa: S608
        union = " UNION ALL ".join(
            f"SELECT seq FROM ({each}) AS kind{nth}"  # noqa: S608
            for nth in range(len(kinds))
        )
        where, given = f"stream = {one} AND seq IN ({union})", [stream]
        for kind in kinds:
            given.extend((*values, kind))
    query = f"SELECT {COLUMNS} FROM events WHERE {where} {order}"  # noqa: S608
    rows = connection.exec_driver_sql(query, tuple(given)).all()
    return events_of(connection, reversed(rows) if backwards else rows)


def read_event(connection: Connection, id: str) -> Event:
    """See `Ledger.event`."""
    query = f"SELECT {COLUMNS} FROM events WHERE id = {sql_placeholder(connection)}"  # noqa: S608
    row = connection.exec_driver_sql(query, (id,)).one_or_none() if id.isprintable() else None
    if row is None:
        raise Unknown(f"There is no event {id!r} in the ledger.")
    return events_of(connection, [row])[0]


def stream_heads(connection: Connection, prefix: str = "") -> dict[str, int]:
    """See `Ledger.heads`."""
    if not prefix.isprintable():
        return {}
    one = sql_placeholder(connection)
    found = connection.exec_driver_sql(
        f"SELECT stream, seq FROM streams WHERE stream >= {one} AND stream < {one} "  # noqa: S608
        "ORDER BY stream",
        (prefix, prefix + END),
    )
    return {row.stream: row.seq for row in found}


def tail(connection: Connection, count: int, stream: str = "") -> list[Event]:
    """The newest events of one stream, or of all, oldest first (ids are ordered in time)."""
    if stream:
        return read_events(connection, stream, limit=count, newest=True)
    query = f"SELECT {COLUMNS} FROM events ORDER BY id DESC LIMIT {sql_placeholder(connection)}"  # noqa: S608
    rows = connection.exec_driver_sql(query, (count,)).all()
    return events_of(connection, reversed(rows))


def page(connection: Connection, place: tuple[str, int], prefix: str = "") -> list[Event]:
    """The next PAGE events after a place (stream, seq), stream by stream; less at the end."""
    one = sql_placeholder(connection)
    query = (
        f"SELECT {COLUMNS} FROM events WHERE (stream, seq) > ({one}, {one}) "  # noqa: S608
        f"AND stream < {one} ORDER BY stream, seq LIMIT {PAGE}"
    )
    rows = connection.exec_driver_sql(query, (*place, prefix + END)).all()
    return events_of(connection, rows)


def read_texts(connection: Connection, refs: Sequence[str]) -> dict[str, str]:
    """The texts of these refs, as far as they are not forgotten."""
    words = [Words(None, ref) for ref in refs]
    fill_words(connection, words)
    return {one.ref: one.text for one in words if one.text is not None}


# ---------------------------------------------------------------- newest events


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


# ---------------------------------------------------------------- consistent read


@contextmanager
def in_read_snapshot(connection: Connection) -> Iterator[None]:
    """Read within a snapshot, on a connection that else commits by itself."""
    sqlite = connection.dialect.name == "sqlite"
    connection.exec_driver_sql(
        "BEGIN" if sqlite else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
    )
    try:
        yield
    finally:
        connection.exec_driver_sql("ROLLBACK")
