"""Places of Telegram by their keys.

    telegram:-1001234        a supergroup
    telegram:-1001234/7      a topic in it
    telegram:501@42          the private chat of person 501 with bot 42
    telegram:501/7@42        a topic in it
    telegram:-4001@42        a basic group, as bot 42 hears it
    telegram:-1009876#42     a channel, as bot 42 hears it

Behind @ stands the bot for which messages are numbered, over all its chats; elsewhere they are
numbered in the chat itself. Pure. Knows no rooms.
"""

import re
from typing import NamedTuple

NAME = "telegram"
_KEY = re.compile(r"telegram:(-?\d+)(?:/(\d+))?(?:[@#](\d+))?")
COUNTING = -1_000_000_000_000
"""Below it are the numbers of supergroups and channels, above it those of all other chats."""


class ChatKey(NamedTuple):
    """A chat, perhaps a topic in it, and the bot by which it is heard, if by one alone."""

    chat: int
    topic: int | None = None
    bot: int | None = None

    @property
    def private(self) -> bool:
        """Whether it is a private chat; groups have numbers below 0."""
        return self.chat > 0

    @property
    def counts(self) -> bool:
        """Whether the chat numbers its messages, rather than the bot by which it is heard."""
        return self.bot is None or self.chat < COUNTING

    @property
    def key(self) -> str:
        """The place's key."""
        topic = "" if self.topic is None else f"/{self.topic}"
        bot = "" if self.bot is None else f"{'#' if self.counts else '@'}{self.bot}"
        return f"{NAME}:{self.chat}{topic}{bot}"


def parse_chat_key(key: str) -> ChatKey:
    """Where a key points. Raises ValueError for one that is not Telegram's."""
    found = _KEY.fullmatch(key)
    if found is None:
        raise ValueError(f"{key!r} is no place of Telegram")
    chat, topic, bot = found.groups()
    return ChatKey(int(chat), int(topic) if topic else None, int(bot) if bot else None)
