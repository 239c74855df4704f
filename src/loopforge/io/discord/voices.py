"""Voices: by which account or webhook somebody is heard in a place.

A mate with an account of its own speaks by that, wherever it is; every other speaker has a webhook
with their name, and where there can be none, their name before their words.
"""

from __future__ import annotations

import discord
from loopforge.io.discord.crowd import PREFIX, Crowd, Seat, channel_of
from loopforge.io.discord.hooks import Hooks
from loopforge.io.discord.troubles import failed
from loopforge.io.discord.voice import Voice
from loopforge.io.discord.words import webhook_name


class Voices:
    """Finds voices. Each raises SendFailed where nobody of ours can speak."""

    def __init__(self, crowd: Crowd, hooks: Hooks) -> None:
        self._crowd, self._hooks = crowd, hooks

    async def mate(self, place: str, mate: str) -> Voice:
        """A mate's."""
        seat = await self._crowd.seat(place, mate)
        if seat.client.account.mates == (mate,):
            return Voice(seat, whose=mate)
        name, face = self._crowd.name(mate), self._crowd.face(mate)
        if face and not face.isalnum():
            name = f"{name} {face}"
        alone = self._crowd.mates_of(seat.client.account) == (mate,)
        if alone and isinstance(seat.channel, discord.DMChannel):
            return Voice(seat, whose=mate)
        return await self._named(seat, name, f"**{self._crowd.name(mate)}:** ")

    async def person(self, place: str, name: str, surface: str) -> Voice:
        """That of a person who is elsewhere: on another platform, or in another place of this."""
        where = self._where(surface)
        seat = await self._crowd.seat(place)
        hint = f" ({where})" if where else ""
        return await self._named(seat, f"{name}{hint}", f"**{name}**{hint}: ")

    async def anybody(self, place: str) -> Voice:
        """That of whichever account is there."""
        return Voice(await self._crowd.seat(place))

    def _where(self, surface: str) -> str:
        """What people call the place where somebody is; Discord's own name is refused in names."""
        if not surface.startswith(PREFIX):
            platform = surface.partition(":")[0]
            return platform.capitalize() if ":" in surface else platform
        for client in self._crowd.clients():
            channel = client.get_channel(channel_of(surface))
            if channel is not None and not isinstance(channel, discord.abc.PrivateChannel):
                return str(channel.name)
        return "in private"

    async def _named(self, seat: Seat, name: str, quoted: str) -> Voice:
        try:
            hook = await self._hooks.of(seat.client, seat.channel)
        except Exception as error:
            raise failed(error, "that place") from None
        if hook is not None:
            return Voice(seat, hook, webhook_name(name))
        return Voice(seat, quoted=quoted)
