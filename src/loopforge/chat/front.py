"""The front of the rooms: everything a surface may ask of them, in one place.

Surfaces (a terminal's hall, a web page) see only this: entering, hearing, commands, history,
search, why, and what was shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from loopforge.chat.commands import Commands
from loopforge.chat.house import stream_of
from loopforge.chat.scene import Scene
from loopforge.chat.server import Rooms
from loopforge.chat.why import why
from loopforge.core.events import Event
from loopforge.core.room import File
from loopforge.runtime.air import Ear
from loopforge.runtime.delivery import Deliveries
from loopforge.runtime.ports import Ledger

SHOWN = (
    "room.heard",
    "room.said",
    "room.told",
    "room.reacted",
    "room.person_joined",
    "room.person_left",
    "room.mate_joined",
    "room.mate_left",
    "room.stopped",
    "room.conversation_began",
    "room.conversation_ended",
    "room.titled",
    "room.marked",
    "room.energy_set",
    "room.policy_chosen",
)
"""The kinds of event that people may see of a room's past."""


class Searchable(Ledger, Protocol):
    """A ledger that finds lines by their words."""

    async def search(self, stream: str, words: str, limit: int) -> list[Event]:
        """Lines of a stream that hold these words, newest first."""
        ...


class Front:
    """The rooms as surfaces see them."""

    def __init__(
        self, rooms: Rooms, commands: Commands, deliveries: Deliveries, ledger: Searchable
    ) -> None:
        self._rooms, self._commands = rooms, commands
        self._deliveries, self._ledger = deliveries, ledger

    async def enter(self, room: str, name: str, surface: str, mates: tuple[str, ...] = ()) -> Scene:
        """Open the room if it is new (with these mates, or all), and bring the person in."""
        return await self._rooms.enter(room, name, surface, mates)

    async def hear(
        self,
        room: str,
        person: str,
        text: str,
        *,
        surface: str,
        source: str,
        reply_to: str = "",
        files: Sequence[File] = (),
    ) -> Event:
        """Take in a line; it is in the ledger when this returns."""
        return await self._rooms.hear(
            room, person, text, surface=surface, source=source, reply_to=reply_to, files=files
        )

    async def act(self, room: str, person: str, name: str, argument: str) -> str:
        """Do what a command asks, and say in a plain sentence what was done."""
        return await self._commands.act(room, person, name, argument)

    async def history(
        self, room: str, *, before: int | None = None, after: int = 0, limit: int = 50
    ) -> list[Event]:
        """Events people may see: with `after` the first `limit` after it, else the last."""
        return await self._ledger.read(
            stream_of(room),
            after=after,
            before=before,
            kinds=SHOWN,
            limit=limit,
            newest=after == 0,
        )

    async def search(self, room: str, words: str, limit: int) -> list[Event]:
        """Lines that hold these words, in order, the newest `limit` of them."""
        found = await self._ledger.search(stream_of(room), words, limit)
        return found[::-1]

    async def scene(self, room: str) -> Scene:
        """The room as it stands."""
        return await self._rooms.scene(room)

    async def why(self, event_id: str) -> str:
        """The flight record of an event, as plain text. Raises Unknown."""
        return await why(self._ledger, event_id)

    def listen(self, room: str) -> Ear:
        """Drafts, typing and events from now on."""
        return self._rooms.listen(room)

    async def seen(self, room: str, person: str, seq: int) -> None:
        """Everything up to `seq` was shown to this person."""
        await self._deliveries.seen(stream_of(room), "terminal", seq, f"{person}:{seq}")

    async def settled(self, room: str) -> None:
        """Return when nothing is pending: all that was heard is answered, or will not be."""
        await self._rooms.settled(room)
