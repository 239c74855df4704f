"""Sessions: which room a platform's place belongs to.

A place that nobody has joined to a room opens one of its own the first time somebody speaks there;
a thread has its own conversation therefore. Everything is read from the ledger's views, so that it
is the same after a restart. Does not know what a platform is.
"""

from collections.abc import Sequence
from contextlib import suppress

from loopforge.chat.room.platform_channels import ChannelSpot, room_of
from loopforge.chat.room.room_store import stream_of
from loopforge.chat.rooms_api import RoomsApi
from loopforge.core.room_vocabulary import Told
from loopforge.core.text.erasable_text import Words
from loopforge.errors import Unknown


class Sessions:
    """The places of platforms and their rooms; `channels` answers which line a message is."""

    def __init__(self, front: RoomsApi) -> None:
        self._front, self.channels = front, front.channels

    async def room(self, spot: ChannelSpot, mates: Sequence[str]) -> str:
        """The room that this place is part of, with these mates in it; it opens if it is new.

        A place that was part of one until nothing could be sent there is part of it again.
        """
        room = await self.known(spot.key) or await self.channels.lost(spot.key)
        return await self._front.rooms.join_place(spot, mates, room)

    async def known(self, place: str) -> str:
        """The room that a place is part of; "" if of none so far."""
        return await self.channels.room(place)

    async def join(
        self, spot: ChannelSpot, room: str, mates: Sequence[str], instead: str = ""
    ) -> None:
        """The place is part of this room from now on, and of no other. Raises Unknown.

        `instead` names one that it takes the place of.
        """
        before = await self.known(spot.key)
        if before == room and not instead:
            return
        await self._front.rooms.join_place(spot, mates, room, instead)
        if before not in ("", room):
            await self._front.rooms.leave_place(before, spot.key, f"it is part of {room} now")

    async def greet(self, spot: ChannelSpot, words: str) -> None:
        """The first room of a place opens by saying this there; where one was, nothing is said."""
        own, rooms = room_of(spot.key), self._front.rooms
        if not await self.known(spot.key) and not (await rooms.house.state(stream_of(own))).seq:
            await self.room(spot, ())
            await rooms.answer(own, "", lambda _: [Told(text=Words(words))])

    async def renamed(self, spot: ChannelSpot) -> None:
        """A place may bear another name now, also where nobody speaks; one of no room is none."""
        if room := await self.known(spot.key):
            with suppress(Unknown):  # deleted meanwhile
                await self._front.rooms.join_place(spot, (), room)

    async def part(self, place: str, why: str, *, lost: bool = False) -> None:
        """The place is part of no room any more, until somebody speaks there.

        `lost`: nobody decided that, and it is part of the same one again then.
        """
        if room := await self.known(place):
            await self._front.rooms.leave_place(room, place, why, lost=lost)
