"""Buttons under a question whether a mate may use a tool, the same for every platform.

    a press --> of which question is that message? is the digest its own? is it open?
            --> may they answer it so, and in time? --> answered, once

What a button says stands in its data alone, so that it works after every restart, and nothing is
remembered of it. A press that does not count changes nothing, not even who is in the room; whoever
pressed is told why. Does not know how a platform shows buttons, nor how it tells somebody alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from loopforge.chat.commands.approval_commands import ALWAYS, ApprovalQuestion, ApprovalQuestions
from loopforge.core.events import Event
from loopforge.errors import InputError, Unknown
from loopforge.io.platforms.buttons.press_ground import Presser, PressGround

Verb = Literal["once", "always", "deny"]
LABELS: dict[Verb, str] = {"once": "Allow once", "always": "Always here", "deny": "Deny"}
_DATA = re.compile(r"ask:(once|always|deny):([0-9a-f]{32})")
_DENIAL = re.compile(r"/?deny\b(?!\s*#?\d)[\s:,.]*(.*)", re.IGNORECASE | re.DOTALL)

ELSEWHERE = "This is no question of this place, or no longer: answer it where it was asked."
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
    def read(cls, data: str) -> ButtonPress | None:
        """The press that data of a button stand for; None for others."""
        found = _DATA.fullmatch(data)
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
            raise InputError(ELSEWHERE)
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
