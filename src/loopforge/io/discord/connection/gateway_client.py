"""One account of ours as a client of discord.py: what it hears goes to its Ears at once, in order.

Only raw events are used, so that messages count which were said before it started. An event that
discord.py does not understand would end its connection: it is logged once and passed over, and a
message in it is asked for again. Without what a session stands on (READY, its servers) or without
the channel of a message, the connection does end, and what was missed is read. Does not decide
anything, and does not start again by itself (surface.py does).
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import aiohttp

import discord
from discord import app_commands
from loopforge.io.discord.connection.api_errors import scrub
from loopforge.io.discord.connection.options import DiscordOptions
from loopforge.io.platforms.bot_tokens import BotAccount

log = logging.getLogger(__name__)
PATIENCE = 30.0
"""Seconds that Discord may ask to wait before a call is given back; the least discord.py takes."""
NOBODY = discord.AllowedMentions.none()
"""What mates say rings nobody's bell, whatever stands in it."""

VITAL = ("READY", "RESUMED", "GUILD_CREATE")
"""Events without which a session is none."""
SAID = ("MESSAGE_CREATE", "MESSAGE_UPDATE")
"""Events that bring a message."""
NEEDED = ("author", "mentions", "role_mentions")
"""What discord.py leaves out of a message that came without it."""

Talk = (
    discord.TextChannel
    | discord.VoiceChannel
    | discord.StageChannel
    | discord.Thread
    | discord.DMChannel
)
"""Where messages can be."""


def whole(message: discord.Message) -> bool:
    """Whether a message came with all that is needed of it."""
    return all(hasattr(message, name) for name in NEEDED)


def rights(channel: discord.abc.GuildChannel | discord.Thread) -> discord.Permissions:
    """What this account may do there; all, while Discord has not told who it is there."""
    me: discord.Member | None = channel.guild.me
    return channel.permissions_for(me) if me is not None else discord.Permissions.all()


class Ears(Protocol):
    """Who is told what a client hears. Nothing here may wait."""

    def began(self, client: Client) -> None:
        """A session began; what was said before it was missed."""

    def lost(self, client: Client) -> None:
        """It may miss what is said from now on: its connection, or a server, is gone."""

    def resumed(self, client: Client) -> None:
        """Its session goes on; whatever was said meanwhile was told."""

    def ready(self, client: Client) -> None:
        """Its servers are known."""

    def appeared(self, client: Client, guild: discord.Guild) -> None:
        """A server is known only now, or again."""

    def message(self, client: Client, message: discord.Message) -> None:
        """Somebody said something."""

    def edited(self, client: Client, event: discord.RawMessageUpdateEvent) -> None:
        """A message was changed, or Discord added something to it."""

    def spoiled(self, client: Client, channel: int, message: int, *, edited: bool) -> None:
        """A message was said or changed, and came without what is needed of it."""

    def deleted(self, client: Client, channel: int, messages: set[int]) -> None:
        """Messages are no more."""

    def reacted(self, client: Client, event: discord.RawReactionActionEvent) -> None:
        """An emoji was put on a message, or taken back."""


