"""The reminders of a room, as the fold of what happened to them: which wait, and for when.

Part of a room's state. Small: what is over is kept for a while, so that it can be snoozed.
"""

from collections.abc import Iterator
from datetime import datetime

from msgspec import Struct

from loopforge.core.events import Event
from loopforge.core.limits.line_origin import LineOrigin
from loopforge.core.schedule.reminder_events import (
    ReminderCancelled,
    ReminderEvent,
    ReminderFired,
    ReminderMoved,
    ReminderPassed,
    ReminderSet,
)
from loopforge.core.text.erasable_text import Words

KEPT = 50
"""Reminders that are over and can still be snoozed."""


class Reminder(Struct, kw_only=True, omit_defaults=True):
    """One reminder: what was set (see ReminderSet), and when it rings next.

    `due` is None once it is over; `snoozed` is when it rings once more, beside its rule. `rang` is
    the moment it was last due.
    """

    id: str
    number: int
    what: Words
    said: Words
    person: str
    zone: str
    set_at: datetime
    due: datetime | None = None
    whom: str = "me"
    rule: str = ""
    start: str = ""
    language: str = "en"
    mate: str = ""
    wakes: str = ""
    origin: LineOrigin | None = None
    snoozed: datetime | None = None
    rang: datetime | None = None

    @property
    def moment(self) -> datetime | None:
        """When it rings next; None for one that is over."""
        ahead = [one for one in (self.due, self.snoozed) if one is not None]
        return min(ahead, default=None)


class PassingRing(Struct, kw_only=True, omit_defaults=True):
    """A ring on its way into another room."""

    fired: str
    reminder: str
    to: str
    due: datetime
    at: datetime
    held: bool = False


class ReminderBook(Struct, kw_only=True, omit_defaults=True):
    """All reminders of a room by id, how many there ever were, and rings on their way elsewhere."""

    items: dict[str, Reminder] = {}
    count: int = 0
    passing: dict[str, PassingRing] = {}

    def waiting(self) -> list[Reminder]:
        """Those that are to ring, the next first."""
        ahead = [(one.moment, one) for one in self.items.values() if one.moment is not None]
        return [one for _, one in sorted(ahead, key=lambda pair: (pair[0], pair[1].number))]

    def numbered(self, number: int) -> Reminder | None:
        """The reminder with this number, also one that is over."""
        return next((one for one in self.items.values() if one.number == number), None)

    def apply(self, event: Event, body: ReminderEvent) -> None:
        """Take in what happened."""
        match body:
            case ReminderSet():
                self._set(event, body)
            case ReminderMoved(reminder=id) if id in self.items:
                self._move(self.items[id], body)
            case ReminderCancelled(reminder=id):
                self.items.pop(id, None)
            case ReminderFired(reminder=id) if id in self.items:
                self._fire(event, self.items[id], body)
            case ReminderPassed(fired=fired):
                self.passing.pop(fired, None)

    def words(self) -> Iterator[Words]:
        """Every text that is held."""
        for one in self.items.values():
            yield one.what
            yield one.said

    def _set(self, event: Event, body: ReminderSet) -> None:
        taken = self.numbered(body.number) is not None  # two were set in the same moment
        number = self.count + 1 if taken else body.number
        self.count = max(self.count, number)
        self.items[event.id] = Reminder(
            id=event.id,
            number=number,
            what=body.what,
            said=body.said,
            person=body.person,
            zone=body.zone,
            set_at=event.at,
            due=body.due,
            whom=body.whom,
            rule=body.rule,
            start=body.start,
            language=body.language,
            mate=body.mate,
            wakes=body.wakes,
            origin=body.origin,
        )
        over = [id for id, one in self.items.items() if one.moment is None]
        for id in over[:-KEPT]:
            del self.items[id]

    def _move(self, one: Reminder, body: ReminderMoved) -> None:
        if body.snoozed:
            one.snoozed = body.due
            return
        one.due, one.rule, one.start, one.snoozed = body.due, body.rule, body.start, None
        one.zone = body.zone or one.zone
        if str(body.said):
            one.said = body.said

    def _fire(self, event: Event, one: Reminder, body: ReminderFired) -> None:
        one.rang = body.due
        one.due = body.next
        if one.snoozed == body.due:
            one.snoozed = None
        if body.to:
            self.passing[event.id] = PassingRing(
                fired=event.id,
                reminder=one.id,
                to=body.to,
                due=body.due,
                at=event.at,
                held=body.held,
            )
