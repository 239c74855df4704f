"""Whether a room is remembered: as its people said, else by what it is.

By default a home's own rooms and private talks on a platform are, as far as the home keeps
anything; a group, channel or thread of a platform is not, until one of its keepers says so.
"""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import bindparam, select
from sqlalchemy.engine import Connection

from loopforge.chat.room.platform_channels import places
from loopforge.chat.room.room_store import PREFIX
from loopforge.ledger.database.table_schema import events
from loopforge.memory.memory_view import keeping_of

_CROWD = select(places.c.place).where(
    places.c.stream == bindparam("room"), places.c.kind != "private"
)

_SINCE = (
    select(events.c.stream, events.c.seq)
    .where(
        events.c.id >= bindparam("first"),
        events.c.kind.in_(bindparam("kinds", expanding=True)),
        events.c.stream.startswith(PREFIX),
    )
    .order_by(events.c.id)  # so that the index of ids is taken, and no older event is read
)


def is_crowd(connection: Connection, stream: str) -> bool:
    """Whether a room is a group, channel or thread of a platform: who reads along is not known."""
    return bool(crowds_of(connection, stream))


def crowds_of(connection: Connection, stream: str) -> Sequence[str]:
    """The groups, channels and threads of platforms that are part of a room."""
    return connection.execute(_CROWD, {"room": stream}).scalars().all()


def newest_since(
    connection: Connection, moment: datetime, kinds: Sequence[str]
) -> list[tuple[str, int]]:
    """The streams of rooms with events of these kinds since, each with the newest one's `seq`."""
    first = f"{int(moment.timestamp() * 1000):012x}"  # ids begin with the milliseconds
    newest: dict[str, int] = {}
    for stream, seq in connection.execute(_SINCE, {"first": first, "kinds": list(kinds)}):
        newest[stream] = max(seq, newest.get(stream, 0))
    return list(newest.items())


def is_remembered(connection: Connection, stream: str) -> bool:
    """Whether something is kept of a room."""
    said = keeping_of(connection, [stream])
    return said.get(stream, not is_crowd(connection, stream))
