"""A press on a button under a line of a mate: what it came to is told to who pressed, alone.

One that Telegram tells again, since the program ended before it was acknowledged, is done once.
What comes too late for a press (Telegram waits some seconds), or is longer than Telegram shows of
it, is said in private.
"""

import logging
from collections.abc import Awaitable, Callable

from telegram.constants import ChatType
from telegram.error import TelegramError

import telegram
from loopforge.chat.room.platform_cursors import UNKNOWN, TakenCommands
from loopforge.errors import LedgerError
from loopforge.io.platforms.line_buttons import (
    NO_QUESTION,
    LineButtons,
    Press,
    Presser,
    press_of,
)
from loopforge.io.telegram.connection.api_errors import as_send_failure
from loopforge.io.telegram.connection.chat_keys import NAME, ChatKey
from loopforge.io.telegram.connection.polling import BotPolling
from loopforge.io.telegram.sending.command_replies import ReplyAnswer
from loopforge.io.telegram.text import incoming_message
from loopforge.io.text.graphemes import clip, utf16_length

log = logging.getLogger(__name__)
LATE = "query is too old"
"""How Telegram begins to say that a press can be answered no longer."""
TOAST, GLANCE = 200, 60
"""Units that Telegram shows of an answer to a press; more than a glance stays until it is read."""


class ButtonPresses:
    """Takes presses in. `places` are those of a chat of rooms, as a bot knows them."""

    def __init__(
        self,
        buttons: LineButtons,
        places: Callable[[int, int], Awaitable[list[str]]],
        taken: TakenCommands,
        say: Callable[[ReplyAnswer], Awaitable[None]],
    ) -> None:
        self._buttons, self._places, self._taken, self._say = buttons, places, taken, say

    async def pressed(self, poll: BotPolling, query: telegram.CallbackQuery) -> None:
        """Somebody pressed a button of ours."""
        told, press = NO_QUESTION, press_of(query.data or "")
        if press is not None and query.message is not None:
            chat, number = query.message.chat, str(query.message.message_id)
            keeper = chat.type == ChatType.PRIVATE
            keeper = keeper or await poll.groups.keeper(chat.id, query.from_user.id, now=True)
            by = Presser(
                account=str(query.from_user.id),
                name=incoming_message.called(query.from_user),
                keeper=keeper,
                bot=query.from_user.is_bot,
            )
            before = await self._taken.begin(NAME, f"press {query.id}")
            if before == "over":
                return
            places = await self._places(chat.id, poll.number)
            told = UNKNOWN if before else await self._done(query, places, number, by, press)
        shown = told if utf16_length(told) <= TOAST else f"{clip(told, TOAST - 2)} …"
        lacks = shown != told
        try:
            await query.answer(shown, show_alert=len(shown) > GLANCE)
        except TelegramError as error:
            log.info("telegram: a press could not be answered: %s", as_send_failure(error))
            lacks = lacks or LATE in str(error.message).casefold()
        if lacks:
            alone = ChatKey(query.from_user.id, bot=poll.number)
            await self._say(ReplyAnswer(poll=poll, at=alone, text=told))
        if press is not None and query.message is not None:
            await self._taken.over(NAME, f"press {query.id}")

    async def _done(
        self,
        query: telegram.CallbackQuery,
        places: list[str],
        number: str,
        by: Presser,
        press: Press,
    ) -> str:
        try:
            return await self._buttons.pressed(places, number, by, press)
        except LedgerError:
            self._taken.failed(NAME, f"press {query.id}")
            raise
