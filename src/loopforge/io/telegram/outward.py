"""Outward: lines of rooms as messages of Telegram, each part once.

Telegram has no key by which a message that is sent twice is known to be one, and no way to read a
chat back. What it has: messages of a chat are numbered upwards, and asking to change the buttons of
one says whether it is there ("not found"), somebody else's ("can't be edited") or ours ("not
modified"), and changes nothing. So after an attempt that broke off, the numbers above the highest
one known are asked: messages of ours there, as many as parts are missing or fewer, are those parts.
Where that does not settle it, the delivery is uncertain, and never made again.

Knows bots and chats; does not know rooms, nor how a line is worded (see wording.py).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence, Set
from itertools import count
from typing import TypeVar

from telegram.error import BadRequest, TelegramError

import telegram
from loopforge.errors import SendFailed
from loopforge.io.graphemes import measure
from loopforge.io.telegram.faults import failure
from loopforge.io.telegram.place import Where
from loopforge.io.telegram.words import Rendered
from telegram import InputMediaDocument, LinkPreviewOptions, MessageEntity, ReplyParameters

T = TypeVar("T")
ASKED = 400
"""Numbers asked above the highest one known before it is called uncertain."""
EMPTY = 30
"""So many in a row that are not there, above all that are: nothing follows."""
LONGEST = 4096
CAPTION = 1024
"""Units that may stand under a file."""
NO_PREVIEW = LinkPreviewOptions(is_disabled=True)


def entities(rendered: Rendered) -> list[MessageEntity]:
    """The entities as Telegram's client wants them."""
    return [
        MessageEntity(
            type=each.type,
            offset=each.offset,
            length=each.length,
            url=each.url or None,
            language=each.language or None,
        )
        for each in rendered.entities
    ]


class Outward:
    """Sends for one bot."""

    def __init__(self, bot: telegram.Bot) -> None:
        self.bot = bot

    async def post(self, at: Where, rendered: Rendered, reply: int | None = None) -> int:
        """Send a new message; its number. Raises SendFailed."""

        async def send() -> telegram.Message:
            return await self.bot.send_message(
                at.chat,
                rendered.text,
                entities=entities(rendered),
                message_thread_id=at.topic,
                link_preview_options=NO_PREVIEW,
                reply_parameters=_reply(reply),
            )

        return (await self._done(send)).message_id

    async def file(self, at: Where, name: str, data: bytes, reply: int | None = None) -> int:
        """Send a file; the number of its message. Raises SendFailed."""

        async def send() -> telegram.Message:
            return await self.bot.send_document(
                at.chat,
                data,
                filename=name,
                message_thread_id=at.topic,
                reply_parameters=_reply(reply),
            )

        return (await self._done(send)).message_id

    async def edit(self, at: Where, message: int, rendered: Rendered) -> None:
        """Let a message of ours say something else; one that says it already is as well."""

        async def change() -> object:
            return await self.bot.edit_message_text(
                rendered.text,
                chat_id=at.chat,
                message_id=message,
                entities=entities(rendered),
                link_preview_options=NO_PREVIEW,
            )

        try:
            await self._done(change)
        except SendFailed as refused:
            if "not modified" not in refused.why:
                raise

    async def fill(self, at: Where, message: int, name: str, data: bytes, words: str) -> None:
        """Let a message of ours be a file, with words (or their beginning) under it."""
        under = words if measure(words) <= CAPTION else f"{words[: CAPTION // 2 - 2]} …"

        async def change() -> object:
            file = InputMediaDocument(data, under, filename=name)
            return await self.bot.edit_message_media(file, at.chat, message)

        await self._done(change)

    async def delete(self, at: Where, message: int) -> None:
        """Take a message away; one that is away is as well."""

        async def take() -> object:
            return await self.bot.delete_message(at.chat, message)

        try:
            await self._done(take)
        except SendFailed as refused:
            if "not found" not in refused.why:
                raise

    async def react(self, at: Where, message: int, emoji: str) -> None:
        """Put a reaction on a message ("" takes ours off). Raises SendFailed."""

        async def put() -> object:
            return await self.bot.set_message_reaction(at.chat, message, emoji or None)

        await self._done(put)

    async def ours_above(self, at: Where, anchor: int, top: int, known: Set[int]) -> Sequence[int]:
        """The numbers of messages of ours above `anchor`, but for `known`, which are not asked for.

        Others are known up to `top`. Raises SendFailed where it stays open.
        """
        found, missing, asked = [], 0, 0
        for number in count(anchor + 1):
            if number in known:
                missing = 0
                continue
            if asked == ASKED:
                break
            answer, asked = await self._look(at, number), asked + 1
            missing = missing + 1 if answer == "nothing" else 0
            if answer == "ours":
                found.append(number)
            if missing >= EMPTY and number >= top + EMPTY:
                return found
        raise SendFailed(
            "too much was said there since to find out whether it arrived.", uncertain=True
        )

    async def _look(self, at: Where, number: int) -> str:
        """What a number is: ours, another's, nothing."""
        try:
            await self.bot.edit_message_reply_markup(at.chat, number)
        except BadRequest as error:
            said = str(error.message).casefold()
            if "not modified" in said:
                return "ours"
            return "nothing" if "not found" in said else "another's"
        except TelegramError as error:
            raise failure(error) from None
        return "ours"

    async def _done(self, work: Callable[[], Awaitable[T]]) -> T:
        try:
            return await work()
        except TelegramError as error:
            raise failure(error) from None


def _reply(message: int | None) -> ReplyParameters | None:
    if message is None:
        return None
    return ReplyParameters(message, allow_sending_without_reply=True)
