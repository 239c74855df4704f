"""One call of a bot: whose it is, what came with it, and what it may reach."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from tests.telegram.things import Account, File, Message, Room
from tests.telegram.town import Town
from tests.telegram.wire import Refused, bad

SEND, LOCAL = 50 * 2**20, 2000 * 2**20
"""Bytes that a bot can upload at most, and to a server that runs with --local."""
BUTTONS, ROW, DATA = 100, 8, 64
"""Buttons of a message, those in a row, and bytes of what one of them says."""


@dataclass
class Turn:
    """One call: whose, with what."""

    town: Town
    bot: Account
    files: Mapping[str, File]

    def room(self, chat: int | str) -> Room:
        """The chat of an id, if this bot may write there. Raises Refused."""
        for room in self.town.rooms:
            if room.id == chat and room.bot in (0, self.bot.id):
                self._allowed(room)
                return room
        other = self.town.accounts.get(chat) if isinstance(chat, int) else None
        if other is not None and other.is_bot:
            raise Refused(403, "Forbidden: bots can't send messages to bots")
        if other is not None and any(
            {other.id, self.bot.id} <= room.members.keys() for room in self.town.rooms
        ):
            raise Refused(403, "Forbidden: bot can't initiate conversation with a user")
        raise bad("chat not found")

    def _allowed(self, room: Room) -> None:
        if self.bot.id not in room.members:
            raise bad("chat not found")
        if room.closed:
            raise Refused(
                400,
                "Bad Request: group chat was upgraded to a supergroup chat",
                migrate_to_chat_id=room.moved,
            )
        match room.kind, room.status(self.bot.id):
            case "private", "kicked":
                raise Refused(403, "Forbidden: bot was blocked by the user")
            case kind, "kicked":
                raise Refused(403, f"Forbidden: bot was kicked from the {kind} chat")
            case kind, "left" | "restricted":
                raise Refused(403, f"Forbidden: bot is not a member of the {kind} chat")

    def message(self, room: Room, number: int, missing: str) -> Message:
        """The message of a number there. One that a bot was not told of it does not find."""
        message = room.find(self.bot.id, number)
        if message is None or self.bot.id not in (message.author.id, *message.heard):
            raise bad(missing)
        return message

    def is_admin(self, room: Room) -> bool:
        return room.status(self.bot.id) in ("creator", "administrator")

    def given(self, name: str, value: Any) -> File:
        """A file that came with the call."""
        try:
            file = self.files[str(value).removeprefix("attach://")]
        except KeyError:
            raise bad(f"invalid file {name}: it did not come with the request") from None
        if not file.data:
            raise bad("file must be non-empty")
        if len(file.data) > (LOCAL if self.town.disk else SEND):
            raise Refused(413, "Request Entity Too Large")
        return file


def plain(value: Any) -> Any:
    """A model as JSON, without what is not said."""
    if isinstance(value, list):
        return [plain(one) for one in value]
    if not isinstance(value, BaseModel):
        return value
    return value.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_unset=True)


def keyboard(value: Any) -> Any:
    """Buttons as JSON, held to Telegram's limits; None for none. Raises Refused."""
    made = plain(value)
    rows = [row for row in (made or {}).get("inline_keyboard", ()) if row]
    if made is not None and "inline_keyboard" in made and not rows:
        return None
    if sum(map(len, rows)) > BUTTONS or any(len(row) > ROW for row in rows):
        raise bad("BUTTONS_TOO_MUCH")
    for button in (button for row in rows for button in row):
        if not button.get("text", "").strip():
            raise bad("text buttons are unallowed in the inline keyboard")
        if len(button.keys() - {"text", "style", "icon_custom_emoji_id"}) != 1:
            raise bad("can't parse inline keyboard button: Text buttons are unallowed")
        if not 1 <= len(button.get("callback_data", "x").encode()) <= DATA:
            raise bad("BUTTON_DATA_INVALID")
    return made


def said(value: Any) -> Any:
    """A parameter that may stand at a client's default, which the twin does not know."""
    from aiogram.client.default import Default

    return None if isinstance(value, Default) else value
