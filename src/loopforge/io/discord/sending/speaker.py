"""A voice: how one speaker is heard in one place.

    own      by an account that is this very mate
    hook     by a webhook of ours, under any name
    quoted   by an account that is somebody else, with the name before the words

The same voice posts, changes and takes away. Every failure is a SendFailed. Does not cut texts.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import discord
from loopforge.errors import SendFailed
from loopforge.io.discord.connection.api_errors import failed
from loopforge.io.discord.connection.bot_accounts import AccountSeat, named
from loopforge.io.discord.connection.gateway_client import NOBODY, rights

T = TypeVar("T")
UNKNOWN_HOOK = 10015
"""Discord's code where a webhook was taken away."""


def _nobody(_: discord.Webhook) -> None:
    """Nobody is told."""


class DiscordSpeaker:
    """Speaks in one place. `name` is shown over (hook) or before (`quoted`) what it says.

    `whose`: the mate that the account itself is, "" if it lends its voice. `names`: all names that
    a webhook may have borne for this speaker. `lost` is told of a webhook that is there no more.
    """

    def __init__(
        self,
        seat: AccountSeat,
        hook: discord.Webhook | None = None,
        name: str = "",
        quoted: str = "",
        whose: str = "",
        names: Sequence[str] = (),
        lost: Callable[[discord.Webhook], None] = _nobody,
    ) -> None:
        self.seat, self.hook, self.name, self.quoted = seat, hook, name, quoted
        self.whose, self.names, self._lost = whose, {name, *names}, lost

    @property
    def place(self) -> str:
        """What the place is called in a sentence."""
        return named(self.seat.channel)

    @property
    def reads(self) -> bool:
        """Whether what stands there can be read back; without the right, Discord shows nothing."""
        channel = self.seat.channel
        if isinstance(channel, discord.DMChannel):
            return True
        return rights(channel).read_message_history

    @property
    def most(self) -> int:
        """Bytes of the largest upload."""
        guild = getattr(self.seat.channel, "guild", None)
        return guild.filesize_limit if guild is not None else 0

    async def post(
        self,
        text: str,
        nonce: str,
        reply: int | None = None,
        files: Sequence[discord.File] = (),
    ) -> int:
        """Say it; the id of the message. Raises SendFailed."""
        if self.hook is not None:
            return await self._tried(self._hooked(self.hook, text, files))
        return await self._tried(self._spoken(text, nonce, reply, files))

    async def _spoken(
        self, text: str, nonce: str, reply: int | None, files: Sequence[discord.File]
    ) -> int:
        channel = self.seat.channel
        reference = None
        if reply is not None:
            reference = discord.MessageReference(
                message_id=reply, channel_id=channel.id, fail_if_not_exists=False
            )
        message = await channel.send(
            text,
            nonce=nonce,
            reference=reference,  # type: ignore[arg-type]
            mention_author=False,
            files=list(files),
            allowed_mentions=NOBODY,
        )
        return message.id

    async def _hooked(self, hook: discord.Webhook, text: str, files: Sequence[discord.File]) -> int:
        message = await hook.send(
            text,
            username=self.name,
            wait=True,
            files=list(files),
            allowed_mentions=NOBODY,
            thread=self._thread(),
        )
        return message.id

    async def edit(self, message: int, text: str) -> None:
        """Change what was said. Raises SendFailed."""
        if self.hook is not None:
            changed = self.hook.edit_message(
                message, content=text, allowed_mentions=NOBODY, thread=self._thread()
            )
            await self._tried(changed)
            return
        partial = self.seat.channel.get_partial_message(message)
        await self._tried(partial.edit(content=text, allowed_mentions=NOBODY))

    async def delete(self, message: int) -> bool:
        """Take it away; False where it is gone, or another webhook's. Raises SendFailed."""
        try:
            if self.hook is not None:
                await self.hook.delete_message(message, thread=self._thread())
            else:
                await self.seat.channel.get_partial_message(message).delete()
        except discord.NotFound:
            return False
        except Exception as error:
            raise failed(error, self.place) from None
        return True

    def _thread(self) -> Any:
        channel = self.seat.channel
        return channel if isinstance(channel, discord.Thread) else discord.utils.MISSING

    async def _tried(self, work: Awaitable[T]) -> T:
        try:
            return await work
        except Exception as error:
            gone = isinstance(error, discord.NotFound) and error.code == UNKNOWN_HOOK
            if self.hook is None or not gone:
                raise failed(error, self.place) from None
        self._lost(self.hook)
        raise SendFailed("its webhook was taken away; there will be another one.")