class Client(discord.Client):
    """A client of one account. `user` is known once it is connected."""

    def __init__(
        self,
        account: BotAccount,
        ears: Ears,
        options: DiscordOptions,
        connector: aiohttp.BaseConnector | None,
        trace: aiohttp.TraceConfig,
    ) -> None:
        intents = discord.Intents(guilds=True, messages=True, reactions=True, message_content=True)
        super().__init__(
            intents=intents,
            max_messages=None,
            guild_ready_timeout=options.guilds,
            max_ratelimit_timeout=PATIENCE,
            allowed_mentions=NOBODY,
            connector=connector,
            http_trace=trace,
        )
        self.account = account
        self.tree = app_commands.CommandTree(self)
        self.privates: dict[int, discord.DMChannel] = {}
        self._ears = ears
        self._told: set[str] = set()
        parsers = self._connection.parsers  # discord.py has no other place for this
        for event in parsers.keys() - set(VITAL):
            parsers[event] = partial(self._parse, event, parsers[event])

    @property
    def id(self) -> int:
        """Its user's id; 0 before it is known."""
        return self.user.id if self.user is not None else 0

    def met(self, channel: object) -> Talk | None:
        """The channel that a message came in, remembered if it is private; None for another kind.

        discord.py remembers no private talks, since Discord does not tell of them at the start.
        """
        if isinstance(channel, discord.DMChannel):
            return self.privates.setdefault(channel.id, channel)
        return channel if isinstance(channel, Talk) else None

    def sees(self, channel: object) -> bool:
        """Whether it may read there."""
        if isinstance(channel, discord.DMChannel):
            return True
        if not isinstance(channel, discord.abc.GuildChannel | discord.Thread):
            return False
        if isinstance(channel, discord.Thread) and channel.parent is None:
            return False
        return rights(channel).read_messages

    def dispatch(self, event: str, /, *args: Any, **kwargs: Any) -> None:
        """Tell of an event; of what comes while it closes, nobody: there is no loop."""
        if not self.is_closed():
            super().dispatch(event, *args, **kwargs)

    async def on_connect(self) -> None:
        """A session began."""
        self._ears.began(self)

    async def on_disconnect(self) -> None:
        """The connection is gone."""
        self._ears.lost(self)

    async def on_resumed(self) -> None:
        """The session goes on."""
        self._ears.resumed(self)

    async def on_guild_unavailable(self, _guild: discord.Guild) -> None:
        """A server is not there for now."""
        self._ears.lost(self)

    async def on_ready(self) -> None:
        """Its servers are known."""
        self._ears.ready(self)

    async def on_guild_available(self, guild: discord.Guild) -> None:
        """A server is known, at the start or later."""
        self._ears.appeared(self, guild)

    async def on_message(self, message: discord.Message) -> None:
        """Somebody said something."""
        if whole(message):
            self._ears.message(self, message)
        else:
            self._tell(SAID[0])
            self._ears.spoiled(self, message.channel.id, message.id, edited=False)

    async def on_raw_message_edit(self, event: discord.RawMessageUpdateEvent) -> None:
        """A message was changed."""
        if whole(event.message):
            self._ears.edited(self, event)
        else:
            self._tell(SAID[1])
            self._ears.spoiled(self, event.channel_id, event.message_id, edited=True)

    async def on_raw_message_delete(self, event: discord.RawMessageDeleteEvent) -> None:
        """A message is no more."""
        self._ears.deleted(self, event.channel_id, {event.message_id})

    async def on_raw_bulk_message_delete(self, event: discord.RawBulkMessageDeleteEvent) -> None:
        """Several are no more."""
        self._ears.deleted(self, event.channel_id, event.message_ids)

    async def on_raw_reaction_add(self, event: discord.RawReactionActionEvent) -> None:
        """An emoji was put on a message."""
        self._ears.reacted(self, event)

    async def on_raw_reaction_remove(self, event: discord.RawReactionActionEvent) -> None:
        """An emoji was taken back."""
        self._ears.reacted(self, event)

    async def on_error(self, event: str, /, *_args: Any, **_more: Any) -> None:
        """A handler failed: said without what it was given, which may hold anything."""
        error = sys.exc_info()[1]
        log.error("%s of Discord was not handled: %s", event, scrub(repr(error)))

    # ------------------------------------------------------------ what comes spoiled

    def _parse(self, event: str, parse: Callable[[Any], object], data: Any) -> None:
        """Let discord.py take an event in. Raises what it does if more than this would be lost."""
        try:
            parse(data)
        except Exception as error:
            channel, id = _id(data, "channel_id"), _id(data, "id")
            if event in SAID and channel and id:
                self._tell(event, error)
                self.dispatch("spoiled", channel, id, edited=event == SAID[1])  # after those before
            elif event in SAID or event.startswith("MESSAGE_DELETE"):
                raise
            else:
                self._tell(event, error)

    async def on_spoiled(self, channel: int, message: int, *, edited: bool) -> None:
        """A message came without what is needed of it."""
        self._ears.spoiled(self, channel, message, edited=edited)

    def _tell(self, event: str, error: Exception | None = None) -> None:
        """Say once of each kind that it comes spoiled; never what it holds."""
        if event not in self._told:
            self._told.add(event)
            why = type(error).__name__ if error is not None else "something in it is missing"
            log.warning("%s of Discord was not understood and is passed over: %s", event, why)


def _id(data: Any, key: str) -> int:
    """An id in a payload; 0 if there is none."""
    found = str(data.get(key) or "") if isinstance(data, dict) else ""
    return int(found) if found.isdecimal() else 0
