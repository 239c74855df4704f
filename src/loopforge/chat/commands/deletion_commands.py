"""Deleting a room by command: /delete tells what it would mean, and its name said again does it.

    /delete                        what would be forgotten, here and elsewhere
    /delete commons                do it; /delete commons keep memories, keep quotes

For who opened the room, and for the owner of the home. How a room is closed stands elsewhere
(chat/service/room_closing.py), and is the same by the page and at the machine.
"""

from typing import Protocol

from msgspec import Struct

from loopforge.chat.commands.command_request import CommandRequest
from loopforge.chat.room.permissions import may_close
from loopforge.chat.server import Rooms
from loopforge.core.text.spoken_lists import pluralize
from loopforge.errors import InputError

NOBODYS = "Only who opened this room, or the owner of the home, may delete it."
ALL_OF_IT = (
    "All that was said in this room is forgotten for good, for everybody, with its files and with "
    "what mates were asked and answered. It cannot be brought back."
)
KEEPING = {"memories": "keep_memories", "quotes": "keep_quotes"}
"""What may stay, and what that is called where a room is closed."""


class RoomDependents(Struct, frozen=True, kw_only=True):
    """What elsewhere rests on a room: texts that quote it, and items that mates keep.

    `also` of those items rest on lines of other rooms, too.
    """

    quotes: int = 0
    memories: int = 0
    also: int = 0


class RoomCloser(Protocol):
    """Deletes rooms with all that was said in them."""

    async def resting(self, room: str) -> RoomDependents:
        """What elsewhere rests on this room. Raises Unknown."""

    async def close_room(
        self, room: str, person: str, *, keep_quotes: bool = False, keep_memories: bool = False
    ) -> None:
        """Close the room, and forget what was said in it. Raises Unknown."""


class DeletionCommands:
    """Deletes rooms on the word of whoever may."""

    def __init__(self, rooms: Rooms, closing: RoomCloser) -> None:
        self._rooms, self._closing = rooms, closing
        self.table = {"delete": self.delete}

    async def delete(self, asked: CommandRequest) -> str:
        """Tell what it would mean; or delete the room, if it is named."""
        state = await self._rooms.state(asked.room)
        if asked.untrusted or not may_close(state.opener, asked.person, owner=asked.owner):
            raise InputError(NOBODYS)
        name, _, rest = asked.argument.partition(" ")
        if not name:
            return _told(asked.room, await self._closing.resting(asked.room))
        if name != asked.room:
            raise InputError(f"This room is {asked.room}; /delete {asked.room} deletes it.")
        kept = _kept(rest)
        await self._closing.close_room(asked.room, asked.person, **kept)
        return "Deleted. What was said here is forgotten for good."


def _kept(said: str) -> dict[str, bool]:
    """What is to stay, by "keep memories" and "keep quotes". Raises InputError."""
    words = said.casefold().replace(",", " ").split()
    if not words:
        return {}
    stays = [word for word in words if word not in ("keep", "and")]
    if words[0] != "keep" or not stays or not set(stays) <= KEEPING.keys():
        raise InputError("What may stay is: keep memories, keep quotes.")
    return {KEEPING[word]: True for word in stays}


def _told(room: str, rests: RoomDependents) -> str:
    """What deleting a room would mean, and how it is done."""
    told = [ALL_OF_IT]
    if rests.quotes:
        told.append(
            f"{pluralize(rests.quotes, 'text')} elsewhere quote it and go along; "
            f"/delete {room} keep quotes leaves them."
        )
    if rests.memories:
        told.append(f"Mates keep {pluralize(rests.memories, 'memory', 'memories')} of it.")
    if rests.also:
        told.append(
            f"{rests.also} of these rest on other rooms, too; /delete {room} keep memories leaves "
            "those."
        )
    return "\n".join([*told, f"To do it: /delete {room}"])
