"""Voices: by which account or webhook somebody is heard in a place.

A mate with an account of its own speaks by that, wherever it is; every other mate by a webhook with
its name and face. Where there is no room for one, and for people, one webhook lends itself to all,
with a name in each call; where there can be none, the name stands before the words.
"""

from __future__ import annotations

import discord
from loopforge.errors import SendFailed
from loopforge.io.discord.connection.api_errors import failed
from loopforge.io.discord.connection.bot_accounts import (
    PREFIX,
    AccountSeat,
    Crowd,
    channel_of,
    find,
)
from loopforge.io.discord.sending.speaker import DiscordSpeaker
from loopforge.io.discord.sending.webhooks import Hooks
from loopforge.io.discord.text.incoming_text import webhook_name


class Voices:
    """Finds voices. Each raises SendFailed where nobody of ours can speak."""

    def __init__(self, crowd: Crowd, hooks: Hooks) -> None:
        self._crowd, self._hooks = crowd, hooks

    async def mate(self, place: str, mate: str) -> DiscordSpeaker:
        """A mate's: own account, own webhook, everybody's webhook, or name before words."""
        seat = await self._crowd.seat(place, mate)
        if seat.client.account.mates == (mate,):
            return DiscordSpeaker(seat, whose=mate)
        name, face = self._crowd.name(mate), self._crowd.face(mate)
        shown = f"{name} {face}" if face and not face.isalnum() else name
        alone = self._crowd.mates_of(seat.client.account) == (mate,)
        if alone and isinstance(seat.channel, discord.DMChannel):
            return DiscordSpeaker(seat, whose=mate)
        if (own := await self._hook(seat, mate)) is not None:
            return self._by(seat, own, name, shown)
        return await self._named(seat, shown, f"**{name}:** ", name)

    async def person(self, place: str, name: str, surface: str) -> DiscordSpeaker:
        """That of a person who is elsewhere: on another platform, or in another place of this."""
        where = self._where(surface)
        seat = await self._crowd.seat(place)
        hint = f" ({where})" if where else ""
        return await self._named(seat, f"{name}{hint}", f"**{name}**{hint}: ")

    async def anybody(self, place: str) -> DiscordSpeaker:
        """That of whichever account is there."""
        return DiscordSpeaker(await self._crowd.seat(place))

    async def behind(self, voice: DiscordSpeaker, message: int) -> DiscordSpeaker | None:
        """The voice that said a message, if it was another one of ours; None else.

        Lines that stand there may be by another webhook, or an account that the mate had once.
        """
        if not voice.reads:
            return None
        client, channel = voice.seat
        try:
            found = await channel.fetch_message(message)
        except discord.NotFound:
            return None
        except Exception as error:
            raise failed(error, voice.place) from None
        if found.webhook_id is not None:
            hook = await self._hooks.by(channel, found.webhook_id)
            other = hook is not None and (voice.hook is None or hook.id != voice.hook.id)
            return DiscordSpeaker(voice.seat, hook) if other else None
        author = self._crowd.ours(found.author.id)
        if author is None or (voice.hook is None and author is client):
            return None
        seen = await find(author, channel.id)
        return DiscordSpeaker(AccountSeat(author, seen)) if seen is not None else None

    async def change(self, voice: DiscordSpeaker, message: int, text: str) -> None:
        """Let a message of ours say something else, by whichever voice said it."""
        try:
            await voice.edit(message, text)
        except SendFailed as failure:
            if not failure.final or failure.gone:
                raise
            other = await self.behind(voice, message)
            if other is None:
                raise
            await other.edit(message, text)

    async def take(self, voice: DiscordSpeaker, message: int) -> None:
        """Take a message of ours away, by whichever voice said it."""
        try:
            if await voice.delete(message):
                return
            refused = None
        except SendFailed as failure:
            if not failure.final or failure.gone:
                raise
            refused = failure
        if (other := await self.behind(voice, message)) is not None:
            await other.delete(message)
        elif refused is not None:
            raise refused

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

    async def _hook(self, seat: AccountSeat, mate: str = "") -> discord.Webhook | None:
        try:
            return await self._hooks.of(seat.client, seat.channel, mate)
        except Exception as error:
            raise failed(error, "that place") from None

    async def _named(
        self, seat: AccountSeat, name: str, quoted: str, *names: str
    ) -> DiscordSpeaker:
        hook = await self._hook(seat)
        return (
            self._by(seat, hook, name, *names)
            if hook is not None
            else DiscordSpeaker(seat, quoted=quoted)
        )

    def _by(
        self, seat: AccountSeat, hook: discord.Webhook, name: str, *names: str
    ) -> DiscordSpeaker:
        """By a webhook; `names` are others that it may have borne for the same speaker."""
        return DiscordSpeaker(
            seat,
            hook,
            webhook_name(name),
            names=[webhook_name(each) for each in names],
            lost=self._hooks.lost,
        )
