"""Buttons under lines, the same for every platform: which there are, and what a press comes to.

    a question whether a tool may be used
        of which question is that message? is the digest its own? is it open?
        may they answer it so, and in time? then it is answered, once
    a reminder that rang                    a press does what `/reminders` does, for whose it is
    a line of what goes on beside the room  a press gives that command, as an answer to the line

What a button says stands in its data, and what it is about in the line above it, so that it works
after every restart. Whoever presses is in the room from then on, as if they had spoken there, and
is told alone what came of it; a press that does not count changes nothing, not even that. Does not
know how a platform shows buttons, nor what goes on beside rooms.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, Self, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from loopforge.chat.commands.approval_commands import ALWAYS, ApprovalQuestion, ApprovalQuestions
from loopforge.chat.commands.command_request import CommandRequest
from loopforge.chat.commands.reminder_buttons import REMINDER_WAYS, ReminderVerb
from loopforge.chat.rooms_api import RoomsApi
from loopforge.core.events import Event
from loopforge.errors import InputError, Unknown
from loopforge.people.identity.person_registry import PersonRegistry


class Presser(Struct, frozen=True, kw_only=True):
    """Whose press it is: their account there and their name; `keeper` of that place."""

    account: str
    name: str
    keeper: bool = False
    bot: bool = False


class Admission(Protocol):
    """Who may come in, and what they are here."""

    def knock(self, surface: str, account: str, name: str, place: str, /) -> Awaitable[str | None]:
        """Somebody writes in private: None lets them in; a text is shown; "" shows nothing."""

    def trusts(self, person: str) -> bool:
        """Whether a person is known here."""

    def owns(self, person: str) -> bool:
        """Whether this home is theirs."""


@dataclass(frozen=True)
class PressGround:
    """Where presses are made.

    `find` gives the room and the line that a message is, in one of several places.
    """

    front: RoomsApi
    people: PersonRegistry
    find: Callable[[Sequence[str], str], Awaitable[tuple[str, str]]]
    admission: Admission

    async def under(self, places: Sequence[str], message: str) -> tuple[str, Event | None]:
        """The room and the line that a message is; None where it is none of ours."""
        room, line = await self.find(places, message) if places and message else ("", "")
        return room, await self.front.line(room, line) if line else None

    async def comes_in(self, place: str, room: str, by: Presser) -> str:
        """The person who presses, who is in the room by that."""
        platform = place.partition(":")[0]
        person = await self.people.meet(platform, by.account, by.name)
        await self.front.rooms.arrive(room, person.id, by.name, platform)
        return person.id

    async def commanded(
        self, room: str, person: str, place: str, by: Presser, command: str, argument: str
    ) -> str:
        """Do what a command of the room does, as who pressed. Raises InputError."""
        asked = self.request(room, person, place, by)
        return await self.front.commands.carry_out(command, replace(asked, argument=argument))

    def request(self, room: str, person: str, place: str, by: Presser) -> CommandRequest:
        """What is asked by a press there, as who pressed."""
        return CommandRequest(
            room=room,
            person=person,
            keeper=by.keeper,
            owner=self.admission.owns(person),
            untrusted=not self.admission.trusts(person),
            surface=place.partition(":")[0],
            account=by.account,
        )


# ---------------------------------------------------------------- questions

Verb = Literal["once", "always", "deny"]
LABELS: dict[Verb, str] = {"once": "Allow once", "always": "Always here", "deny": "Deny"}
_QUESTION = re.compile(r"ask:(once|always|deny):([0-9a-f]{32})")
_DENIAL = re.compile(r"/?deny\b(?!\s*#?\d)[\s:,.]*(.*)", re.IGNORECASE | re.DOTALL)

NO_QUESTION = "This is no question of this place, or no longer: answer it where it was asked."
OVER = "This is answered already."


class ButtonPress(Struct, frozen=True):
    """A press: what it says, and the digest of what it says that about."""

    verb: Verb
    digest: str

    @property
    def label(self) -> str:
        """What people read on it."""
        return LABELS[self.verb]

    @property
    def data(self) -> str:
        """It in at most 43 signs, of which all are ASCII."""
        return f"ask:{self.verb}:{self.digest}"

    @classmethod
    def read(cls, data: str) -> Self | None:
        """The press that data of a button stand for; None for others."""
        found = _QUESTION.fullmatch(data)
        return cls(found[1], found[2]) if found else None  # type: ignore[arg-type]


def denial_reason(text: str) -> str | None:
    """The reason in an answer to a question that denies it, by no number; None for any other."""
    found = _DENIAL.fullmatch(text.strip())
    return found[1].strip() if found else None


async def buttons_under(questions: ApprovalQuestions, told: Event) -> Sequence[ButtonPress]:
    """The buttons that belong under a word of the room; none where it asks nothing any more."""
    question = await questions.asked(told)
    if question is None or not question.open:
        return ()
    verbs: Sequence[Verb] = ("once", "always", "deny") if question.always else ("once", "deny")
    if question.once:
        verbs = ("always", "deny")
    return [ButtonPress(verb, question.digest) for verb in verbs]


class QuestionButtons:
    """What presses of buttons come to."""

    def __init__(self, ground: PressGround) -> None:
        self._ground, self._front = ground, ground.front

    async def refused(
        self, places: Sequence[str], message: str, by: Presser, press: ButtonPress
    ) -> str:
        """Why a press does not count, as things stand; "" where it does. Changes nothing."""
        try:
            await self._checked(places, message, by, press)
        except InputError as refusal:
            return str(refusal)
        return ""

    async def pressed(
        self,
        places: Sequence[str],
        message: str,
        by: Presser,
        press: ButtonPress,
        reason: str = "",
    ) -> str:
        """Answer the question whose button it is; what whoever pressed is told alone."""
        try:
            room, question = await self._checked(places, message, by, press)
        except InputError as refusal:
            return str(refusal)
        return await self._answered(places[0], room, question, by, (press.verb, reason))

    async def denied(
        self, places: Sequence[str], message: str, by: Presser, reason: str
    ) -> str | None:
        """Deny the question that a message asks, for this reason; None if it asks none."""
        _, line = await self._ground.under(places, message)
        asked = await self._front.questions.asked(line) if line else None
        if asked is None:
            return None
        return await self.pressed(places, message, by, ButtonPress("deny", asked.digest), reason)

    async def _checked(
        self, places: Sequence[str], message: str, by: Presser, press: ButtonPress
    ) -> tuple[str, ApprovalQuestion]:
        """The room and the question that a press is about. Raises InputError."""
        room, line = await self._ground.under(places, message)
        question = await self._front.questions.asked(line) if line else None
        if question is None or question.digest != press.digest:
            raise InputError(NO_QUESTION)
        if not question.open:
            raise InputError(await self._over(question))
        if by.bot:
            raise InputError("A bot answers no question.")
        person = self._ground.people.who(places[0].partition(":")[0], by.account)
        id = person.id if person is not None else "?"
        asked = replace(
            self._ground.request(room, id, places[0], by), argument=str(question.number)
        )
        await self._front.commands.check_answer(asked, always=press.verb == "always")
        return room, question

    async def _answered(
        self,
        place: str,
        room: str,
        question: ApprovalQuestion,
        by: Presser,
        how: tuple[Verb, str],
    ) -> str:
        person = await self._ground.comes_in(place, room, by)
        verb, reason = how
        command = "deny" if verb == "deny" else "approve"
        more = ALWAYS if verb == "always" else reason
        try:
            return await self._ground.commanded(
                room, person, place, by, command, f"{question.number} {more}"
            )
        except Unknown:
            return await self._over(question)  # somebody else was quicker
        except InputError as refusal:
            return str(refusal)

    async def _over(self, question: ApprovalQuestion) -> str:
        return f"{OVER} {await self._front.questions.ended(question)}".strip()


# ---------------------------------------------------------------- reminders and lines

_SIGN, _COMMAND = "ring:", re.compile(r"do:([a-z]{2,20})")
NOTHING = "This is nothing of this place, or no longer."
NO_REMINDER = "This is no reminder of this place, or no longer."
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
    if found := _COMMAND.fullmatch(data):
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
            return NO_REMINDER
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
