"""What the city is made of: accounts, chats, members, topics, files and messages."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

from tests.telegram.mailbox import Mailbox
from tests.telegram.records import SHARED, Body, Chat, Kind, Line, Paper

INSIDE = frozenset({"creator", "administrator", "member"})
"""How those stand who are in a chat; "restricted" stands here for who is not in it any more."""


@dataclass
class Account:
    """A person or a bot. `profile` is what the bot set of its own."""

    id: int
    name: str
    username: str
    token: str = ""
    reads_all: bool = False
    meets_bots: bool = False
    profile: Body = field(default_factory=dict)
    count: int = 0
    box: Mailbox = field(default_factory=lambda: Mailbox(1))

    @property
    def is_bot(self) -> bool:
        return bool(self.token)


@dataclass
class Member:
    """How an account stands in a chat. `sees_all` is fixed when a bot comes in."""

    account: Account
    status: str
    sees_all: bool = True


@dataclass
class Topic:
    """A forum's topic; its id is that of the message that opened it."""

    id: int
    name: str
    root: Message
    closed: bool = False


@dataclass(eq=False)
class Room:
    """A chat. `bot`: whose private chat it is. `moved`: the supergroup it became, or came from.

    `linked`: the group in which a channel's posts are talked about. `direct`: it is what people
    write to a channel in private, each for themselves.
    """

    id: int
    kind: Kind
    title: str
    bot: int = 0
    forum: bool = False
    members: dict[int, Member] = field(default_factory=dict)
    topics: dict[int, Topic] = field(default_factory=dict)
    count: int = 0
    moved: int = 0
    closed: bool = False
    linked: Room | None = None
    direct: bool = False
    spoke: int = 0
    known: dict[tuple[int, int], Message] = field(default_factory=dict)

    @property
    def handle(self) -> Chat:
        return Chat(self.id, self.kind, self.title, self.bot)

    def status(self, account: int) -> str:
        """How somebody stands here, "left" for who was never here."""
        member = self.members.get(account)
        return member.status if member else "left"

    def inside(self) -> list[Member]:
        """Who is here now."""
        return [member for member in self.members.values() if member.status in INSIDE]

    def bots(self) -> list[Account]:
        """The bots that are here now."""
        return [member.account for member in self.inside() if member.account.is_bot]

    def find(self, bot: int, number: int) -> Message | None:
        """The message that a bot knows by a number, unless it was deleted."""
        owner = 0 if self.kind in SHARED else bot
        message = self.known.get((owner, number))
        return None if message is None or message.deleted else message


@dataclass
class File:
    """Bytes that were sent, and what they are; `kind` is the field of a message they come in."""

    name: str
    media: str
    data: bytes
    kind: str = "document"

    @property
    def paper(self) -> Paper:
        return Paper(self.name, self.media, hashlib.sha256(self.data).hexdigest(), len(self.data))


@dataclass(eq=False)
class Query:
    """A press of a button: of which bot it is asked, when (ticks), and what it was told."""

    bot: Account
    at: float
    answered: bool = False
    text: str = ""
    alert: bool = False


@dataclass(eq=False)
class Message:
    """One message. `service` is what makes it a service message: a field's name and its value.

    `sender`: the chat as which its author says it. `post`: the channel's, which it repeats by
    itself. `poll`: a question, and what may be chosen. `album`: the files that came with it.
    `location`: where its author is, as they share it live. `content`: what else it holds, as it is
    told. `quote`: the part of what it answers that it is to. `heard`: the bots that were told of it.
    """

    key: int
    room: Room
    author: Account
    at: int
    text: str
    entities: list[Body]
    reply: Message | None = None
    topic: int | None = None
    file: File | None = None
    markup: Body | None = None
    preview: Body | None = None
    origin: Account | None = None
    sender: Room | None = None
    post: Message | None = None
    poll: list[str] | None = None
    album: str = ""
    location: list[float] | None = None
    content: Body | None = None
    quote: str = ""
    service: tuple[str, Any] | None = None
    edited: int = 0
    edits: list[str] = field(default_factory=list)
    deleted: bool = False
    reactions: dict[int, list[str]] = field(default_factory=dict)
    ids: dict[int, int] = field(default_factory=dict)
    heard: set[int] = field(default_factory=set)

    def number(self, bot: int) -> int | None:
        """The id by which a bot knows it."""
        return self.ids.get(0, self.ids.get(bot))

    @property
    def line(self) -> Line:
        shared = self.ids.get(0)
        bots = [account.id for account in self.room.bots()]
        return Line(
            key=self.key,
            chat=self.room.handle,
            author=self.author.id,
            by=self.author.username or self.author.name,
            text=self.text,
            ids=dict.fromkeys(bots or [0], shared) if shared else dict(self.ids),
            entities=self.entities,
            reply=self.reply.key if self.reply else None,
            topic=self.topic,
            paper=self.file.paper if self.file else None,
            markup=self.markup,
            edits=list(self.edits),
            deleted=self.deleted,
            reactions={who: list(emoji) for who, emoji in self.reactions.items()},
            service=self.service[0] if self.service else "",
            preview=self.preview,
        )
