"""Who manages a group of Telegram, and whether a bot of ours is in it: asked, then known."""

from telegram.error import BadRequest, Forbidden, InvalidToken, TelegramError

import telegram
from loopforge.core.limits.bounded_mapping import BoundedMapping
from loopforge.io.telegram.connection.api_errors import foreign
from loopforge.runtime.ports import Clock

FRESH, KEEPERS = 180.0, 500
"""Seconds for which it is remembered whether somebody keeps a group, and of how many."""


class GroupAdmins:
    """What one bot knows of its groups; `number` is its own."""

    def __init__(self, bot: telegram.Bot, number: int, clock: Clock) -> None:
        self._bot, self._number, self._clock = bot, number, clock
        self._members: dict[int, bool] = {}
        self._keepers: BoundedMapping[tuple[int, int], tuple[float, bool]] = BoundedMapping(KEEPERS)

    async def member(self, chat: int, *, before: bool = False) -> bool:
        """Whether this bot is in a group; asked once, then known. Unanswered, as `before`."""
        if chat not in self._members:
            try:
                found = await self._bot.get_chat_member(chat, self._number)
                self._members[chat] = found.status not in ("left", "kicked")
            except TelegramError as error:
                refused = isinstance(error, BadRequest | Forbidden | InvalidToken)
                return before and (not refused or foreign(error))
        return self._members[chat]

    async def keeps(self, message: telegram.Message, *, now: bool = False) -> bool:
        """Whether who says this may manage the group: its admins, or the group itself.

        What was asked some minutes ago is not asked again, unless `now`.
        """
        if message.sender_chat is not None:
            return message.sender_chat.id == message.chat.id
        if message.from_user is None:
            return False
        return await self.keeper(message.chat.id, message.from_user.id, now=now)

    async def keeper(self, chat: int, user: int, *, now: bool = False) -> bool:
        """Whether somebody may manage a group."""
        key = (chat, user)
        asked, keeps = self._keepers.get(key, (-FRESH, False))
        if not now and self._clock.ticks() - asked < FRESH:
            return keeps
        try:
            found = await self._bot.get_chat_member(*key)
        except TelegramError:
            return False
        keeps = found.status in ("creator", "administrator")
        self._keepers[key] = (self._clock.ticks(), keeps)
        return keeps

    def came(self, chat: int, *, there: bool) -> None:
        """The bot was let into a group, or sent away."""
        self._members[chat] = there
