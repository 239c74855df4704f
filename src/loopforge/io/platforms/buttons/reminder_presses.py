"""Presses of the buttons under a reminder that rang: to put it off, or to have it ring no more.

A press does what the command `/reminders` does, for whose reminder it is. Which reminder a button
is about stands in the line above it, so that it works after every restart. A press that does not
count changes nothing; whoever pressed is told why, alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from loopforge.chat.commands.reminder_buttons import REMINDER_WAYS, ReminderVerb
from loopforge.chat.rooms_api import RoomsApi
from loopforge.core.events import Event
from loopforge.errors import InputError
from loopforge.io.platforms.buttons.press_ground import Presser, PressGround

_SIGN = "ring:"

ELSEWHERE = "This is no reminder of this place, or no longer."
GONE = "This reminder is gone already."


class ReminderPress(Struct, frozen=True):
    """A press under a reminder: what it says."""

    verb: ReminderVerb

    @property
    def data(self) -> str:
        """It in a few signs."""
        return f"{_SIGN}{self.verb}"

    @property
    def label(self) -> str:
        """What people read on it."""
        return REMINDER_WAYS[self.verb][0]

    @classmethod
    def read(cls, data: str) -> ReminderPress | None:
        """The press that data of a button stand for; None for others."""
        verb = data.removeprefix(_SIGN)
        return cls(verb) if data.startswith(_SIGN) and verb in REMINDER_WAYS else None


async def buttons_of_reminder(front: RoomsApi, told: Event) -> Sequence[ReminderPress]:
    """The buttons that belong under a word of the room; none where no reminder rings in it."""
    rung = await front.rung.told(told)
    return [ReminderPress(verb) for verb in REMINDER_WAYS] if rung is not None and rung.kept else ()


class ReminderButtons:
    """What presses under reminders come to."""

    def __init__(self, ground: PressGround) -> None:
        self._ground, self._front = ground, ground.front

    async def pressed(
        self, places: Sequence[str], message: str, by: Presser, press: ReminderPress
    ) -> str:
        """Put it off or cancel it; what whoever pressed is told alone."""
        room, line = await self._ground.under(places, message)
        rung = await self._front.rung.told(line) if line else None
        if rung is None:
            return ELSEWHERE
        if not rung.kept:
            return GONE
        platform = places[0].partition(":")[0]
        person = self._ground.people.who(platform, by.account)
        if person is None or by.bot:
            return "This is somebody else's reminder."
        try:
            return await self._front.commands.act(
                rung.room,
                person.id,
                "reminders",
                rung.argument(press.verb),
                keeper=by.keeper and rung.room == room,
                owner=self._ground.owns(person.id),
                untrusted=not self._ground.trusted(person.id),
                surface=platform,
                account=by.account,
            )
        except InputError as refusal:
            return str(refusal)
