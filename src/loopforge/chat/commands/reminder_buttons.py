"""Reminders that rang, as the line that told of them knows them: which it was, and of which room.

    the line --rang--> that it rang --> the reminder, in the room where it was set

Read from the ledger, so that it is the same after a restart. Who may do something about one is
decided where that is done (chat/reminders/reminder_service.py).
"""

from typing import Literal

from msgspec import Struct

from loopforge.chat.room.room_store import PREFIX
from loopforge.chat.server import Rooms
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import Told
from loopforge.core.schedule.reminder_events import ReminderFired, ReminderSet
from loopforge.errors import Unknown
from loopforge.ledger.sql_ledger import SqlLedger

ReminderVerb = Literal["10m", "1h", "1d", "cancel"]
REMINDER_WAYS: dict[ReminderVerb, tuple[str, str]] = {
    "10m": ("In 10 minutes", "snooze {number} in 10 minutes"),
    "1h": ("In an hour", "snooze {number} in one hour"),
    "1d": ("Tomorrow", "snooze {number} in one day"),
    "cancel": ("Cancel", "cancel {number}"),
}
"""What can be done about one by a button: what stands on it, and the argument of `/reminders`."""


class RungReminder(Struct, frozen=True, kw_only=True):
    """A reminder that rang: its room, its number there, whose it is, and whom it was for.

    `kept`: it is known still, so that it can be put off or cancelled.
    """

    room: str
    number: int
    person: str
    whom: str
    kept: bool

    def argument(self, verb: ReminderVerb) -> str:
        """What is typed after `/reminders` for the same."""
        return REMINDER_WAYS[verb][1].format(number=self.number)


class RungReminders:
    """What rang in rooms."""

    def __init__(self, ledger: SqlLedger, rooms: Rooms) -> None:
        self._ledger, self._rooms = ledger, rooms

    async def told(self, line: Event) -> RungReminder | None:
        """The reminder that a word of the room tells of; None if it tells of none."""
        if not isinstance(line.body, Told) or not line.body.rang:
            return None
        try:
            fired = await self._ledger.event(line.body.rang)
            assert isinstance(fired.body, ReminderFired)
            first = await self._ledger.event(fired.body.reminder)
        except Unknown:
            return None
        if not isinstance(first.body, ReminderSet):
            return None
        room = fired.stream.removeprefix(PREFIX)
        state = await self._rooms.state(room)
        return RungReminder(
            room=room,
            number=first.body.number,
            person=first.body.person,
            whom=first.body.whom,
            kept=first.id in state.reminders.items,
        )
