"""The truth of the city: accounts, chats, members, messages, files, and who is told of what.

What it knows of Telegram: ids (a supergroup numbers its messages for all; elsewhere every bot has
numbers of its own), privacy mode, that bots do not hear bots, that bots are told neither of what
was before they came nor of deletions. It does not know HTTP (twin.py), what people may do
(people.py) or what bots may do (twin.py). It does not cover business accounts, payments, stickers and
inline mode, nor votes in polls.
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from loopforge.runtime.ports import Clock
from tests.telegram import shapes
from tests.telegram.faults import Faults
from tests.telegram.floods import Floods
from tests.telegram.mailbox import Mailbox
from tests.telegram.records import SHARED, Body, Call, Chat, Draft, Kind, Line
from tests.telegram.things import INSIDE, Account, File, Member, Message, Query, Room, Topic
from tests.telegram.wire import Judge

GROUP, SUPER = -4_000_000, -1_001_000_000_000
"""Where the ids of groups and of supergroups begin; they go down."""
TOPIC = 0x6FB9F0
"""The colour of a topic's icon, one of the six that Telegram has."""


class Town:
    """Everything that is, and the means to change it so that whoever may hear of it is told."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.faults, self.floods = Faults(), Floods(clock)
        self.judge = Judge(self.touch)
        self.accounts: dict[int, Account] = {}
        self.tokens: dict[str, Account] = {}
        self.rooms: list[Room] = []
        self.messages: list[Message] = []
        self.files: dict[str, File] = {}
        self.paths: dict[str, tuple[int, bytes]] = {}
        self.disk: Path | None = None  # where files are kept by a server that runs with --local
        self.calls: list[Call] = []
        self.drafts: list[Draft] = []
        self.queries: dict[str, Query] = {}
        self.version = 0
        self.waiters: list[Any] = []

    def touch(self) -> None:
        """Something has changed: whoever waits for that looks again."""
        self.version += 1
        waiters, self.waiters = self.waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    def now(self) -> int:
        """Seconds since 1970."""
        return int(self.clock.now().timestamp())

    # who and where

    def enrol(
        self,
        name: str,
        username: str,
        *,
        bot: bool,
        reads_all: bool = False,
        meets_bots: bool = False,
    ) -> Account:
        """A new account. Usernames of bots end in "bot", as Telegram wants them."""
        number = (7_000_001 if bot else 1001) + len(self.accounts)
        if bot and not username.lower().endswith("bot"):
            username = f"{username or name.lower()}_bot"
        token = f"{number}:AA{hashlib.sha256(str(number).encode()).hexdigest()[:33]}" if bot else ""
        account = Account(number, name, username, token, reads_all, meets_bots)
        account.box = Mailbox(1000 * (number % 1000) + 1)
        self.accounts[number] = account
        if bot:
            self.tokens[token] = account
        return account

    def private(self, person: Account, bot: Account, *, make: bool = False) -> Room | None:
        """The private chat of the two, if there is one (or it is to be made)."""
        for room in self.rooms:
            if room.kind == "private" and (room.id, room.bot) == (person.id, bot.id):
                return room
        if not make:
            return None
        room = Room(person.id, "private", person.name, bot.id)
        room.members = {one.id: Member(one, "member") for one in (person, bot)}
        self.rooms.append(room)
        return room

    def found(self, kind: Kind, title: str, *, forum: bool = False) -> Room:
        """A new group of nobody."""
        step = len(self.rooms) + 1
        room = Room((GROUP if kind == "group" else SUPER) - step, kind, title, forum=forum)
        self.rooms.append(room)
        return room

    def room(self, chat: Chat) -> Room:
        """The chat of a handle. Raises ValueError."""
        for room in self.rooms:
            if (room.id, room.bot) == (chat.id, chat.bot):
                return room
        raise ValueError(f"there is no chat {chat}")

    # what is said

    def write(self, room: Room, author: Account, text: str = "", **more: Any) -> Message:
        """Put a message into a chat, number it for every bot there, and tell who may hear it."""
        entities = more.pop("entities", [])
        message = Message(len(self.messages) + 1, room, author, self.now(), text, entities, **more)
        if room.kind == "channel":
            message.sender = room
        if room.kind in SHARED:
            room.count += 1
            self._know(message, 0, room.count)
        else:
            for bot in room.bots():
                bot.count += 1
                self._know(message, bot.id, bot.count)
        if message.service and message.service[0] == "forum_topic_created":
            message.topic = room.count or message.ids[room.bot]
            room.topics[message.topic] = Topic(message.topic, message.service[1]["name"], message)
        if message.file is not None:
            for bot in room.bots():
                self.files[shapes.file_id(message.file, bot)] = message.file
        self.messages.append(message)
        for bot in self._hearers(message):
            message.heard.add(bot.id)
            kind = "channel_post" if room.kind == "channel" else "message"
            self.tell(bot, kind, shapes.message(message, bot))
        if author.is_bot:
            room.spoke = author.id
        self.touch()
        if room.linked is not None:
            copy = {"entities": entities, "file": message.file, "poll": message.poll}
            self.write(room.linked, author, text, sender=room, post=message, **copy)
        return message

    def rewrite(self, message: Message, text: str, entities: list[Body]) -> None:
        """Change what a message says."""
        message.edits.append(message.text)
        message.text, message.entities, message.edited = text, entities, self.now()
        self.touch()

    def open_topic(self, room: Room, author: Account, name: str, color: int = TOPIC) -> int:
        """A new topic of a forum; its id."""
        made = {"name": name, "icon_color": color}
        return self.write(room, author, service=("forum_topic_created", made)).topic or 0

    def upgrade(self, old: Room) -> Room:
        """A supergroup in place of a group, with the same members and none of the messages.

        Bots are told that they came there, and never that they left the group
        (https://github.com/tdlib/telegram-bot-api/issues/266).
        """
        if old.kind != "group" or old.closed:
            raise ValueError(f"{old.title} is no group that can be upgraded")
        new = self.found("supergroup", old.title)
        new.members = {
            who: Member(m.account, m.status, m.sees_all) for who, m in old.members.items()
        }
        owner = next(m.account for m in old.inside() if m.status == "creator")
        for bot in new.bots():
            self._told_of(new, bot, owner, "left")
        self.write(old, owner, service=("migrate_to_chat_id", new.id))
        old.closed, old.moved, new.moved = True, new.id, old.id
        self.write(new, owner, service=("migrate_from_chat_id", old.id))
        return new

    def _know(self, message: Message, owner: int, number: int) -> None:
        message.ids[owner] = number
        message.room.known[owner, number] = message

    def tell(self, bot: Account, kind: str, body: Body) -> None:
        """Give a bot an update, if it wants that kind."""
        if bot.box.wants(kind):
            self.judge.update(bot.box.put(kind, body))
            self.touch()

    def retell(self, message: Message) -> None:
        """Tell of an edit."""
        for bot in self._hearers(message):
            message.heard.add(bot.id)
            kind = "edited_channel_post" if message.room.kind == "channel" else "edited_message"
            self.tell(bot, kind, shapes.message(message, bot))

    def _hearers(self, message: Message) -> list[Account]:
        """Who is told, as https://core.telegram.org/bots/faq and /api/bots/bot-to-bot have it."""
        room, author = message.room, message.author
        here = [bot for bot in room.bots() if bot is not author]
        if room.kind in ("private", "channel") or message.service:
            return here
        if message.post:
            return [bot for bot in room.bots() if self._sees_all(room, bot)]
        if author.is_bot:
            met = self._called(message, here) if author.meets_bots else None
            return [met] if met else []
        called, named = self._called(message, here), self._named(message, here)
        return [bot for bot in here if bot is (called or named) or self._sees_all(room, bot)]

    def _sees_all(self, room: Room, bot: Account) -> bool:
        member = room.members[bot.id]
        return member.sees_all or member.status == "administrator"

    def _called(self, message: Message, here: list[Account]) -> Account | None:
        """Whom it answers; else whose command it is, an open one being of who spoke last."""
        if message.reply and message.reply.author in here:
            return message.reply.author
        for kind, word in shapes.spans(message):
            name = word.partition("@")[2].lower()
            for bot in here:
                last = not name and message.room.spoke == bot.id
                if kind == "bot_command" and (last or bot.username.lower() == name):
                    return bot
        return None

    def _named(self, message: Message, here: list[Account]) -> Account | None:
        """The first bot in privacy mode that is mentioned: only one of them may see a message."""
        for kind, word in shapes.spans(message):
            for bot in here:
                closed = not self._sees_all(message.room, bot)
                if closed and kind == "mention" and word[1:].lower() == bot.username.lower():
                    return bot
        return None

    # who is here

    def place(
        self, room: Room, account: Account, status: str, by: Account, *, quiet: bool = False
    ) -> None:
        """Let somebody stand otherwise in a group, and tell those who are told of it."""
        old = room.status(account.id)
        sees_all = account.reads_all
        if old in INSIDE and account.id in room.members:
            sees_all = room.members[account.id].sees_all
        room.members[account.id] = Member(account, status, sees_all)
        if account.is_bot:
            self._told_of(room, account, by, old)
        came, stays = old not in INSIDE, status in INSIDE
        if room.kind not in ("private", "channel") and came == stays and not quiet:
            self._announce(room, account, by, came=came)
        self.touch()

    def _told_of(self, room: Room, bot: Account, by: Account, old: str) -> None:
        """Tell a bot how it stands in a chat now."""
        change = {
            "chat": shapes.chat(room),
            "from": shapes.user(by),
            "date": self.now(),
            "old_chat_member": shapes.member(bot, old),
            "new_chat_member": shapes.member(bot, room.status(bot.id)),
        }
        self.tell(bot, "my_chat_member", change)

    def _announce(self, room: Room, account: Account, by: Account, *, came: bool) -> None:
        person = shapes.user(account)
        note = ("new_chat_members", [person]) if came else ("left_chat_member", person)
        self.write(room, by, service=note)

    def lines(self, rooms: Iterable[Room]) -> list[Line]:
        """The messages of these chats, in order."""
        wanted = list(rooms)
        return [message.line for message in self.messages if message.room in wanted]
