"""What Discord tells a client of ours, handed on at once and in order. Decides nothing."""

from __future__ import annotations

import aiohttp

import discord
from loopforge.io.discord.connection.gateway_client import SAID, Client, whole
from loopforge.io.discord.connection.options import DiscordOptions
from loopforge.io.discord.receiving.incoming_events import Inward
from loopforge.io.discord.receiving.slash_commands import Slash
from loopforge.io.platforms.bot_tokens import BotAccount


class ListeningClient(Client):
    """A client with the commands of rooms, of which Inward is told what it hears."""

    def __init__(
        self,
        account: BotAccount,
        inward: Inward,
        slash: Slash,
        options: DiscordOptions,
        connector: aiohttp.BaseConnector | None,
        trace: aiohttp.TraceConfig,
    ) -> None:
        super().__init__(account, options, connector, trace)
        self._inward, self._slash = inward, slash
        slash.equip(self, inward.thread)

    async def on_connect(self) -> None:
        """A session began; what was said before it was missed."""
        self._inward.began(self)

    async def on_disconnect(self) -> None:
        """The connection is gone."""
        self._inward.lost(self)

    async def on_resumed(self) -> None:
        """The session goes on; whatever was said meanwhile was told."""
        self._inward.resumed(self)

    async def on_guild_unavailable(self, _guild: discord.Guild) -> None:
        """A server is not there for now."""
        self._inward.lost(self)

    async def on_ready(self) -> None:
        """Its servers are known."""
        self._inward.ready(self)
        self._slash.offer(self)

    async def on_guild_available(self, guild: discord.Guild) -> None:
        """A server is known, at the start or later."""
        self._inward.appeared(self, guild)

    async def on_message(self, message: discord.Message) -> None:
        """Somebody said something."""
        if whole(message):
            self._inward.message(self, message)
        else:
            self.passed_over(SAID[0])
            await self.on_spoiled(message.channel.id, message.id, edited=False)

    async def on_raw_message_edit(self, event: discord.RawMessageUpdateEvent) -> None:
        """A message was changed, or Discord added something to it."""
        if whole(event.message):
            self._inward.edited(self, event)
        else:
            self.passed_over(SAID[1])
            await self.on_spoiled(event.channel_id, event.message_id, edited=True)

    async def on_spoiled(self, channel: int, message: int, *, edited: bool) -> None:
        """A message was said or changed, and came without what is needed of it."""
        self._inward.spoiled(self, channel, message, edited=edited)

    async def on_raw_message_delete(self, event: discord.RawMessageDeleteEvent) -> None:
        """A message is no more."""
        self._inward.deleted(self, event.channel_id, {event.message_id})

    async def on_raw_bulk_message_delete(self, event: discord.RawBulkMessageDeleteEvent) -> None:
        """Several are no more."""
        self._inward.deleted(self, event.channel_id, event.message_ids)

    async def on_raw_reaction_add(self, event: discord.RawReactionActionEvent) -> None:
        """An emoji was put on a message, or taken back."""
        self._inward.reacted(self, event)

    on_raw_reaction_remove = on_raw_reaction_add
