"""Inviting: who may bring somebody into the home, or into a room, and what of the past they show.

    into the home   whom the setting lets (people/accounts/access_links.py)
    into a room     of those, who is in it and may change it; its past, who may see all of it

Every surface asks here. Does not know by which address a link is opened.
"""

from loopforge.chat.room.permissions import may, who_may
from loopforge.chat.server import Rooms
from loopforge.chat.service.room_list import RoomList
from loopforge.errors import InputError
from loopforge.people.accounts.access_links import AccessLinks
from loopforge.people.accounts.account_values import Invite

PARTLY = (
    "You have not been here for all that was said, so you cannot show it to others. "
    "Invite them without the past, or ask somebody who was here from the beginning."
)


class RoomInvites:
    """Invites, as people and the machine ask for them."""

    def __init__(self, lobby: RoomList, rooms: Rooms, links: AccessLinks) -> None:
        self._lobby, self._rooms, self._links = lobby, rooms, links

    async def why_not(self, by: str, room: str = "", *, owner: bool = False) -> str:
        """Why somebody may not invite, into `room` if one is named; "" where they may."""
        if (why := self._links.why_not(by)) or not room:
            return why
        if not (await self._lobby.sight(room, by)).here:
            return "You are not in that room; who is in it can invite into it."
        state = await self._rooms.state(room)
        if not may(state, by, "change", owner=owner):
            if by in state.rights:
                return "Your rights in this room were set apart: you bring nobody into it."
            return f"Bringing people into this room is for {who_may(state, 'change')}."
        return ""

    async def invite(
        self,
        by: str,
        room: str = "",
        *,
        past: bool = False,
        days: int = 7,
        owner: bool = False,
    ) -> tuple[Invite, str]:
        """Invite somebody; with the token of the link. Raises InputError."""
        if why := await self.why_not(by, room, owner=owner):
            raise InputError(why)
        if past and room and not await self._lobby.whole(room, by):
            raise InputError(PARTLY)
        return await self._links.invite(by, room, past and bool(room), days)
