"""What a look into a room's past asks for, and what it finds: see `RoomHistory` in ports.py."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct


class LineSearch(Struct, frozen=True, kw_only=True):
    """Which lines of a room are wanted: with all these words, by whose name holds `who`, and when.

    `since` is in the time, `until` is not; the newest `limit` of them.
    """

    words: str = ""
    who: str = ""
    since: datetime | None = None
    until: datetime | None = None
    limit: int = 10


class FoundLine(Struct, frozen=True, kw_only=True):
    """A line of a room as it stands now; `address` is where the browser shows it in the room."""

    at: datetime
    who: str
    text: str
    address: str
