"""What a look into the past of rooms asks for, and finds: see `RoomHistory`, `Recall` in ports."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from loopforge.core.events import Event


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


class RecallQuery(Struct, frozen=True, kw_only=True):
    """What is to be recalled in the room `stream`, by a mate, and by what it is to be found.

    `text` is a question or a description. `asker` and `names` (names by speaker) have speakers as
    person:ID or mate:HANDLE. `present` are the ids of all who will hear what comes of it: nothing
    is recalled that one of them may not know. `everywhere`: from other rooms, too, where presence
    allows it; `mate` must have been in them.
    """

    text: str
    stream: str
    present: tuple[str, ...]
    mate: str = ""
    asker: str = ""
    names: dict[str, str] = {}
    everywhere: bool = False
    limit: int = 10


class RecalledLine(Struct, frozen=True, kw_only=True):
    """A line of a room as it stands now, how well it fits, and what that is made of, by name."""

    line: Event
    score: float
    parts: dict[str, float]
