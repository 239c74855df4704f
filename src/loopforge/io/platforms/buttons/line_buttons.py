"""Buttons under lines, the same for every platform: which there are, and what a press comes to.

    a question whether a tool may be used   question_buttons.py
    a reminder that rang                    a press does what `/reminders` does, for whose it is
    a line of what goes on beside the room  a press gives that command, as an answer to the line

What a button says stands in its data, and what it is about in the line above it, so that it works
after every restart. Whoever pressed is told alone what came of it. Does not know how a platform
shows buttons, nor what goes on beside rooms.
"""

import re
from collections.abc import Sequence
from typing import Self, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from loopforge.chat.commands.reminder_buttons import REMINDER_WAYS, ReminderVerb
from loopforge.chat.rooms_api import RoomsApi
from loopforge.core.events import Event
from loopforge.errors import InputError
from loopforge.io.platforms.buttons.press_ground import Presser, PressGround
from loopforge.io.platforms.buttons.question_buttons import (
    ButtonPress,
    QuestionButtons,
    buttons_under,
)

_SIGN, _DATA = "ring:", re.compile(r"do:([a-z]{2,20})")
NOTHING = "This is nothing of this place, or no longer."
ELSEWHERE = "This is no reminder of this place, or no longer."
GONE = "This reminder is gone already."
TONES = {"once": "yes", "deny": "no", "cancel": "no"}


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
    def read(cls, data: str) -> Self | None:
        """The press that data of a button stand for; None for others."""
        verb = data.removeprefix(_SIGN)
        return cls(verb) if data.startswith(_SIGN) and verb in REMINDER_WAYS else None


async def buttons_of_reminder(front: RoomsApi, told: Event) -> Sequence[ReminderPress]:
    """The buttons that belong under a word of the room; none where no reminder rings in it."""
    rung = await front.rung.told(told)
    return [ReminderPress(verb) for verb in REMINDER_WAYS] if rung is not None and rung.kept else ()


class LinePress(Struct, frozen=True):
    """A press that gives a command as an answer to the line above it."""

    verb: str
    label: str = ""
    tone: str = "plain"

    @property
    def data(self) -> str:
        """It in a few signs."""
        return f"do:{self.verb}"


Press: TypeAlias = ButtonPress | ReminderPress | LinePress


def press_of(data: str) -> Press | None:
    """The press that data of a button stand for; None for what is no button of ours."""
    if found := _DATA.fullmatch(data):
        return LinePress(found[1])
    return ButtonPress.read(data) or ReminderPress.read(data)


def tone_of(press: Press) -> str:
    """Whether a button says yes, no, or neither ("plain")."""
    return press.tone if isinstance(press, LinePress) else TONES.get(press.verb, "plain")


async def buttons_of(front: RoomsApi, line: Event) -> tuple[Press, ...]:
    """The buttons that belong under a line, or a word of the room, as things stand."""
    own = await front.commands.routed.buttons(line)
    return (
        *await buttons_under(front.questions, line),
        *await buttons_of_reminder(front, line),
        *(LinePress(one.name, one.label, one.tone) for one in own),
    )


class LineButtons:
    """What presses come to."""

    def __init__(self, ground: PressGround) -> None:
        self._ground, self._front = ground, ground.front
        self.questions = QuestionButtons(ground)

    async def pressed(
        self, places: Sequence[str], message: str, by: Presser, press: Press, reason: str = ""
    ) -> str:
        """Do what the button says; what whoever pressed is told alone."""
        match press:
            case ButtonPress():
                return await self.questions.pressed(places, message, by, press, reason)
            case ReminderPress():
                return await self._moved(places, message, by, press)
            case LinePress(verb=verb):
                return await self._ordered(places, message, by, verb)

    async def _moved(
        self, places: Sequence[str], message: str, by: Presser, press: ReminderPress
    ) -> str:
        """Put a reminder off or cancel it."""
        room, line = await self._ground.under(places, message)
        rung = await self._front.rung.told(line) if line else None
        if rung is None:
            return ELSEWHERE
        if not rung.kept:
            return GONE
        person = self._ground.people.who(places[0].partition(":")[0], by.account)
        if person is None or by.bot:
            return "This is somebody else's reminder."
        here = replace(by, keeper=by.keeper and rung.room == room)
        words = "reminders", rung.argument(press.verb)
        try:
            return await self._ground.commanded(rung.room, person.id, places[0], here, *words)
        except InputError as refusal:
            return str(refusal)

    async def _ordered(self, places: Sequence[str], message: str, by: Presser, verb: str) -> str:
        room, line = await self._ground.under(places, message)
        if line is None or await self._front.commands.routed.source(line) is None:
            return NOTHING
        if by.bot:
            return "A bot decides nothing."
        person = await self._ground.comes_in(places[0], room, by)
        try:
            asked = self._ground.request(room, person, places[0], by)
            return await self._front.commands.press(verb, replace(asked, reply_to=line.id))
        except InputError as refusal:
            return str(refusal)
