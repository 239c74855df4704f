"""The stage: typing signs, drafts and marks as Discord can show them.

A mark is put by the account by which its mate speaks, and a new one before the old one is taken
away, so that a line is never without. Drafts are drafts.py's. Knows places; when something is to be
shown is watching.py's.
"""

from __future__ import annotations

from loopforge.io.discord.crowd import Crowd
from loopforge.io.discord.drafts import Drafts
from loopforge.io.discord.threads import carrier
from loopforge.io.marks import Mark
from loopforge.io.session import Sessions
from loopforge.io.watching import Speech

SIGNS: dict[Mark, str] = {"seen": "👀", "answered": "✅", "failed": "❌", "": ""}


class Stage:
    """Shows what is in the air of a room."""

    name = "discord"

    def __init__(self, crowd: Crowd, drafts: Drafts, sessions: Sessions) -> None:
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

    async def mark(self, place: str, line: str, mate: str, new: Mark, old: Mark) -> None:
        """Put a mark on the message that a line is, and take the old one off."""
        posts = await self._sessions.posts(place, line)
        if not posts:
            return
        seat, id = await self._crowd.seat(place, mate), int(posts[0])
        message, me = carrier(seat.channel, id).get_partial_message(id), seat.client.user
        if new:
            await message.add_reaction(SIGNS[new])
        if old and me is not None:
            await message.remove_reaction(SIGNS[old], me)
