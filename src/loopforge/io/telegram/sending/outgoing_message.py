"""Outgoing: lines of rooms as messages of Telegram.

Knows bots and chats; does not know rooms, nor how a line is worded (see terminal_wording.py), nor
what of it stands there already (see arrival_check.py).
"""

from collections.abc import Iterator
from contextlib import contextmanager

from loopforge.errors import SendFailed
from loopforge.io.telegram.connection.api_errors import convert_api_errors
from loopforge.io.telegram.connection.chat_keys import ChatKey
from loopforge.io.telegram.connection.polling import BotPolling
from loopforge.io.telegram.text.markdown import EntityText
from loopforge.io.text.graphemes import utf16_length
from telegram import (
    InlineKeyboardMarkup,
    InputMediaDocument,
    LinkPreviewOptions,
    ReplyParameters,
)

CAPTION = 1024
"""Units that may stand under a file."""
UPLOAD = 120.0
"""Seconds that Telegram has to take a file: it answers once it has all of it."""
Buttons = InlineKeyboardMarkup | None
NO_PREVIEW = LinkPreviewOptions(is_disabled=True)


class TelegramMessages:
    """Sends by one bot, and nothing more in a chat while Telegram asks for patience there."""

    def __init__(self, poll: BotPolling) -> None:
        self.bot, self._flood = poll.bot, poll.flood

    async def post(
        self,
        at: ChatKey,
        rendered: EntityText,
        reply: int | None = None,
        buttons: Buttons = None,
    ) -> int:
        """Send a new message; its number. Raises SendFailed."""
        with self._flood.asking(at.chat):
            sent = await self.bot.send_message(
                at.chat,
                rendered.text,
                entities=rendered.entities,
                message_thread_id=at.topic,
                link_preview_options=NO_PREVIEW,
                reply_parameters=_reply(reply),
                reply_markup=buttons,
            )
        return sent.message_id

    async def file(
        self,
        at: ChatKey,
        name: str,
        data: bytes,
        reply: int | None = None,
        buttons: Buttons = None,
    ) -> int:
        """Send a file; the number of its message. Raises SendFailed."""
        with self._flood.asking(at.chat):
            sent = await self.bot.send_document(
                at.chat,
                data,
                filename=name,
                read_timeout=UPLOAD,
                write_timeout=UPLOAD,
                message_thread_id=at.topic,
                reply_parameters=_reply(reply),
                reply_markup=buttons,
            )
        return sent.message_id

    async def edit(
        self, at: ChatKey, message: int, rendered: EntityText, buttons: Buttons = None
    ) -> None:
        """Let a message of ours say something else, with these buttons (None: without).

        One that says it already is as well.
        """
        with _unless("not modified"), self._flood.asking(at.chat):
            await self.bot.edit_message_text(
                rendered.text,
                chat_id=at.chat,
                message_id=message,
                entities=rendered.entities,
                link_preview_options=NO_PREVIEW,
                reply_markup=buttons,
            )

    async def fill(self, at: ChatKey, message: int, name: str, data: bytes, words: str) -> None:
        """Let a message of ours be a file, with words (or their beginning) under it."""
        under = words if utf16_length(words) <= CAPTION else f"{words[: CAPTION // 2 - 2]} …"
        file = InputMediaDocument(data, under, filename=name)
        with self._flood.asking(at.chat):
            await self.bot.edit_message_media(
                file, at.chat, message, read_timeout=UPLOAD, write_timeout=UPLOAD
            )

    async def delete(self, at: ChatKey, message: int) -> None:
        """Take a message away; one that is away is as well."""
        with _unless("not found"), convert_api_errors():
            await self.bot.delete_message(at.chat, message)

    async def react(self, at: ChatKey, message: int, emoji: str) -> None:
        """Put a reaction on a message that is there ("" takes ours off). Raises SendFailed."""
        with _unless("to react not found"), convert_api_errors():
            await self.bot.set_message_reaction(at.chat, message, emoji or None)


@contextmanager
def _unless(said: str) -> Iterator[None]:
    """Let a refusal pass that says that it is so already."""
    try:
        yield
    except SendFailed as refused:
        if said not in refused.why:
            raise


def _reply(message: int | None) -> ReplyParameters | None:
    if message is None:
        return None
    return ReplyParameters(message, allow_sending_without_reply=True)
