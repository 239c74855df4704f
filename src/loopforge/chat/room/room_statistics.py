"""A census of rooms, for those who keep the home: which there are, and how much is in each.

Reads no words.
"""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct
from sqlalchemy.engine import Connection

from loopforge.chat.room.member_visibility import FOREVER, mates_in
from loopforge.core.events import from_epoch_micros
from loopforge.ledger.storage.row_codec import sql_placeholder


class RoomCounts(Struct, kw_only=True):
    """What is counted of each room, by stream."""

    people: dict[str, int]
    mates: dict[str, list[str]]
    lines: dict[str, int]
    last: dict[str, datetime]
    sizes: dict[str, int]


def closed_rooms(connection: Connection) -> frozenset[str]:
    """The streams of rooms that were deleted."""
    rows = connection.exec_driver_sql(
        "SELECT streams.stream FROM streams WHERE EXISTS (SELECT 1 FROM events "
        "WHERE events.stream = streams.stream AND events.kind = 'room.closed')"
    )
    return frozenset(stream for (stream,) in rows)


def room_counts(connection: Connection, streams: Sequence[str], *, sizes: bool) -> RoomCounts:
    """What is in these, by the index of kinds; with `sizes`, which read everything, in bytes."""
    one = sql_placeholder(connection)
    people = connection.exec_driver_sql(
        f"SELECT stream, COUNT(*) FROM stays WHERE until = {one} GROUP BY stream",  # noqa: S608
        (FOREVER,),
    )
    census = RoomCounts(people=dict(people.all()), mates={}, lines={}, last={}, sizes={})
    spoken = f"stream = {one} AND kind IN ('room.heard', 'room.said')"
    for stream in streams:
        count, last = connection.exec_driver_sql(
            f"SELECT COUNT(*), MAX(seq) FROM events WHERE {spoken}",  # noqa: S608
            (stream,),
        ).one()
        census.lines[stream] = count
        at = connection.exec_driver_sql(
            f"SELECT at FROM events WHERE stream = {one} AND seq = {one}",  # noqa: S608
            (stream, last or 1),
        ).scalar()
        census.last[stream] = from_epoch_micros(at or 0)
        census.mates[stream] = mates_in(connection, stream)
        if sizes:
            census.sizes[stream] = _size(connection, stream)
    return census


def _size(connection: Connection, stream: str) -> int:
    """Bytes, or nearly, of a room's events and texts."""
    one = sql_placeholder(connection)
    total = 0
    for table, columns in (("events", "LENGTH(body) + 200"), ("texts", "LENGTH(text) + 150")):
        found = connection.exec_driver_sql(
            f"SELECT SUM({columns}) FROM {table} WHERE stream = {one}",  # noqa: S608
            (stream,),
        ).scalar()
        total += int(found or 0)
    return total
