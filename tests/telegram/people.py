"""What people do in the city, and what may be asked of it: the commands of city.py.

Each public method is a command; its arguments are read by their annotations.
"""

import asyncio
import inspect
import mimetypes
from base64 import b64decode
from typing import Any, get_type_hints

import msgspec

from tests.telegram import shapes, text
from tests.telegram.faults import Fault
from tests.telegram.records import (
    Body,
    Bot,
    Call,
    Chat,
    Deviation,
    Draft,
    FaultKind,
    Kind,
    Line,
    Person,
)
from tests.telegram.speaking import EMOJI
from tests.telegram.things import INSIDE, Account, File, Message, Query, Room
from tests.telegram.town import Town


class People:
    """The commands. Whatever a person could not do raises ValueError."""

    def __init__(self, town: Town) -> None:
        self._town = town

    async def perform(self, name: str, given: Body) -> Any:
        """Do a command with arguments as they are in JSON; its result as JSON."""
        command = getattr(self, name, None)
        if name.startswith("_") or name == "perform" or command is None:
            raise ValueError(f"there is no command {name}")
        hints = get_type_hints(type(self).__dict__[name])
        read = {
            key: msgspec.convert(value, hints[key], strict=False) for key, value in given.items()
        }
        result = command(**read)
        if inspect.isawaitable(result):
            result = await result
        return msgspec.to_builtins(result, str_keys=True)

    # who and where

    def bot(self, name: str, username: str, reads_all: bool, meets_bots: bool) -> Bot:
        it = self._town.enrol(name, username, bot=True, reads_all=reads_all, meets_bots=meets_bots)
        return Bot(it.id, it.name, it.username, it.token)

    def person(self, name: str, username: str) -> Person:
        it = self._town.enrol(name, username, bot=False)
        return Person(it.id, it.name, it.username)

    def private(self, person: int, bot: int, topics: bool = False) -> Chat:
        room = self._town.private(self._who(person), self._who(bot), make=True)
        assert room is not None
        room.forum |= topics
        return room.handle

    def group(
        self,
        kind: Kind,
        title: str,
        members: list[int],
        admins: list[int],
        forum: bool = False,
        direct: bool = False,
    ) -> Chat:
        people = [self._who(one) for one in dict.fromkeys([*members, *admins])]
        owner = next((one for one in people if not one.is_bot), None)
        if owner is None:
            raise ValueError("a group needs a person who owns it")
        room = self._town.found(kind, title, forum=forum)
        room.direct = direct
        for one in [owner, *(one for one in people if one is not owner)]:
            status = "creator" if one is owner else "member"
            status = "administrator" if one.id in admins and one is not owner else status
            self._town.place(room, one, status, owner, quiet=True)
        name = "group_chat_created" if kind == "group" else "supergroup_chat_created"
        self._town.write(room, owner, service=(name, True))
        return room.handle

    def channel(self, title: str, owner: int, bots: list[int], linked: Chat | None) -> Chat:
        room, who = self._town.found("channel", title), self._who(owner)
        room.linked = self._town.room(linked) if linked else None
        self._town.place(room, who, "creator", who, quiet=True)
        for bot in bots:
            self._town.place(room, self._who(bot), "administrator", who, quiet=True)
        return room.handle

    def topic(self, person: int, chat: Chat, name: str) -> int:
        room, who = self._here(person, chat)
        if not room.forum:
            raise ValueError(f"{room.title} has no topics")
        return self._town.open_topic(room, who, name)

    def retopic(self, person: int, chat: Chat, topic: int, what: str, name: str) -> None:
        room, who = self._here(person, chat)
        found = room.topics[topic]
        found.closed, found.name = what == "closed", name or found.name
        if what == "deleted":
            del room.topics[topic]
            for message in self._town.messages:
                message.deleted |= message.room is room and message.topic == topic
            self._town.touch()
            return
        said = {"name": name} if what == "edited" else {}
        self._town.write(room, who, topic=topic, service=(f"forum_topic_{what}", said))

    def retitle(self, person: int, chat: Chat, title: str) -> None:
        room, who = self._here(person, chat)
        room.title = title
        self._town.write(room, who, service=("new_chat_title", title))

    # what people do

    def say(
        self,
        person: int,
        chat: Chat,
        text: str,
        reply: int | None = None,
        topic: int | None = None,
        entities: list[Body] | None = None,
        name: str = "",
        document: str | None = None,
        origin: int | None = None,
        anonymous: bool = False,
        channel: Chat | None = None,
        poll: list[str] | None = None,
        album: str = "",
        location: list[float] | None = None,
        content: Body | None = None,
        kind: str = "document",
        quote: str = "",
    ) -> Line:
        room, who = self._here(person, chat)
        if topic is not None and topic not in room.topics:
            raise ValueError(f"{room.title} has no topic {topic}")
        answered = None if reply is None else self._message(reply)
        if answered is not None and topic is None:
            topic = answered.topic
        file = _file(name, document, kind)
        if file is None and not text.strip() and not poll and not location and not content:
            raise ValueError("nothing is said")
        body, found = _read(text, entities)
        more: Body = {"reply": answered, "topic": topic, "file": file, "poll": poll, "album": album}
        more |= {"location": location, "content": content, "quote": quote}
        if anonymous or channel:
            more["sender"] = self._town.room(channel) if channel else room
        words_of = self._who(origin) if origin else None
        return self._town.write(room, who, body, entities=found, origin=words_of, **more).line

    def edit(self, person: int, key: int, text: str) -> Line:
        message = self._message(key)
        if message.author.id != person:
            raise ValueError("only one's own messages can be edited")
        body, entities = _read(text, None)
        self._town.rewrite(message, body, entities)
        self._town.retell(message)
        return message.line

    def move(self, person: int, key: int, location: list[float]) -> Line:
        message = self._message(key)
        if message.author.id != person or not message.location:
            raise ValueError("only who shares where they are moves there")
        message.location = location
        self._town.rewrite(message, "", [])
        self._town.retell(message)
        return message.line

    def delete(self, person: int, key: int) -> None:
        message = self._message(key)
        self._here(person, message.room.handle)
        message.deleted = True
        self._town.touch()

    def react(self, person: int, key: int, emoji: list[str], anonymous: bool = False) -> None:
        if not EMOJI.issuperset(emoji):
            raise ValueError(f"Telegram has no such reaction: {' '.join(emoji)}")
        message = self._message(key)
        room, who = self._here(person, message.room.handle)
        old = message.reactions.get(person, [])
        message.reactions[person] = emoji
        for bot in room.bots():
            if room.kind == "private" or room.status(bot.id) == "administrator":
                body = {
                    "chat": shapes.chat(room),
                    "message_id": message.number(bot.id) or 0,
                    **(
                        {"actor_chat": shapes.chat(room)}
                        if anonymous
                        else {"user": shapes.user(who)}
                    ),
                    "date": self._town.now(),
                    "old_reaction": shapes.reactions(old),
                    "new_reaction": shapes.reactions(emoji),
                }
                self._town.tell(bot, "message_reaction", body)
        self._town.touch()

    def press(self, person: int, key: int, label: str, data: str) -> str:
        """Press a button under a message, or (with `data`) send what no button there says."""
        message = self._message(key)
        room, who = self._here(person, message.room.handle)
        rows = (message.markup or {}).get("inline_keyboard", [])
        found = [one for row in rows for one in row if one["text"] == label]
        if not (found or data):
            raise ValueError(f"under message {key} is no button {label!r}")
        number = str(10**17 + len(self._town.queries))
        self._town.queries[number] = Query(message.author, self._town.clock.ticks())
        body = {
            "id": number,
            "from": shapes.user(who),
            "message": shapes.message(message, message.author),
            "chat_instance": str(room.id * 7919),
            "data": data or found[0]["callback_data"],
        }
        self._town.tell(message.author, "callback_query", body)
        self._town.touch()
        return number

    def pressed(self, number: str) -> str | None:
        """What a press was told; None while nothing was."""
        query = self._town.queries[number]
        return query.text if query.answered else None

    def add(self, person: int, bot: int, chat: Chat) -> None:
        room, who = self._here(person, chat)
        self._town.place(room, self._who(bot), "member", who)

    def kick(self, person: int, bot: int, chat: Chat, restricted: bool) -> None:
        room, who = self._here(person, chat)
        self._town.place(room, self._who(bot), "restricted" if restricted else "kicked", who)

    def block(self, person: int, bot: int, stop: bool) -> None:
        room = self._town.private(self._who(person), self._who(bot))
        if room is None:
            raise ValueError("the two have no private chat")
        self._town.place(room, self._who(bot), "kicked" if stop else "member", self._who(person))

    def upgrade(self, chat: Chat) -> Chat:
        return self._town.upgrade(self._town.room(chat)).handle

    # trouble

    def fault(
        self,
        method: str,
        kind: FaultKind,
        times: int,
        skip: int,
        bot: int,
        chat: int,
        retry_after: int,
        code: int,
        description: str,
    ) -> None:
        fault = Fault(method, kind, times, skip, bot, chat, retry_after, code, description)
        self._town.faults.order(fault)

    def release(self) -> None:
        self._town.faults.release()

    # records

    def lines(self, chat: Chat | None, author: int, last: int) -> list[Line]:
        rooms = self._town.rooms if chat is None else [self._town.room(chat)]
        return [one for one in self._town.lines(rooms) if author in (0, one.author)][-last:]

    def calls(self, method: str, bot: int) -> list[Call]:
        name = self._who(bot).username if bot else ""
        return [
            call
            for call in self._town.calls
            if (not method or call.method.lower() == method.lower()) and name in ("", call.bot)
        ]

    def drafts(self) -> list[Draft]:
        return self._town.drafts

    def waiting(self, bot: int) -> int:
        return len(self._who(bot).box.waiting)

    def deviations(self) -> list[Deviation]:
        return self._town.judge.deviations

    def forgive(self) -> list[Deviation]:
        told, self._town.judge.deviations = self._town.judge.deviations, []
        return told

    def version(self) -> int:
        return self._town.version

    async def changed(self, version: int, seconds: float) -> None:
        """Wait until the city is no longer as it was at that version."""
        if self._town.version == version:
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._town.waiters.append(waiter)
            await asyncio.wait([waiter], timeout=seconds)

    def _who(self, account: int) -> Account:
        try:
            return self._town.accounts[account]
        except KeyError:
            raise ValueError(f"there is no account {account}") from None

    def _here(self, person: int, chat: Chat) -> tuple[Room, Account]:
        room, who = self._town.room(chat), self._who(person)
        if room.closed:
            raise ValueError(f"{room.title} has become the supergroup {room.moved}")
        if room.status(person) not in INSIDE:
            raise ValueError(f"{who.name} is not in {room.title}")
        if room.kind == "private" and room.status(room.bot) not in INSIDE:
            raise ValueError(f"{who.name} has blocked the bot")
        return room, who

    def _message(self, key: int) -> Message:
        message = self._town.messages[key - 1]
        if message.deleted:
            raise ValueError(f"message {key} is deleted")
        return message


def _read(words: str, entities: list[Body] | None) -> tuple[str, list[Body]]:
    if text.units(words) > text.LIMIT:
        raise ValueError("people's apps send no more than 4096 units at once")
    return text.read(words, None, entities)


def _file(name: str, document: str | None, kind: str) -> File | None:
    if document is None:
        return None
    media = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return File(name, media, b64decode(document), kind)
