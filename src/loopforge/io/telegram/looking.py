"""Looking: which messages of a chat are ours, where nobody knows whether a sending arrived.

Telegram has no key by which a message that is sent twice is known to be one, and no way to read a
chat back. What it has: messages of a chat are numbered upwards, and asking to change the buttons of
one says whether it is there ("not found"), somebody else's ("can't be edited") or ours ("not
modified"), and changes nothing. So after an attempt that broke off, the numbers above the highest
one known are asked: messages of ours there, as many as parts are missing or fewer, are those parts.
Where that does not settle it, the delivery is uncertain, and never made again.

Each question counts as an edit, of which a group takes about 20 in a minute, with all that is said
there; so numbers that are known are not asked for, one is asked in a second, what was asked is
remembered between tries, and a look that would hold up the chat for a minute ends as uncertain.
Does not know what was to be said.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from itertools import count
from typing import NamedTuple

from telegram.error import BadRequest, TelegramError

from loopforge.errors import SendFailed
from loopforge.io.telegram.faults import failure
from loopforge.io.telegram.place import Where
from loopforge.io.telegram.poll import Poll
from loopforge.runtime.ports import Clock

PACE = 1.05
"""Seconds between two questions in a chat."""
PATIENCE = 50.0
"""Seconds that a look may take in all, with what Telegram asks to wait."""


class Depth(NamedTuple):
    """How far is looked: so many numbers in a row that are not there, and so many asked in all."""

    empty: int
    asked: int


SUPERGROUP = Depth(5, 16)
"""Every message there has the next number, and only what was deleted leaves a hole."""
GROUP = Depth(14, 18)
"""A basic group's numbers are the bot's over all its chats: others' leave holes."""
PRIVATE = Depth(30, 45)
"""The same; but nothing but one in a second is asked of a private chat."""


class Span(NamedTuple):
    """What is looked through: above `anchor`; others are known up to `top`; `known` not asked for.

    `wanted`: so many messages of ours that nothing accounts for are as many as there can be.
    """

    anchor: int
    top: int
    known: Set[int]
    wanted: int = 1


class Look:
    """What was seen of one chat for one thing that is in doubt; it goes on where it stopped."""

    def __init__(self, poll: Poll, at: Where, clock: Clock) -> None:
        self._bot, self._flood, self._at, self._clock = poll.bot, poll.flood, at, clock
        self._seen: dict[int, str] = {}
        self._spent = 0.0

    @property
    def depth(self) -> Depth:
        """How far is looked in this chat."""
        if self._at.bot is None:
            return SUPERGROUP
        return PRIVATE if self._at.private else GROUP

    async def ours(self, span: Span) -> Sequence[int]:
        """The numbers of messages of ours. Raises SendFailed, uncertain where it stays open.

        Where numbers are the bot's own it ends with as many as are wanted. What was not there above
        all that is known is asked for again: it may have come late.
        """
        self._seen = {n: a for n, a in self._seen.items() if a != "nothing" or n < span.top}
        found, missing = [], 0
        for number in count(span.anchor + 1):
            if number in span.known:
                missing = 0
                continue
            if number not in self._seen and len(self._seen) == self.depth.asked:
                break
            answer = self._seen.get(number) or await self._asked(number)
            missing = missing + 1 if answer == "nothing" else 0
            if answer == "ours":
                found.append(number)
            ends = missing >= self.depth.empty and number >= span.top + self.depth.empty
            if ends or (self._at.bot is not None and len(found) == span.wanted):
                return found
        raise SendFailed(
            "too much was said there since to find out whether it arrived.", uncertain=True
        )

    async def _asked(self, number: int) -> str:
        """What a number is; waits as Telegram wants it."""
        while True:
            if self._seen:
                await self._wait(PACE)
            try:
                self._seen[number] = await self._look(number)
            except SendFailed as refused:
                if not refused.after:
                    raise
                self._flood.came(self._at.chat, refused.after)
                await self._wait(refused.after)
                continue
            return self._seen[number]

    async def _wait(self, seconds: float) -> None:
        self._spent += seconds
        if self._spent > PATIENCE:
            raise SendFailed(
                "it was cut off, and Telegram does not let us look soon enough whether it arrived.",
                uncertain=True,
            )
        await self._clock.sleep(seconds)

    async def _look(self, number: int) -> str:
        """What a number is: ours, another's, nothing."""
        self._flood.weigh(self._at.chat)
        try:
            await self._bot.edit_message_reply_markup(self._at.chat, number)
        except BadRequest as error:
            said = str(error.message).casefold()
            if "not modified" in said:
                return "ours"
            return "nothing" if "not found" in said else "another's"
        except TelegramError as error:
            raise failure(error) from None
        return "ours"
