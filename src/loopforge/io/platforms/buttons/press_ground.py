"""What every press of a button begins with: the line it stands under, and who comes in by it.

Whoever presses is in the room from then on, as if they had spoken there. Does not know what a
button says.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from msgspec import Struct

from loopforge.chat.rooms_api import RoomsApi
from loopforge.core.events import Event
from loopforge.people.identity.person_registry import PersonRegistry


class Presser(Struct, frozen=True, kw_only=True):
    """Whose press it is: their account there and their name; `keeper` of that place."""

    account: str
    name: str
    keeper: bool = False
    bot: bool = False


@dataclass(frozen=True)
class PressGround:
    """Where presses are made.

    `find` gives the room and the line that a message is, in one of several places; `owns` and
    `trusted` say of a person whether the home is theirs, and whether they are known here.
    """

    front: RoomsApi
    people: PersonRegistry
    find: Callable[[Sequence[str], str], Awaitable[tuple[str, str]]]
    owns: Callable[[str], bool]
    trusted: Callable[[str], bool]

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
        return await self.front.commands.act(
            room,
            person,
            command,
            argument,
            keeper=by.keeper,
            owner=self.owns(person),
            untrusted=not self.trusted(person),
            surface=place.partition(":")[0],
            account=by.account,
        )
