"""Where lines go out."""

from typing import Protocol

from msgspec import Struct

from loopforge.core.delivery_states import What
from loopforge.core.events import Event


class Outgoing(Struct, frozen=True, kw_only=True):
    """One thing to deliver: its delivery id, where, and what.

    `place` is the surface's name, or for a surface with many places the key of one ("platform:12").
    `first` is the id of the event that its first attempt was written down by.
    """

    delivery: str
    stream: str
    place: str
    what: What
    event: Event
    first: str = ""


class Surface(Protocol):
    """Where lines go out: a terminal, a web room, a channel of a platform."""

    name: str

    async def send(self, out: Outgoing) -> str:
        """Send it and return the surface's id of the message (ids, with spaces between, of parts).

        Raises SendFailed.
        """

    async def sent(self, out: Outgoing) -> str | None:
        """Whether it is already there (asked before sending a second time), by its id.

        Raises SendFailed: `uncertain` where nobody can know.
        """
