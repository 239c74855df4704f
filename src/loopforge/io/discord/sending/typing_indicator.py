"""The stage: typing signs, drafts and marks as Discord can show them.

A mark is put by the account by which its mate speaks, and a new one before the old one is taken
away, so that a line is never without. Drafts are live_drafts.py's. Knows places; when something is
to be shown is live_updates.py's.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

import discord
from loopforge.io.discord.connection.bot_accounts import Crowd
from loopforge.io.discord.mate_threads import carrier
from loopforge.io.discord.sending.live_drafts import DiscordDrafts
from loopforge.io.discord.sending.status_emojis import STATUS_EMOJIS
from loopforge.io.platforms.live_updates import Speech
from loopforge.io.platforms.status_reactions import Mark
from loopforge.io.session import Sessions


class DiscordStage:
    """Shows what is in the air of a room."""

    name = "discord"

    def __init__(self, crowd: Crowd, drafts: DiscordDrafts, sessions: Sessions) -> None:
        self._crowd, self._drafts, self._sessions = crowd, drafts, sessions

    async def typing(self, place: str, mate: str) -> None:
        """Show that this mate is typing, for ten seconds."""
        seat = await self._crowd.seat(place, mate)
        await seat.channel.typing()

    async def draft(self, speech: Speech, text: str) -> float:
        """Show what it is saying so far; seconds to wait, if Discord did not take it."""
        return await self._drafts.show(speech, text)

    async def withdraw(self, speech: Speech) -> None:
        """Take a draft away."""
        await self._drafts.drop(speech)

    async def mark(self, place: str, line: str, mate: str, new: Mark, old: Sequence[Mark]) -> None:
        """Put a mark on the message that a line is, and take the old ones off."""
        posts = await self._sessions.channels.posts(place, line)
        if not posts:
            return
        seat, id = await self._crowd.seat(place, mate), int(posts[0])
        message, me = carrier(seat.channel, id).get_partial_message(id), seat.client.user
        if new:
            await message.add_reaction(STATUS_EMOJIS[new])
        if me is None:
            return
        for each in old:
            with contextlib.suppress(discord.NotFound):  # it was not there, perhaps
                await message.remove_reaction(STATUS_EMOJIS[each], me)
