"""Whether a room is remembered: as its people said, else by what it is.

By default a home's own rooms and private talks on a platform are, as far as the home keeps
anything; a group, channel or thread of a platform is not, until one of its keepers says so.
"""

from __future__ import annotations

from sqlalchemy import bindparam, select
from sqlalchemy.engine import Connection

from loopforge.chat.room.platform_channels import places
from loopforge.memory.memory_view import keeping_of

_CROWD = select(places).where(places.c.stream == bindparam("room"), places.c.kind != "private")


def is_crowd(connection: Connection, stream: str) -> bool:
    """Whether a room is a group, channel or thread of a platform: who reads along is not known."""
    return connection.execute(_CROWD, {"room": stream}).first() is not None


def is_remembered(connection: Connection, stream: str) -> bool:
    """Whether something is kept of a room."""
    said = keeping_of(connection, [stream])
    return said.get(stream, not is_crowd(connection, stream))
