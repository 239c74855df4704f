"""Inviting: who may bring somebody into the home, or into a room, and what of the past they show.

    into the home   whom the setting lets (people/accounts/access_links.py)
    into a room     of those, who is in it and may change it; its past, who may see all of it

Every surface asks here. Who took an invite comes into its room, also where the page on which they
took it, or the home, ended in between. Does not know by which address a link is opened.
"""

from contextlib import suppress

from loopforge.chat.room.permissions import may, who_may
from loopforge.chat.server import Rooms
from loopforge.chat.service.room_list import RoomList
from loopforge.core.people_events import InviteTaken
from loopforge.errors import InputError, Unknown
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.people.accounts.access_links import AccessLinks
from loopforge.people.accounts.account_decisions import AccountDecisions
from loopforge.people.accounts.account_values import Invite
from loopforge.people.identity.person_registry import STREAM
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Clock

KINDS = ("people.invite_taken",)

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

    async def bring(
        self, room: str, by: str, person: str, name: str, *, past: bool, after: str = ""
    ) -> None:
        """A person brings another one in, as `Rooms.bring` has it.

        Nobody can show more of a room than they may see themselves; with `by` "", it is somebody
        at the machine, who sees everything.
        """
        if (await self._lobby.sight(room, person)).here:
            return
        past = past and (not by or await self._lobby.whole(room, by))
        await self._rooms.bring(room, by, person, name, past=past, after=after)


class TakenInvites:
    """Brings everybody into the room to which an invite let them in, once for each invite."""

    def __init__(
        self,
        ledger: SqlLedger,
        inviting: RoomInvites,
        doors: AccountDecisions,
        tasks: BackgroundTasks,
        clock: Clock,
    ) -> None:
        self._ledger, self._inviting, self._doors = ledger, inviting, doors
        self._tasks, self._clock = tasks, clock
        ledger.subscribe(lambda *_: self.soon(), streams=STREAM, kinds=KINDS)

    def soon(self) -> None:
        """Look now. To be called at the start, too, by the host."""
        self._tasks.insist(self.finish, "rooms of taken invites", self._clock)

    async def finish(self) -> None:
        """Bring in who may sign in, and was not yet in the room of an invite since they took it."""
        await self._doors.refresh()
        for event in await self._ledger.read(STREAM, kinds=KINDS):
            if isinstance(event.body, InviteTaken) and self._doors.book.account(event.body.person):
                await self._bring(event.body.invite, event.body.person, event.id)

    async def _bring(self, invite: str, person: str, taken: str) -> None:
        book = self._doors.book
        known = book.invite(invite)
        if known is not None and known.said.room:
            room, by, past = known.said.room, known.said.by, known.said.past
            with suppress(Unknown):  # that room was deleted
                name = book.name(person)
                await self._inviting.bring(room, by, person, name, past=past, after=taken)
