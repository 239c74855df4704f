"""Arrival check: which messages of a chat are ours, where nobody knows whether a sending arrived.

Telegram has no key by which a message that is sent twice is known to be one, and no way to read a
chat back. What it has: messages of a chat are numbered upwards, and asking to end the live location
of one says whether it is there ("not found"), somebody else's ("can't be edited") or ours ("no live
location"). Nothing of ours is a live location, so that this changes nothing; to ask for a change of
its buttons would take those of a question away. So after an attempt that broke off, the numbers
above the highest one known are asked: messages of ours there, as many as parts are missing or
fewer, are those parts. Where that does not settle it, the delivery is uncertain, and never made
again.

A message may come to stand seconds after its call broke off, a large file minutes: nothing is asked
before that is over. Numbers are given in order, so one that was given to a sending which began well
after the one in doubt broke off is above it: it ends the look, and where much is said that is soon.
Else a look ends some numbers above all that are known. For a bot in privacy mode it does not: lines
that it is not told of are not there for it either, and its own may stand above any number of them.

Each question counts as an edit, of which a group takes about 20 in a minute, with all that is said
there; so numbers that are known are not asked for, one is asked in a second, what was asked is
remembered between tries, and where Telegram asks for patience the look goes on after that. Does not
know what was to be said.
"""

from collections.abc import Awaitable, Callable, Sequence, Set
from itertools import count
from typing import NamedTuple

from telegram.error import BadRequest

from loopforge.errors import SendFailed
from loopforge.io.telegram.connection.chat_keys import ChatKey
from loopforge.io.telegram.connection.polling import BotPolling
from loopforge.runtime.ports import Clock

PACE = 1.05
"""Seconds between two questions in a chat."""
SETTLED = 5.0
"""Seconds after which a sending that broke off is over at Telegram's side, too; of a large file
later."""
AFRESH = 3
"""Questions after which it is read again which numbers are known."""
TOO_MUCH = "too much was said there since to find out whether it arrived."
UNHEARD = (
    "it was cut off, and whether it arrived cannot be found out: the bot's privacy mode is on, so "
    "that it does not see all that is there."
)


class CheckDepth(NamedTuple):
    """How far is looked: so many numbers in a row that are not there, and so many asked in all."""

    empty: int
    asked: int


SUPERGROUP = CheckDepth(5, 16)
"""Every message there has the next number, and only what was deleted leaves a hole."""
GROUP = CheckDepth(14, 18)
"""A basic group's numbers are the bot's over all its chats: others' leave holes."""
PRIVATE = CheckDepth(30, 45)
"""The same; but nothing but one in a second is asked of a private chat."""


class NumberSpan(NamedTuple):
    """What is looked through: above `anchor`; others are known up to `top`; `known` not asked for.

    `later`: the lowest number of what we began to send at that time (ticks) or later; 0: nothing.
    """

    anchor: int
    top: int
    known: Set[int]
    later: Callable[[float], int]


Read = Callable[[], Awaitable[NumberSpan]]


class ArrivalCheck:
    """What was seen of one chat for one thing that is in doubt; it goes on where it stopped."""

    def __init__(
        self, poll: BotPolling, at: ChatKey, clock: Clock, settled: float = SETTLED
    ) -> None:
        self._poll, self._at, self._clock, self._settled = poll, at, clock, settled
        self._seen: dict[int, str] = {}
        self._began: float | None = None
        self._hears_all: bool | None = None

    @property
    def depth(self) -> CheckDepth:
        """How far is looked in this chat."""
        if self._at.counts:
            return SUPERGROUP
        return PRIVATE if self._at.private else GROUP

    async def ours(self, read: Read, wanted: int = 1, *, alone: bool = True) -> Sequence[int]:
        """The numbers of messages of ours. Raises SendFailed, uncertain where it stays open.

        `wanted`: so many are missing. `alone`: no more than these can be there, so that where
        numbers are the bot's own it ends with them; else notices of an earlier process may be, too.
        Nothing is asked before what broke off is over.
        """
        self._began = self._clock.ticks() if self._began is None else self._began
        settled = self._began + self._settled
        await self._clock.sleep(settled - self._clock.ticks())
        first = span = await read()
        found, missing, asked = list[int](), 0, 0
        for number in count(first.anchor + 1):
            if asked == AFRESH:
                span, asked = await read(), 0
            if number in span.known:
                missing = 0 if number in first.known else missing
                continue
            if (below := span.later(settled)) and number >= below:
                break
            if number not in self._seen:
                await self._ask(number)
                asked += 1
            missing = missing + 1 if self._seen[number] == "nothing" else 0
            if self._seen[number] == "ours":
                found.append(number)
            empty = missing >= self.depth.empty and number >= first.top + self.depth.empty
            if empty and (len(found) >= wanted or await self._is_told_of_all()):
                break
            if alone and not self._at.counts and len(found) == wanted:
                break
        self._began = None
        self._seen.clear()
        known = (await read()).known if found else ()
        return [number for number in found if number not in known]

    async def _is_told_of_all(self) -> bool:
        """Whether nothing stands where nothing is found. Asked once."""
        if self._hears_all is None:
            self._hears_all = self._at.private or await self._poll.hears_all(self._at.chat)
        return self._hears_all

    async def _ask(self, number: int) -> None:
        """See what a number is, a second after the last one. Raises SendFailed."""
        if len(self._seen) == self.depth.asked:
            raise SendFailed(UNHEARD if self._hears_all is False else TOO_MUCH, uncertain=True)
        if self._seen:
            await self._clock.sleep(PACE)
        self._seen[number] = await self._look(number)

    async def _look(self, number: int) -> str:
        """What a number is: ours, another's, nothing."""
        with self._poll.flood.asking(self._at.chat):
            try:
                await self._poll.bot.stop_message_live_location(self._at.chat, number)
            except BadRequest as error:
                said = str(error.message).casefold()
                if "no live location in" not in said:
                    return "nothing" if "not found" in said else "another's"
        return "ours"
