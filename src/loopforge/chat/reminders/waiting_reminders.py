"""The reminders of a room as its people see them: of what, and when the next ring is, in words."""

from zoneinfo import ZoneInfo

from loopforge.chat.room.room_snapshot import WaitingReminder
from loopforge.chat.room.room_state import RoomState
from loopforge.schedule.reminder_book import Reminder
from loopforge.schedule.time_wording import told_moment


def waiting_of(state: RoomState) -> tuple[WaitingReminder, ...]:
    """Those that are to ring, the next first."""
    return tuple(map(_seen, state.reminders.waiting()))


def _seen(one: Reminder) -> WaitingReminder:
    """By the clock and in the language in which it was set."""
    zone = ZoneInfo(one.zone)
    assert one.moment is not None
    return WaitingReminder(
        number=one.number,
        what=one.what.text if one.what.text is not None else "(forgotten)",
        when=told_moment(one.moment.astimezone(zone), one.set_at.astimezone(zone), one.language),
        again=bool(one.rule),
    )
