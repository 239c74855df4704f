"""The stage: typing signs, drafts and marks as Telegram can show them.

In private chats a draft is Telegram's own (it fades by itself when the message comes). In groups it
is a message that is edited; its number is in the ledger, and the line takes its place. It ends with
a cursor, so that people see that more is coming.
"""

from __future__ import annotations

import zlib

from telegram.constants import ChatAction
from telegram.error import TelegramError

from loopforge.chat.front import Front
from loopforge.chat.house import stream_of
from loopforge.core.delivery import Drafted
from loopforge.errors import SendFailed
from loopforge.io.session import Sessions
from loopforge.io.telegram.faults import failure
from loopforge.io.telegram.outward import LONGEST, Outward
from loopforge.io.telegram.place import NAME, where
from loopforge.io.telegram.sending import Sending
from loopforge.io.telegram.words import rendered
from loopforge.io.watching import Mark

CURSOR = " ▌"
SIGNS: dict[Mark, str] = {"seen": "👀", "answered": "👌", "failed": "💔", "": ""}
"""Bots may only put Telegram's own reactions, which have neither a tick nor a cross."""


class Stage:
    """Shows what is in the air of a room."""

    name = NAME

    def __init__(self, sending: Sending, sessions: Sessions, front: Front) -> None:
        self._sending, self._sessions, self._front = sending, sessions, front
        self._standing: dict[tuple[str, str], int] = {}
        self._over: set[tuple[str, str]] = set()

    async def typing(self, place: str, mate: str) -> None:
        """Show that this mate is typing, for five seconds."""
        at = where(place)
        bot = self._sending.by(mate, at).bot
        await bot.send_chat_action(at.chat, ChatAction.TYPING, message_thread_id=at.topic)

    async def draft(self, place: str, turn: str, mate: str, text: str) -> float:
        """Show what it is saying so far; seconds to wait, where Telegram asks for patience."""
        at = where(place)
        poll = self._sending.by(mate, at)
        shown = text[: LONGEST // 2] + CURSOR
        try:
            if at.bot is not None:
                await poll.bot.send_message_draft(
                    at.chat, zlib.crc32(turn.encode()) or 1, rendered(shown).text
                )
                return 0.0
            async with self._sending.locks[place]:
                if (place, turn) in self._over:
                    return 0.0
                outward, number = Outward(poll.bot), self._standing.get((place, turn))
                if number is not None:
                    await outward.edit(at, number, rendered(shown))
                    return 0.0
                number = await outward.post(at, rendered(shown))
                self._standing[place, turn] = number
                await self._note(place, turn, str(number))
        except SendFailed as refused:
            return refused.after or 1.0
        except TelegramError as error:
            return failure(error).after or 1.0
        return 0.0

    async def withdraw(self, place: str, turn: str, mate: str) -> None:
        """Take a draft away."""
        async with self._sending.locks[place]:
            self._over.add((place, turn))
            number = self._standing.pop((place, turn), None)
            if number is not None:
                await self._away(place, turn, mate, number)

    async def mark(self, place: str, line: str, mark: Mark) -> None:
        """Put a mark on the message that a line is."""
        posts = await self._sessions.posts(place, line)
        if posts and posts[0].isdigit():
            at = where(place)
            bot = self._sending.by("", at).bot
            await Outward(bot).react(at, int(posts[0]), SIGNS[mark])

    async def clear(self) -> None:
        """Take away what a home that died left standing of turns that said nothing."""
        for stray in await self._sessions.strays(NAME):
            await self._away(stray.place, stray.turn, "", int(stray.message))

    async def _away(self, place: str, turn: str, mate: str, number: int) -> None:
        at = where(place)
        try:
            await Outward(self._sending.by(mate, at).bot).delete(at, number)
        except SendFailed as refused:
            if not refused.final:
                return
        await self._note(place, turn, "")

    async def _note(self, place: str, turn: str, number: str) -> None:
        if room := await self._sessions.known(place):
            body = Drafted(turn=turn, surface=place, message_id=number)
            await self._front.note(stream_of(room), body)
