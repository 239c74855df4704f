"""Outward: lines of rooms as messages of Telegram.

Knows bots and chats; does not know rooms, nor how a line is worded (see terminal_wording.py), nor
what of it stands there already (see arrival_check.py).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from telegram.error import TelegramError

import telegram
from loopforge.errors import SendFailed
from loopforge.io.telegram.connection.api_errors import failure
from loopforge.io.telegram.connection.chat_keys import ChatKey
from loopforge.io.telegram.connection.polling import Poll
from loopforge.io.telegram.text.incoming_text import Rendered
from loopforge.io.text.graphemes import measure
from telegram import InputMediaDocument, LinkPreviewOptions, ReplyParameters

T = TypeVar("T")
LONGEST = 4096
CAPTION = 1024
"""Units that may stand under a file."""
NO_PREVIEW = LinkPreviewOptions(is_disabled=True)


class TelegramMessages:
    """Sends by one bot, and nothing more in a chat while Telegram asks for patience there."""

    def __init__(self, poll: Poll) -> None:
        self.bot, self._flood = poll.bot, poll.flood

    async def post(self, at: ChatKey, rendered: Rendered, reply: int | None = None) -> int:
        """Send a new message; its number. Raises SendFailed."""

        async def send() -> telegram.Message:
            return await self.bot.send_message(
                at.chat,
                rendered.text,
                entities=rendered.entities,
                message_thread_id=at.topic,
                link_preview_options=NO_PREVIEW,
                reply_parameters=_reply(reply),
            )

        return (await self._sent(at, send)).message_id

    async def file(self, at: ChatKey, name: str, data: bytes, reply: int | None = None) -> int:
        """Send a file; the number of its message. Raises SendFailed."""

        async def send() -> telegram.Message:
            return await self.bot.send_document(
                at.chat,
                data,
                filename=name,
                message_thread_id=at.topic,
                reply_parameters=_reply(reply),
            )

        return (await self._sent(at, send)).message_id

    async def edit(self, at: ChatKey, message: int, rendered: Rendered) -> None:
        """Let a message of ours say something else; one that says it already is as well."""

        async def change() -> object:
            return await self.bot.edit_message_text(
                rendered.text,
                chat_id=at.chat,
                message_id=message,
                entities=rendered.entities,
                link_preview_options=NO_PREVIEW,
            )

        try:
            await self._sent(at, change)
        except SendFailed as refused:
            if "not modified" not in refused.why:
                raise

    async def fill(self, at: ChatKey, message: int, name: str, data: bytes, words: str) -> None:
        """Let a message of ours be a file, with words (or their beginning) under it."""
        under = words if measure(words) <= CAPTION else f"{words[: CAPTION // 2 - 2]} …"

        async def change() -> object:
            file = InputMediaDocument(data, under, filename=name)
            return await self.bot.edit_message_media(file, at.chat, message)

        await self._sent(at, change)

    async def delete(self, at: ChatKey, message: int) -> None:
        """Take a message away; one that is away is as well."""

        async def take() -> object:
            return await self.bot.delete_message(at.chat, message)

        try:
            await self._done(take)
        except SendFailed as refused:
            if "not found" not in refused.why:
                raise

    async def react(self, at: ChatKey, message: int, emoji: str) -> None:
        """Put a reaction on a message ("" takes ours off). Raises SendFailed."""

        async def put() -> object:
            return await self.bot.set_message_reaction(at.chat, message, emoji or None)

        await self._done(put)

    async def _sent(self, at: ChatKey, work: Callable[[], Awaitable[T]]) -> T:
        """Do what counts as a message in this chat. Raises SendFailed, also without asking."""
        self._flood.weigh(at.chat)
        try:
            return await self._done(work)
        except SendFailed as refused:
            self._flood.came(at.chat, refused.after)
            raise

    async def _done(self, work: Callable[[], Awaitable[T]]) -> T:
        try:
            return await work()
        except TelegramError as error:
            raise failure(error) from None


def _reply(message: int | None) -> ReplyParameters | None:
    if message is None:
        return None
    return ReplyParameters(message, allow_sending_without_reply=True)
