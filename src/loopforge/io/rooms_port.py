"""What a surface needs of the rooms of a home, as one protocol.

The room's own package serves it; the hall hands it on to terminals. Knows neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from loopforge.chat.room.room_snapshot import Scene
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import File
from loopforge.runtime.ports import Listening


class RoomsPort(Protocol):
    """The rooms of a home, as a surface uses them. Errors are Loopforge's own, never others."""

    async def enter(self, room: str, name: str, surface: str, mates: tuple[str, ...] = ()) -> Scene:
        """Open the room if it is new (with these mates, or all), and bring the person in.

        `Scene.you` is the person's id. Entering twice changes nothing.
        """
        ...

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
        owner: bool = False,
    ) -> Event:
        """Take in a line; "stop" by itself stops the room. `text` may be "" if there are files.

        `owner`: somebody at the machine itself says it, who may do everything in the home.

        Once this returns, the line is in the ledger. A `source` that was heard before gives the
        event it gave then. Raises BadLine, LedgerBusy, LedgerFull.
        """
        ...

    async def act(
        self, room: str, person: str, name: str, argument: str, *, owner: bool = False
    ) -> str:
        """Do what a command asks and say in a plain sentence what was done; `owner` as in hear.

        Names and arguments: stop, new, end (no argument); title (a title, or "" to let the room
        find its own); energy (a capacity, or "" to be told); keep, spent (an event's id); policy (a
        policy's name, or "" to be told). Raises Unknown and other input errors.
        """
        ...

    async def history(
        self, room: str, *, before: int | None = None, after: int = 0, limit: int = 50
    ) -> list[Event]:
        """Events people may see, in order: with `after` the first `limit` after it, else the last.

        `before` and `after` are sequence numbers and do not belong to what is returned.
        """
        ...

    async def search(self, room: str, words: str, limit: int) -> list[Event]:
        """Lines that hold these words, in order, the newest `limit` of them."""
        ...

    async def scene(self, room: str) -> Scene:
        """The room as it stands."""
        ...

    async def why(self, event_id: str) -> str:
        """The flight record of an event, as plain text. Raises Unknown."""
        ...

    def listen(self, room: str) -> Listening:
        """Everything from now on (from the call, not from the first step of the iterator)."""
        ...

    async def seen(self, room: str, person: str, seq: int) -> None:
        """Everything up to `seq` was shown to this person."""
        ...

    async def settled(self, room: str) -> None:
        """Returns when nothing is pending: all that was heard is answered, or will not be."""
        ...
