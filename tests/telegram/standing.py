"""What bots ask and set: who and where they are, their own commands and names.

A method is named for the Bot API's; it returns its result as JSON or raises Refused in Telegram's
words, where the documents or experience give them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.telegram import shapes, text
from tests.telegram.records import Body
from tests.telegram.turn import Turn, plain
from tests.telegram.wire import bad

if TYPE_CHECKING:
    from aiogram import methods as m

COMMAND = re.compile(r"[a-z0-9_]{1,32}")


class Standing(Turn):
    """Calls about chats and about the bot itself."""

    def get_me(self, call: m.GetMe) -> Body:
        return shapes.me(self.bot)

    def get_chat_member(self, call: m.GetChatMember) -> Body:
        room = self.room(call.chat_id)
        account = self.town.accounts.get(call.user_id)
        if account is None:
            raise bad("user not found")
        return shapes.member(account, room.status(account.id))

    def set_my_commands(self, call: m.SetMyCommands) -> bool:
        if len(call.commands) > 100:
            raise bad("BOT_COMMANDS_TOO_MUCH")
        for command in call.commands:
            if not COMMAND.fullmatch(command.command):
                raise bad("BOT_COMMAND_INVALID")
            _length(command.description, 1, 256, "BOT_COMMAND_DESCRIPTION_INVALID")
        self.bot.profile["commands"] = plain(call.commands)
        self.town.touch()
        return True

    def _word(self, key: str, value: str | None, most: int) -> bool:
        _length(value, 0, most, f"{key} is too long")
        self.bot.profile[key] = value or ""
        self.town.touch()
        return True

    def set_my_name(self, call: m.SetMyName) -> bool:
        self.bot.name = call.name or self.bot.name
        return self._word("name", call.name, 64)

    def set_my_description(self, call: m.SetMyDescription) -> bool:
        return self._word("description", call.description, 512)

    def set_my_short_description(self, call: m.SetMyShortDescription) -> bool:
        return self._word("short_description", call.short_description, 120)

    def set_my_profile_photo(self, call: m.SetMyProfilePhoto) -> bool:
        from aiogram.types import InputProfilePhotoStatic

        if not isinstance(call.photo, InputProfilePhotoStatic):
            raise bad("animated profile photos are not modelled by the twin")
        file = self.given("photo", call.photo.photo)
        if not file.data.startswith(b"\xff\xd8\xff"):
            raise bad("PHOTO_INVALID_DIMENSIONS")
        self.bot.profile["photo"] = file.paper.sha256
        self.town.touch()
        return True

    def delete_webhook(self, call: m.DeleteWebhook) -> bool:
        self.bot.profile.pop("webhook", None)
        if call.drop_pending_updates:
            self.bot.box.waiting.clear()
            self.town.touch()
        return True

    def get_webhook_info(self, call: m.GetWebhookInfo) -> Body:
        waiting = len(self.bot.box.waiting)
        url = str(self.bot.profile.get("webhook", ""))
        return {"url": url, "has_custom_certificate": False, "pending_update_count": waiting}


def _length(value: str | None, least: int, most: int, otherwise: str) -> None:
    if not least <= text.units(value or "") <= most:
        raise bad(otherwise)
