"""The town: SimCord's backend with several bots in one guild, and everything that happened there.

SimCord (MIT, third party) is the model of Discord: permissions, limits, payloads, intents. Here
stand what it lacks or has otherwise: more than one application, nonces, webhooks that belong to an
application, a thread's first message, a forum post whose first message has the post's id.
Knows nothing of HTTP or sockets. Does not cover voice, stages, soundboards, polls by persons.
"""

import asyncio
import base64
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import islice
from typing import Any

from simcord._clock import Clock
from simcord.backend import Backend, serializers
from simcord.backend.access import channel_accessible
from simcord.backend.cdn import CdnStore
from simcord.backend.models import Channel, Guild, Message, Overwrite, Role, User, Webhook

import discord
from loopforge.runtime.ports import Clock as HomeClock
from loopforge.runtime.system_clock import SystemClock
from tests.discord.words import Bot, Deed, Line, Person, Place

PRIVILEGED = ("members", "presences", "message_content")
HAS_THREAD, STARTER = 1 << 5, 21
"""A message's flag that a thread hangs on it; the type of the first message in such a thread."""


class TownClock(Clock):
    """The home's time, and what a test adds to it (`clock.advance(seconds)`)."""

    def __init__(self, homes: HomeClock | None) -> None:
        super().__init__()
        self._homes = homes or SystemClock()

    def now(self) -> datetime:
        """UTC, aware."""
        return self._homes.now() + timedelta(seconds=self.elapsed)


class SignedCdn(CdnStore):
    """Attachments whose addresses are signed, as Discord's are: they are no stable names."""

    def store_attachment(
        self,
        attachment_id: int,
        channel_id: int,
        filename: str,
        data: bytes,
        description: str | None,
    ) -> dict[str, Any]:
        """Keep the bytes; the payload of the attachment."""
        plain = re.sub(r"[^\w.-]", "_", filename, flags=re.ASCII)
        made = super().store_attachment(attachment_id, channel_id, plain, data, description)
        made["filename"] = filename
        signed = f"{made['url']}?ex=69f0a1b2&is=69ef5032&hm={attachment_id:x}&"
        made |= {"url": signed, "proxy_url": signed}
        if description is None:
            del made["description"]
        return made


