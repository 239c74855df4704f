"""Places of Telegram by their keys.

    telegram:-1001234        a supergroup
    telegram:-1001234/7      a topic in it
    telegram:501@42          the private chat of person 501 with bot 42
    telegram:-4001@42        a basic group, as bot 42 hears it

Where a bot stands in the key, messages are numbered for that bot, over all its chats. Pure. Knows
no rooms.
"""

from __future__ import annotations

import re
from typing import NamedTuple

NAME = "telegram"
_KEY = re.compile(r"telegram:(-?\d+)(?:/(\d+))?(?:@(\d+))?")


class ChatKey(NamedTuple):
    """A chat, perhaps a topic in it, and the bot whose numbers its messages have (else None)."""

    chat: int
    topic: int | None = None
    bot: int | None = None

    @property
    def private(self) -> bool:
        """Whether it is a private chat; groups have numbers below 0."""
        return self.chat > 0

    @property
    def key(self) -> str:
        """The place's key."""
        topic = "" if self.topic is None else f"/{self.topic}"
        bot = "" if self.bot is None else f"@{self.bot}"
        return f"{NAME}:{self.chat}{topic}{bot}"


def where(key: str) -> ChatKey:
    """Where a key points. Raises ValueError for one that is not Telegram's."""
    found = _KEY.fullmatch(key)
    if found is None:
        raise ValueError(f"{key!r} is no place of Telegram")
    chat, topic, bot = found.groups()
    return ChatKey(int(chat), int(topic) if topic else None, int(bot) if bot else None)
