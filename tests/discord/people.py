"""What persons do in the city: write, answer, edit, delete, react, open threads and posts.

And what befalls bots for good: kicked, a channel gone, a DM closed, a permission taken away.
Persons are bound by permissions as in Discord; they use no HTTP. All of it is carried out at once;
the methods are coroutines so that a test reads the same with a twin in another process.
"""

from collections.abc import Sequence
from typing import Any

from simcord.backend import serializers
from simcord.backend.models import (
    AllowedMentions,
    Message,
    MessageSticker,
    Overwrite,
    Poll,
    PollAnswer,
)
from simcord.backend.permissions import flag
from simcord.enums import MessageType, OverwriteType

from loopforge.runtime.ports import Clock
from tests.discord.town import World
from tests.discord.words import Bot, Line, Person, Place

Files = Sequence[tuple[str, bytes]]

V2, VOICE = 1 << 15, 1 << 13
"""The flags of a message that is all components, and of a voice message."""
FOLLOWER = "City #news"
REPEATS, LOST = 1 << 1, 1 << 3
"""The flags of what a channel shows of another one that it follows, and where that was deleted."""


class People(World):
    """A world in which persons act."""

    def __init__(self, clock: Clock | None = None) -> None:
        super().__init__(clock)
        self.closed: set[int] = set()

    # ------------------------------------------------------------------ words

    async def say(
        self,
        person: Person | Bot | str,
        place: Place | int | str,
        text: str,
        *,
        reply_to: Line | int | None = None,
        ping: bool = True,
        files: Files = (),
        embeds: Sequence[dict[str, Any]] = (),
        components: Sequence[dict[str, Any]] = (),
        sticker: str = "",
        voice: bytes = b"",
        kind: int = 0,
        poll: Sequence[str] = (),
    ) -> Line:
        """Write a message. An answer pings whom it answers, unless not `ping`.

        `voice`: it is a voice message with this sound. `kind`: one of Discord's own notices.
        `poll`: what it asks, and the answers.
        """
        who, where = self.who(person), self.where(place)
        channel = self.town.get_channel(where)
        if channel.guild_id is not None:
            self._may(who.id, where, self._writing(where))
        reference = None
        if reply_to is not None:
            answered = _id(reply_to)
            reference = {"message_id": str(answered), "channel_id": str(where)}
        policy = AllowedMentions(replied_user=ping)
        papers = self.town.store_attachments(
            where, [("voice-message.ogg", voice)] if voice else files
        )
        if voice:
            papers[0] |= {"duration_secs": 3.2, "waveform": "AAAQ", "content_type": "audio/ogg"}
        message = self.town.create_message(
            where,
            who.id,
            text,
            reference=reference,
            attachments=papers,
            allowed_mentions=policy,
            message_type=MessageType(kind) if kind else None,
            embeds=list(embeds),
            components=list(components),
            stickers=[MessageSticker(4711, sticker, 1, self.guild.id)] if sticker else [],
            flags=VOICE if voice else V2 if components else 0,
            poll=_poll(*poll) if poll else None,
        )
        return self.town.line(message)

    async def brings(self, person: Person, place: Place, text: str, lines: int) -> None:
        """Somebody says something, and so many lines stand in the place before long."""
        await self.say(person, place, text)
        await self.until(lambda: len(self.lines(place)) == lines)

    async def forward(self, person: Person | str, line: Line | int, place: Place | str) -> Line:
        """Forward a message."""
        who, where, message = self.who(person), self.where(place), self.find(line)
        source = {"message_id": str(message.id), "channel_id": str(message.channel_id), "type": 1}
        return self.town.line(self.town.create_message(where, who.id, "", reference=source))

    async def publish(self, line: Line | int, place: Place | str) -> Line:
        """Publish a message of a channel that this one follows, whose webhook repeats it there."""
        message, where = self.find(line), self.where(place)
        hooks = (hook for hook in self.town.webhooks.values() if hook.channel_id == where)
        made = (hook for hook in hooks if hook.name == FOLLOWER)
        hook = next(made, None) or self.town.create_webhook(where, FOLLOWER, message.author_id)
        more: dict[str, Any] = {"flags": REPEATS, "webhook_id": hook.id}
        return self.town.line(self.town.create_message(where, hook.id, message.content, **more))

    async def lose_source(self, line: Line | int) -> None:
        """Let what was published be deleted where it was said: a stub is left, without a stamp."""
        message = self.find(line)
        message.content, message.flags = "[Original Message Deleted]", REPEATS | LOST
        payload = serializers.message_payload(self.town, message)
        self.town.emit("MESSAGE_UPDATE", dict(payload))

    async def edit(self, person: Person | str, line: Line | int, text: str) -> Line:
        """Change one's own message."""
        message = self._own(person, line)
        made = self.town.edit_message(message.channel_id, message.id, {"content": text})
        return self.town.line(made)

    async def preview(self, line: Line | int, embeds: Sequence[dict[str, Any]]) -> None:
        """Let Discord show what the links of a message lead to: no edit, its stamp stays."""
        message = self.find(line)
        message.embeds = list(embeds)
        payload = serializers.message_payload(self.town, message)
        self.town.emit("MESSAGE_UPDATE", dict(payload))

    async def delete(self, person: Person | str, line: Line | int) -> None:
        """Delete one's own message; another's needs the permission."""
        message, who = self.find(line), self.who(person)
        if message.author_id != who.id:
            self._may(who.id, message.channel_id, "manage_messages")
        self.town.delete_message(message.channel_id, message.id)

    async def react(self, person: Person | str, line: Line | int, emoji: str) -> None:
        """Give a reaction."""
        message, who = self.find(line), self.who(person)
        self.town.add_reaction(message.channel_id, message.id, emoji, who.id)

    async def unreact(self, person: Person | str, line: Line | int, emoji: str) -> None:
        """Take it back."""
        message, who = self.find(line), self.who(person)
        self.town.remove_reaction(message.channel_id, message.id, emoji, who.id)

    # ---------------------------------------------------------------- threads

    async def thread(
        self,
        person: Person | str,
        place: Place | int | str,
        name: str,
        *,
        on: Line | int | None = None,
    ) -> Place:
        """Open a public thread: on a message, or by itself."""
        who, where = self.who(person), self.where(place)
        self._may(who.id, where, "create_public_threads")
        root = None if on is None else _id(on)
        return self._place(self.town.create_thread(where, name, who.id, message_id=root))

    async def post(
        self, person: Person | str, forum: Place | int | str, title: str, text: str
    ) -> Place:
        """Open a post in a forum; its first message has the post's id."""
        who, where, town = self.who(person), self.where(forum), self.town
        starter = town.prepare_message(where, who.id, text)
        town.bot_user = town.users[who.id]  # SimCord asks that the caller is the author
        thread, _ = town.create_forum_post(where, title, starter)
        return self._place(thread)

    async def archive(self, place: Place | int | str, *, locked: bool = False) -> None:
        """Close a thread."""
        changes = {"archived": True, "locked": locked}
        self.town.edit_channel(self.where(place), {}, thread_metadata=changes)

    async def rename(self, place: Place | int | str, name: str) -> None:
        """Give a channel or thread another name, silently for its members."""
        self.town.channels[self.where(place)].name = name
        self.town.announce_channel_update(self.where(place))

    # -------------------------------------------------------------------- DMs

    def private(self, person: Person | str, bot: Bot | str) -> Place:
        """The DM between the two."""
        channel = self.as_bot(self.app(bot)).get_dm_channel(self.who(person).id)
        return Place(f"dm-{channel.id}", channel.id, None)

    async def dm(
        self, person: Person | str, bot: Bot | str, text: str, *, files: Files = ()
    ) -> Line:
        """Write to a bot alone."""
        return await self.say(person, self.private(person, bot), text, files=files)

    async def close_dm(self, person: Person | str) -> None:
        """The person takes no more DMs from bots: sending one is refused with 50007."""
        self.closed.add(self.who(person).id)

    # ------------------------------------------------------------ what befalls

    async def kick(self, bot: Bot | str) -> None:
        """Take a bot out of the guild: GUILD_DELETE for it, 50001 for what it tries."""
        app = self.app(bot)
        self.town.remove_member(self.guild.id, app.id)
        self.to_bot(app, "GUILD_DELETE", {"id": str(self.guild.id)})

    async def delete_channel(self, place: Place | int | str) -> None:
        """The channel is gone: 10003 for what is sent there."""
        self.town.delete_channel(self.where(place))

    async def forbid(
        self, who: Bot | Person | str, place: Place | int | str, *permissions: str
    ) -> None:
        """Take permissions away in one channel (`"send_messages"`, `"view_channel"`, ...)."""
        denied = 0
        for name in permissions:
            denied |= flag(name)
        one = Overwrite(self.who(who).id, OverwriteType.MEMBER, 0, denied)
        self.town.set_overwrite(self.where(place), one)

    async def allow(self, who: Bot | Person | str, place: Place | int | str) -> None:
        """Give back what was taken there."""
        self.town.delete_overwrite(self.where(place), self.who(who).id)

    def to_bot(self, bot: Bot, event: str, payload: dict[str, Any]) -> None:
        """Tell one bot's sockets; the gateway overrides it."""

    # ---------------------------------------------------------------- finding

    def find(self, line: Line | int) -> Message:
        """The message itself; AssertionError if it was deleted or never was."""
        wanted = _id(line)
        for message in self.town.written:
            if message.id == wanted and wanted not in self.town.gone:
                return message
        raise AssertionError(f"there is no message {wanted}")

    def line(self, line: Line | int) -> Line:
        """How it stands now."""
        return self.town.line(self.find(line))

    def file(self, line: Line | int, name: str) -> bytes:
        """What one attachment of a message holds."""
        (url,) = (str(a["url"]) for a in self.find(line).attachments if a["filename"] == name)
        held = self.town.cdn.get(url.partition("?")[0])
        assert held is not None
        return held

    def _own(self, person: Person | str, line: Line | int) -> Message:
        message, who = self.find(line), self.who(person)
        assert message.author_id == who.id, f"{who.name} did not write message {message.id}"
        return message

    def _may(self, user: int, where: int, *permissions: str) -> None:
        self.town.require_permissions(self.guild.id, user, where, *permissions)

    def _writing(self, where: int) -> str:
        thread = self.town.get_channel(where).is_thread
        return "send_messages_in_threads" if thread else "send_messages"


def _id(line: Line | int) -> int:
    return line.id if isinstance(line, Line) else int(line)


def _poll(question: str, *answers: str) -> Poll:
    made = [PollAnswer(nth, each) for nth, each in enumerate(answers, 1)]
    return Poll(question, made, expiry="2027-01-01T00:00:00+00:00")