class Town(Backend):
    """SimCord's backend, watched. `deeds` and `written` are in order; `watch` hears of each deed."""

    def __init__(self, clock: HomeClock | None) -> None:
        super().__init__(clock=TownClock(clock))
        self.cdn = SignedCdn()
        self.deeds: list[Deed] = []
        self.written: list[Message] = []
        self.gone: set[int] = set()
        self.nonces: dict[int, str] = {}
        self.owners: dict[int, Bot] = {}
        self.watch: Callable[[], None] = lambda: None
        self.nonce: str | None = None
        self._post: int | None = None
        self._seq = 0

    # ---------------------------------------------------------------- records

    def stamp(self) -> tuple[int, float]:
        """The next number, and the loop's time."""
        self._seq += 1
        return self._seq, asyncio.get_running_loop().time()

    def note(self, kind: str, channel: int, line: int, by: str, text: str = "") -> None:
        """Record a deed, and wake whoever waits."""
        seq, at = self.stamp()
        self.deeds.append(Deed(seq, at, kind, channel, line, by, text))
        self.watch()

    def commit_message(self, message: Message, *, broadcast: bool = True) -> Message:
        """Install a message, with the nonce of the call that is carried out, if it has one."""
        if self.nonce is not None:
            self.nonces[message.id] = self.nonce
        self.written.append(message)
        made = super().commit_message(message, broadcast=broadcast)
        self.note("create", made.channel_id, made.id, self.shown(made), made.content)
        return made

    def edit_message(self, channel_id: int, message_id: int, fields: dict[str, Any]) -> Message:
        """Change a message."""
        made = super().edit_message(channel_id, message_id, fields)
        self.note("edit", channel_id, message_id, self.shown(made), made.content)
        return made

    def delete_message(self, channel_id: int, message_id: int) -> None:
        """Take a message away; the records keep it."""
        shown = self.shown(self.get_message(channel_id, message_id))
        super().delete_message(channel_id, message_id)
        self.gone.add(message_id)
        self.note("delete", channel_id, message_id, shown)

    def create_webhook(self, channel_id: int, name: str, creator_id: int) -> Webhook:
        """A webhook; its token has the form that clients' patterns want (60 characters and more)."""
        made = super().create_webhook(channel_id, name, creator_id)
        del self.webhook_tokens[made.token]
        made.token = f"twin-{sha256(str(made.id).encode()).hexdigest()}"
        self.webhook_tokens[made.token] = made.id
        return made

    def delete_channel(self, channel_id: int) -> None:
        """The channel goes, and its webhooks with it."""
        for webhook in [one for one in self.webhooks.values() if one.channel_id == channel_id]:
            del self.webhooks[webhook.id], self.webhook_tokens[webhook.token]
        super().delete_channel(channel_id)

    def emit(self, event: str, payload: Mapping[str, Any]) -> None:
        """Announce, and record what leaves no message behind."""
        super().emit(event, payload)
        if event == "TYPING_START":
            self.note("typing", int(payload["channel_id"]), 0, self.name(int(payload["user_id"])))
        elif event in ("MESSAGE_REACTION_ADD", "MESSAGE_REACTION_REMOVE"):
            kind = "react" if event.endswith("ADD") else "unreact"
            where, line = int(payload["channel_id"]), int(payload["message_id"])
            self.note(
                kind, where, line, self.name(int(payload["user_id"])), payload["emoji"]["name"]
            )
        elif event == "THREAD_CREATE":
            by = self.name(int(payload["owner_id"]))
            self.note("thread", int(payload["parent_id"]), int(payload["id"]), by, payload["name"])

    def name(self, user: int) -> str:
        """A user's name."""
        return self.users[user].name if user in self.users else str(user)

    def shown(self, message: Message) -> str:
        """The name people see over a message."""
        return message.author_name or self.name(message.author_id)

    def line(self, message: Message) -> Line:
        """A message as the records say it."""
        webhook = message.webhook_id
        avatar = message.author_avatar or self.users[message.author_id].avatar
        reference = (message.reference or {}).get("message_id")
        return Line(
            id=message.id,
            channel=message.channel_id,
            by=self.shown(message),
            author=message.author_id,
            text=message.content,
            kind=message.type,
            nonce=self.nonces.get(message.id),
            reply_to=int(reference) if reference else None,
            files=tuple(str(one["filename"]) for one in message.attachments),
            webhook=webhook,
            avatar=avatar,
            ephemeral=message.is_ephemeral,
            loading=bool(message.flags & 1 << 7),
            previews=not message.flags & 1 << 2,
            edited=message.edited_timestamp is not None,
            deleted=message.id in self.gone,
            reactions={r.emoji: tuple(map(self.name, r.user_ids)) for r in message.reactions},
            embeds=tuple(message.embeds),
            components=tuple(message.components),
        )

    # --------------------------------------------------- what SimCord has otherwise

    def create_thread(
        self,
        parent_id: int,
        name: str,
        owner_id: int,
        *,
        type: int = 11,
        auto_archive_duration: int = 1440,
        message_id: int | None = None,
        applied_tags: Iterable[int] = (),
        broadcast: bool = True,
    ) -> Channel:
        """A thread. One that hangs on a message leaves no notice beside it, but a first message."""
        thread = super().create_thread(
            parent_id,
            name,
            owner_id,
            type=type,
            auto_archive_duration=auto_archive_duration,
            message_id=message_id or self._post,
            applied_tags=applied_tags,
            broadcast=broadcast and message_id is None,
        )
        if broadcast and message_id is not None:
            self.announce_thread_create(thread)
            root = self.get_message(parent_id, message_id)
            root.flags |= HAS_THREAD
            self.emit("MESSAGE_UPDATE", dict(serializers.message_payload(self, root)))
            reference = {"channel_id": str(parent_id), "message_id": str(message_id), "type": 0}
            starter = Message(self.snowflake(), thread.id, root.author_id, type=STARTER)
            starter.timestamp, starter.reference = self.now_iso(), reference
            self.commit_message(starter)
        return thread

    def edit_channel(
        self,
        channel_id: int,
        changes: Mapping[str, Any],
        *,
        overwrites: list[Overwrite] | None = None,
        thread_metadata: Mapping[str, Any] | None = None,
    ) -> Channel:
        """Change a channel; when a thread is closed or opened, it says when that was."""
        if thread_metadata and "archived" in thread_metadata:
            thread_metadata = {**thread_metadata, "archive_timestamp": self.now_iso()}
        return super().edit_channel(
            channel_id, changes, overwrites=overwrites, thread_metadata=thread_metadata
        )

    def archived_threads(self, channel_id: int, *, private: bool) -> list[Channel]:
        """The closed threads of a channel, those first that were closed last."""
        found = super().archived_threads(channel_id, private=private)
        return sorted(found, key=_closed, reverse=True)

    def create_forum_post(
        self, forum_id: int, name: str, starter: Message, **more: Any
    ) -> tuple[Channel, Message]:
        """A post: its first message has the post's own id."""
        self._post = starter.id
        try:
            return super().create_forum_post(forum_id, name, starter, **more)
        finally:
            self._post = None


