"""What a test holds in its hands: handles of people, bots and chats, and records to count.

All of it is plain frozen data that travels as JSON, so that a twin in another process gives the
same. What is doubled is told by `doubled`.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, Literal

from msgspec import Struct

Kind = Literal["private", "group", "supergroup", "channel"]
SHARED = frozenset({"supergroup", "channel"})
"""Kinds of chat whose messages have the same number for everybody."""
FaultKind = Literal[
    "flood", "before", "after", "late", "cut", "drop", "hold", "refuse", "page", "again", "spoil"
]
Body = dict[str, Any]


class Person(Struct, frozen=True):
    """Somebody with a Telegram account."""

    id: int
    name: str
    username: str = ""


class Bot(Struct, frozen=True):
    """A bot's account. `token` is what its client signs in with."""

    id: int
    name: str
    username: str
    token: str


class Chat(Struct, frozen=True):
    """A chat. `id` is the number that clients see; private chats are told apart by `bot` too."""

    id: int
    kind: Kind
    title: str
    bot: int = 0


class Paper(Struct, frozen=True):
    """A file that was sent: `sha256` in hex of its bytes, `size` in bytes."""

    name: str
    media: str
    sha256: str
    size: int


class Line(Struct, frozen=True):
    """One message as it stands now.

    `key` counts messages over the whole city, in order. `ids` are the message ids by which each
    bot (its id) knows it: equal in a supergroup and a channel, each bot's own elsewhere. `reply` is the key of
    the message it answers. `edits` are its earlier texts. `service` names a service message
    ("new_chat_members"); else it is empty. `reactions`: a user's id to emoji.
    """

    key: int
    chat: Chat
    author: int
    by: str
    text: str
    ids: dict[int, int]
    entities: list[Body] = []
    reply: int | None = None
    topic: int | None = None
    paper: Paper | None = None
    markup: Body | None = None
    edits: list[str] = []
    deleted: bool = False
    reactions: dict[int, list[str]] = {}
    service: str = ""
    preview: Body | None = None

    @property
    def id(self) -> int:
        """The message id, where every bot that sees it knows it by the same one.

        Raises ValueError where bots differ (basic groups): take `ids[bot.id]`.
        """
        (one,) = set(self.ids.values())
        return one


class Call(Struct, frozen=True):
    """One request of a bot, in order. `code` is 0 while no answer was given.

    `done`: it had its effect. `fault`: which fault was put on it. A client whose call is done
    while its code is not 200 does not know what happened.
    """

    number: int
    bot: str
    method: str
    params: Body
    code: int = 0
    description: str = ""
    done: bool = False
    fault: str = ""


class Draft(Struct, frozen=True):
    """One state of a draft that a person was shown in a private chat."""

    bot: str
    chat: int
    draft: int
    text: str
    topic: int = 0


class Deviation(Struct, frozen=True):
    """Something that the official documents do not know: `where` (a method) and `what`."""

    where: str
    what: str


def doubled(lines: Iterable[Line]) -> list[list[Line]]:
    """Groups of lines that say the same twice: one author, chat, topic, text and file.

    Deleted lines and service messages do not count.
    """
    groups: dict[Any, list[Line]] = defaultdict(list)
    for line in lines:
        if not line.deleted and not line.service:
            paper = line.paper.sha256 if line.paper else ""
            same = (line.chat.id, line.chat.bot, line.author, line.topic, line.text, paper)
            groups[same].append(line)
    return [group for group in groups.values() if len(group) > 1]
