"""Sessions: which room a platform's place belongs to, and which line each message there is.

A place that nobody has joined to a room opens one of its own the first time somebody speaks there;
a thread has its own conversation therefore. Everything is read from the ledger's views, so that it
is the same after a restart. Does not know what a platform is.
"""

from __future__ import annotations

from collections.abc import Sequence

from loopforge.chat.room import platform_channels
from loopforge.chat.room.platform_channels import ChannelSpot, PlacedDraft
from loopforge.chat.room.room_store import PREFIX
from loopforge.chat.rooms_api import Front


class Sessions:
    """The places of platforms and their rooms."""

    def __init__(self, front: Front) -> None:
        self._front = front

    async def room(self, spot: ChannelSpot, mates: Sequence[str]) -> str:
        """The room that this place is part of, with these mates in it; it opens if it is new."""
        return await self._front.settle(spot, mates, await self.known(spot.key))

    async def known(self, place: str) -> str:
        """The room that a place is part of; "" if of none so far."""
        stream = await self._front.look(lambda found: platform_channels.stream_at(found, place))
        return stream.removeprefix(PREFIX)

    async def join(self, spot: ChannelSpot, room: str, mates: Sequence[str]) -> None:
        """The place is part of this room from now on, and of no other. Raises Unknown."""
        before = await self.known(spot.key)
        if before == room:
            return
        await self._front.settle(spot, mates, room)
        if before:
            await self._front.unsettle(before, spot.key, f"it is part of {room} now")

    async def part(self, place: str, why: str) -> None:
        """The place is part of no room any more, until somebody speaks there."""
        if room := await self.known(place):
            await self._front.unsettle(room, place, why)

    async def all(self, platform: str) -> dict[str, str]:
        """Every place of a platform that is part of a room, with that room's slug."""
        found = await self._front.look(lambda each: platform_channels.all_places(each, platform))
        return {place: stream.removeprefix(PREFIX) for place, stream in found}

    async def private(self, platform: str) -> dict[str, set[str]]:
        """The private places of a platform, each with the mates that ever were in its room."""
        return await self._front.look(lambda each: platform_channels.private_at(each, platform))

    async def line(self, place: str, message: str) -> str:
        """The id of the line that a message is, or is a part of; "" if it is none."""
        return await self._front.look(
            lambda found: platform_channels.line_at(found, place, message)
        )

    async def posts(self, place: str, line: str) -> list[str]:
        """The ids of the messages that a line is in a place, part after part."""
        return await self._front.look(lambda found: platform_channels.posts_of(found, place, line))

    async def last(self, place: str) -> str:
        """The highest id of a message that was heard in a place; "" before the first."""
        return await self._front.look(lambda found: platform_channels.last_heard(found, place))

    async def heard(self, place: str, limit: int) -> list[int]:
        """The highest ids of people's messages in a place that are not deleted, as far as known."""
        return await self._front.look(lambda found: platform_channels.heard_at(found, place, limit))

    async def newest(self, patterns: Sequence[str]) -> int:
        """The highest number of a person's message that was heard in places like these (SQL)."""
        return await self._front.look(lambda found: platform_channels.newest(found, patterns))

    async def highest(self, patterns: Sequence[str], place: str, before: str) -> int:
        """The highest number that a message had before an event, as far as that is certain."""
        return await self._front.look(
            lambda found: platform_channels.highest(found, patterns, place, before)
        )

    async def top(self, patterns: Sequence[str]) -> int:
        """The highest number of a message that is known in places like these (SQL)."""
        return await self._front.look(lambda found: platform_channels.top(found, patterns))

    async def numbers_above(self, patterns: Sequence[str], number: int) -> set[int]:
        """The numbers of messages and drafts above this one that are known in places like these."""
        return await self._front.look(
            lambda found: platform_channels.numbers_above(found, patterns, number)
        )

    async def draft(self, place: str, line: str) -> str:
        """The id of the message that shows this line's draft in a place; "" if none does."""
        return await self._front.look(lambda found: platform_channels.draft_of(found, place, line))

    async def strays(self, platform: str) -> list[PlacedDraft]:
        """Drafts on a platform whose turns said nothing after all."""
        return await self._front.look(lambda found: platform_channels.strays(found, platform))
