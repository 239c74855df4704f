"""Replies: what a bot says that is no line of a room: greetings, notices, what commands come to.

They stand in no ledger. One that Telegram does not take now is sent again for as long as somebody
waits for it, after what was said there before it and beside everything else; where it may have
arrived that is looked for first. One that could not be sent in that time is followed by one word
that says so, as soon as Telegram takes that. Few wait in a chat: whoever asks for hundreds would
hold up what mates say there for minutes, since a group takes about 20 messages in one.

Does not know commands, nor rooms.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from itertools import chain, repeat

from msgspec import Struct
from msgspec.structs import replace

from loopforge.core.text.spoken_lists import join_as_prose
from loopforge.errors import SendFailed
from loopforge.io.telegram.connection.chat_keys import ChatKey, parse_chat_key
from loopforge.io.telegram.connection.polling import BotPolling
from loopforge.io.telegram.sending.arrival_check import ArrivalCheck
from loopforge.io.telegram.sending.message_delivery import (
    Part,
    TelegramDelivery,
    UploadPart,
    parts_of,
)
from loopforge.io.telegram.sending.outgoing_message import TelegramMessages
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Clock

log = logging.getLogger(__name__)
PATIENCE, WORD = 120.0, 3600.0
"""Seconds for which an answer is tried, and for which the word that it could not be sent is."""
WAITING = 10
"""Answers that wait in a chat; what is more is not said, which one of them says."""
MANY = (
    "More was asked here at once than can be answered: what was asked just now is carried out, but "
    "gets no answer. Ask again in a minute."
)
PAUSES = (1.0, 2.0, 5.0, 15.0)
"""Seconds before the next attempt, where Telegram does not say how many; the last one holds."""


class ReplyAnswer(Struct, frozen=True, kw_only=True):
    """Words for a chat, by a bot, in answer to a message there (its number).

    `otherwise` gives what is said instead where it cannot be sent.
    """

    poll: BotPolling
    at: ChatKey
    text: str
    reply: int | None = None
    patience: float = PATIENCE
    otherwise: Callable[[SendFailed], ReplyAnswer] | None = None


class CommandReplies:
    """Says what is no line of a room."""

    def __init__(self, sending: TelegramDelivery, clock: Clock) -> None:
        self._sending, self._clock, self._tasks = sending, clock, BackgroundTasks()
        self._order: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._waiting = Counter[str]()
        self._full = set[str]()
        """Chats in which that was said, until nothing waits there any more."""

    async def close(self) -> None:
        """Say nothing any more."""
        await self._tasks.close()

    async def say(self, answer: ReplyAnswer) -> None:
        """Say it; returns when it was tried once, or has to wait behind another one."""
        key = answer.at.key
        if self._waiting[key] >= WAITING:
            if key in self._full:
                return
            self._full.add(key)
            answer = replace(answer, text=MANY)
        self._waiting[key] += 1
        tried, behind = asyncio.Event(), self._order[answer.at.key].locked()
        self._tasks.spawn(self._say(answer, tried), "an answer on telegram")
        if not behind:
            await tried.wait()

    async def _say(self, answer: ReplyAnswer, tried: asyncio.Event) -> None:
        try:
            async with self._order[answer.at.key]:
                refused = await self._kept(answer, tried)
            if refused is None:
                return
            log.info("telegram: an answer could not be sent: %s", refused.why)
            if refused.moved:
                await self.say(replace(answer, at=parse_chat_key(refused.moved), reply=None))
                return
            if answer.otherwise is not None:
                await self.say(answer.otherwise(refused))
            elif answer.patience < WORD and not refused.final:
                await self.say(_word(answer, refused))
        finally:
            tried.set()
            self._waiting -= Counter([answer.at.key])
            if not self._waiting[answer.at.key]:
                self._full.discard(answer.at.key)

    async def _kept(self, answer: ReplyAnswer, tried: asyncio.Event) -> SendFailed | None:
        """Try it until it is there; what it met, where it cannot be."""
        end, parts = self._clock.ticks() + answer.patience, [*parts_of(answer.text, 1)]
        anchor = await self._sending.anchor(answer.poll, answer.at, answer.reply)
        doubt, look = False, ArrivalCheck(answer.poll, answer.at, self._clock)
        for pause in chain(PAUSES, repeat(PAUSES[-1])):
            try:
                if doubt and await self._sending.arrived(look, answer.poll, answer.at, anchor):
                    del parts[0]
                doubt = False
                while parts:
                    await self._post(answer, parts[0])
                    del parts[0]
            except SendFailed as refused:
                tried.set()
                wait = refused.after or pause
                late = self._clock.ticks() + wait > end
                if refused.final or refused.uncertain or late:
                    return refused
                doubt = doubt or not refused.unsent
                await self._clock.sleep(wait)
            else:
                break
        return None

    async def _post(self, answer: ReplyAnswer, part: Part) -> None:
        outward = TelegramMessages(answer.poll)
        if isinstance(part, UploadPart):
            number = await outward.file(answer.at, part.name, part.data, answer.reply)
        else:
            number = await outward.post(answer.at, part, answer.reply)
        self._sending.met(answer.poll, answer.at.key, number)


def _word(answer: ReplyAnswer, refused: SendFailed) -> ReplyAnswer:
    said = f"The answer to this could not be sent in time: {refused.why} Ask again if you need it."
    if refused.uncertain:
        said = "Nobody can tell whether the answer to this arrived. Ask again if you miss it."
    at, reply = answer.at, answer.reply
    return ReplyAnswer(poll=answer.poll, at=at, text=said, reply=reply, patience=WORD)


# ---------------------------------------------------------------- greeting

SHOWN = 5
"""Names of mates that are said, of a bot that is there for many."""
HELP = "/help lists what else there is."
PRIVACY = (
    "Other lines do not reach the bot, since its privacy mode is on: /setprivacy at "
    "https://t.me/BotFather changes that, for groups into which it is brought afterwards."
)


def start_greeting(
    mates: Sequence[str], username: str, *, private: bool, hears_all: bool = True
) -> str:
    """How to talk with these `mates` (names) here; in a group the bot may not hear every line."""
    here = f"Here {'are' if len(mates) > 1 else 'is'} {join_as_prose(mates, SHOWN)}"
    if private:
        return f"{here}: whatever you write is answered. {HELP}"
    if hears_all:
        return f"{here}: say the name, mention @{username} or answer one of its lines. {HELP}"
    return f"{here}: mention @{username} or answer one of its lines. {PRIVACY} {HELP}"
