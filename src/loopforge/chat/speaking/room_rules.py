"""The rules of rooms, as one value. Settings fill it; a room's own events may override parts.

A home has one such value, which changes with its settings.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from msgspec import Struct

from loopforge.chat.room.guest_rules import GuestRules
from loopforge.chat.room.room_state import RoomState
from loopforge.chat.speaking.triggers import TriggerThresholds
from loopforge.core.limits.turn_bounds import TurnBounds

SCREEN = "screen"
"""Stands for the terminals and pages of this home: they fetch lines by themselves."""


class RoomRules(Struct, kw_only=True):
    """What holds in every room of this home unless a room says otherwise.

    `debounce` seconds a person's lines are gathered for. `idle` seconds after the last line a
    conversation ends (0: never). `steps` a mate may take in a row; `thresholds` of the conversation
    trigger. `share` of a model's window that a prompt may fill, purged down to `low` of that.
    `line_limit` and `say_limit` in characters, `file_limit` in bytes. `surfaces` are the ones every
    line goes out to; `guests` may use what those rules say. `bounds` of every turn. `transcriber`
    is the model by which voice notes are written down ("": by none). `reminders` of one person may
    wait in a room.
    """

    zone: ZoneInfo = ZoneInfo("UTC")
    debounce: float = 0.6
    idle: float = 4 * 3600
    steps: int = 4
    thresholds: TriggerThresholds = TriggerThresholds()
    share: float = 0.75
    low: float = 0.35
    line_limit: int = 8000
    say_limit: int = 100_000
    file_limit: int = 200_000
    capacity: int = 6
    refill: int = 4
    surfaces: tuple[str, ...] = (SCREEN,)
    guests: GuestRules = GuestRules()
    bounds: TurnBounds = TurnBounds()
    transcriber: str = ""
    reminders: int = 100

    def become(self, other: RoomRules) -> None:
        """Take over what the other one says, for everybody who holds these."""
        for name in self.__struct_fields__:
            setattr(self, name, getattr(other, name))

    def ends(self, state: RoomState) -> datetime | None:
        """When the room's conversation ends, or ended, if nobody says anything more."""
        if not self.idle or state.last_at is None:
            return None
        return state.last_at + timedelta(seconds=self.idle)
