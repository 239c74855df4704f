"""How the sinks of a home stand: a port, since pages show it and know no sink."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple, Protocol


class SinkStanding(NamedTuple):
    """How a sink stands: what it is and where, and what has not gone there yet.

    `behind` counts events at the most, the first of them of `oldest`; -1 where the sink could not
    say yet what it has. `trouble` is what went wrong last, `at` when; "" for nothing since the home
    was opened.
    """

    name: str
    place: str
    behind: int
    oldest: datetime | None = None
    trouble: str = ""
    at: datetime | None = None


class SinkStandings(Protocol):
    """The sinks of a home that runs."""

    async def standings(self) -> Sequence[SinkStanding]:
        """How each stands now."""
