"""Unmodified discord.py clients that note what they hear, for tests of the twin."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import discord
from discord import app_commands
from loopforge.runtime.background_tasks import BackgroundTasks
from tests.discord.twin import Twin
from tests.discord.words import Bot, Place


class Ears(discord.Client):
    """A client that keeps what it heard: `heard` are (event, object) in order."""

    def __init__(self, **options: Any) -> None:
        super().__init__(guild_ready_timeout=0.05, **options)
        self.tree = app_commands.CommandTree(self)
        self.heard: list[tuple[str, Any]] = []

    def dispatch(self, event: str, /, *args: Any, **more: Any) -> None:
        """Keep it, and go on."""
        self.heard.append((event, args[-1] if args else None))
        if not self.is_closed():  # then it has no loop
            super().dispatch(event, *args, **more)

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Identify at once; discord.py would wait five seconds before it does so again."""

    def said(self, event: str = "message") -> list[str]:
        """The texts of what was heard."""
        return [one.content for name, one in self.heard if name == event]

    def latest(self, event: str) -> Any:
        """What was heard last of this event."""
        return [one for name, one in self.heard if name == event][-1]

    def text(self, place: Place) -> discord.TextChannel:
        """A text channel from the client's cache."""
        channel = self.get_channel(place.id)
        assert isinstance(channel, discord.TextChannel)
        return channel

    def count(self, event: str) -> int:
        """How often an event was heard."""
        return sum(name == event for name, _ in self.heard)


@asynccontextmanager
async def online(city: Twin, bot: Bot) -> AsyncIterator[Ears]:
    """A client of this bot, connected and ready; closed at the end."""
    client = Ears(intents=discord.Intents.all(), connector=city.connector())
    tasks = BackgroundTasks()
    tasks.spawn(client.start(bot.token), f"client of {bot.name}")
    try:
        await city.until(lambda: client.count("ready") and not any(map(_absent, client.guilds)))
        yield client
    finally:
        await client.close()
        await tasks.close()


def _absent(guild: discord.Guild) -> bool:
    """Whether a server that it is in has not been told of yet; on a busy machine it is ready before."""
    return guild.unavailable