class World:
    """The guild, who is in it, and which application is calling. The base of the twin."""

    def __init__(self, clock: HomeClock | None = None) -> None:
        self.town = Town(clock)
        self.bots: dict[str, Bot] = {}
        self.persons: dict[str, Person] = {}
        self.places: dict[str, Place] = {}
        self._nobody: User = self.town.bot_user
        self.guild: Guild = self._found("The City")
        self._waiting: set[asyncio.Future[None]] = set()
        self.town.watch = self.stir

    def _found(self, name: str) -> Guild:
        """A guild without SimCord's one bot."""
        guild = self.town.create_guild(name)
        member = guild.members.pop(self._nobody.id)
        for role in member.role_ids:
            del guild.roles[role]
        guild.everyone_role.permissions |= discord.Permissions(use_application_commands=True).value
        return guild

    # ------------------------------------------------------------- who and where

    def bot(self, name: str, *, approved: Iterable[str] = PRIVILEGED, invited: bool = True) -> Bot:
        """A new application with a bot user, in the guild (unless not `invited`).

        Its token carries its user's id, as Discord's do. `approved`: privileged intents that its
        portal grants; identifying with another one closes the socket with 4014.
        """
        town = self.town
        user = town.make_user(name, bot=True)
        head = base64.b64encode(str(user.id).encode()).decode().rstrip("=")
        token = f"{head}.Twin-A.{name.encode().hex()}-of-the-city-on-loopback"
        bot = Bot(name, token, user.id, town.snowflake(), 0, frozenset(approved))
        self.bots[name] = bot
        if invited:
            self._join(bot)
        return bot

    def _join(self, bot: Bot) -> None:
        allowed = discord.Permissions.all()
        allowed.administrator = False
        role = Role(self.town.snowflake(), bot.name, allowed.value, position=1, managed=True)
        bot.role = role.id
        self.guild.roles[role.id] = role
        self.town.add_member(self.guild.id, bot.id, roles=[role.id], announce=True)

    def person(self, name: str) -> Person:
        """A new member who is no bot."""
        user = self.town.make_user(name)
        self.town.add_member(self.guild.id, user.id, announce=True)
        made = self.persons[name] = Person(name, user.id)
        return made

    def channel(self, name: str, **more: Any) -> Place:
        """A new text channel (`type=5` for announcements, `topic=`, ...)."""
        return self._place(self.town.create_channel(self.guild.id, name, **more))

    def forum(self, name: str) -> Place:
        """A new forum."""
        return self._place(self.town.create_channel(self.guild.id, name, type=15))

    def _place(self, channel: Channel) -> Place:
        name = channel.name or f"dm-{channel.id}"
        place = Place(name, channel.id, channel.guild_id)
        return self.places.setdefault(name, place) if name not in self.places else place

    def who(self, person: Person | Bot | str) -> Person | Bot:
        """A person or bot, by name too."""
        if isinstance(person, str):
            return self.persons.get(person) or self.bots[person]
        return person

    def app(self, bot: Bot | str) -> Bot:
        """A bot, by name too."""
        return self.bots[bot] if isinstance(bot, str) else bot

    def where(self, place: Place | int | str) -> int:
        """A channel's id, from a place, its id or its name."""
        if isinstance(place, Place):
            return place.id
        return (
            self.places[place].id if isinstance(place, str) and not place.isdigit() else int(place)
        )

    def as_bot(self, bot: Bot) -> Town:
        """The backend as this application sees it, until the next such call; nothing may await."""
        town = self.town
        town.bot_user, town.application_id = town.users[bot.id], bot.application
        town.commands, town.dm_channels = bot.commands, bot.dms
        return town

    def sees(self, bot: Bot, channel: int) -> bool:
        """Whether this bot may see what happens there."""
        return channel_accessible(self.as_bot(bot), channel, bot.id)

    # ---------------------------------------------------------------- waiting

    def stir(self) -> None:
        """Something happened: whoever waits looks again."""
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_result(None)

    async def until(self, holds: Callable[[], object], timeout: float = 120.0) -> None:
        """Wait until it holds; it is looked at after every deed, call and frame, and now and then.

        AssertionError with the last deeds if it does not within `timeout` seconds.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + timeout
        while not holds():
            if loop.time() > end:
                raise AssertionError(f"it did not happen within {timeout} s; {self.story()}")
            waiting: asyncio.Future[None] = loop.create_future()
            self._waiting.add(waiting)
            await asyncio.wait([waiting], timeout=0.02)
            self._waiting.discard(waiting)

    def story(self) -> str:
        """What happened last, for a test that waited in vain."""
        return f"last was {[(d.kind, d.by, d.text) for d in self.town.deeds[-6:]]}"

    # ---------------------------------------------------------------- records

    def lines(self, place: Place | int | str | None = None, *, last: int = 0) -> list[Line]:
        """Every message there (or anywhere) in order; `last`: only the newest so many."""
        where = None if place is None else self.where(place)
        found = (
            message
            for message in reversed(self.town.written)
            if where in (None, message.channel_id) and message.id not in self.town.gone
        )
        return [self.town.line(one) for one in islice(found, last or None)][::-1]

    def deeds(self, *kinds: str, place: Place | int | str | None = None) -> list[Deed]:
        """What happened, in order: of these kinds, there."""
        where = None if place is None else self.where(place)
        return [
            deed
            for deed in self.town.deeds
            if (not kinds or deed.kind in kinds) and where in (None, deed.channel)
        ]

    def doubled(self, place: Place | int | str | None = None) -> list[list[Line]]:
        """Messages of bots and webhooks that stand there more than once, each group in order.

        The same: channel, shown name, text, files, what is answered; not deleted.
        """
        groups: dict[tuple[object, ...], list[Line]] = {}
        for line in self.lines(place):
            if not self.town.users[line.author].bot or line.kind == STARTER:
                continue
            key = (line.channel, line.by, line.text, line.files, line.reply_to)
            groups.setdefault(key, []).append(line)
        return [group for group in groups.values() if len(group) > 1]


def _closed(thread: Channel) -> str:
    """When a thread was closed."""
    return thread.thread_metadata.archive_timestamp if thread.thread_metadata else ""
