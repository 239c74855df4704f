"""What every press of a button begins with: the line it stands under, and who comes in by it.

Whoever presses is in the room from then on, as if they had spoken there. Does not know what a
button says.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from loopforge.chat.commands.command_request import CommandRequest
from loopforge.chat.rooms_api import RoomsApi
from loopforge.core.events import Event
from loopforge.people.identity.person_registry import PersonRegistry


class Presser(Struct, frozen=True, kw_only=True):
    """Whose press it is: their account there and their name; `keeper` of that place."""

    account: str
    name: str
    keeper: bool = False
    bot: bool = False


class Admission(Protocol):
    """Who may come in, and what they are here."""

    def knock(self, surface: str, account: str, name: str, place: str, /) -> Awaitable[str | None]:
        """Somebody writes in private: None lets them in; a text is shown; "" shows nothing."""

    def trusts(self, person: str) -> bool:
        """Whether a person is known here."""

    def owns(self, person: str) -> bool:
        """Whether this home is theirs."""


@dataclass(frozen=True)
class PressGround:
    """Where presses are made.

    `find` gives the room and the line that a message is, in one of several places.
    """

    front: RoomsApi
    people: PersonRegistry
    find: Callable[[Sequence[str], str], Awaitable[tuple[str, str]]]
    admission: Admission

    async def under(self, places: Sequence[str], message: str) -> tuple[str, Event | None]:
        """The room and the line that a message is; None where it is none of ours."""
        room, line = await self.find(places, message) if places and message else ("", "")
        return room, await self.front.line(room, line) if line else None

    async def comes_in(self, place: str, room: str, by: Presser) -> str:
        """The person who presses, who is in the room by that."""
        platform = place.partition(":")[0]
        person = await self.people.meet(platform, by.account, by.name)
        await self.front.rooms.arrive(room, person.id, by.name, platform)
        return person.id

    async def commanded(
        self, room: str, person: str, place: str, by: Presser, command: str, argument: str
    ) -> str:
        """Do what a command of the room does, as who pressed. Raises InputError."""
        asked = self.request(room, person, place, by)
        return await self.front.commands.carry_out(command, replace(asked, argument=argument))

    def request(self, room: str, person: str, place: str, by: Presser) -> CommandRequest:
        """What is asked by a press there, as who pressed."""
        return CommandRequest(
            room=room,
            person=person,
            keeper=by.keeper,
            owner=self.admission.owns(person),
            untrusted=not self.admission.trusts(person),
            surface=place.partition(":")[0],
            account=by.account,
        )
