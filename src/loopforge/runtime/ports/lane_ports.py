"""Who works on streams, and when."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol


class Lanes(Protocol):
    """Who works on streams: one at a time on each stream, and streams side by side.

    What is to be done stands in the ledger; a lane is told only to look.
    """

    def wake(self, stream: str) -> None:
        """There may be something to do; who is at work looks once more at the end."""

    async def settled(self, stream: str) -> None:
        """Return when nobody has anything left to do on this stream."""


class Timers(Protocol):
    """One moment for each stream at which its lane is to be woken. Nothing of it is kept.

    So what a stream waits for stands in the ledger too: whoever looks into it sets the moment anew.
    """

    def at(self, stream: str, when: datetime) -> None:
        """Wake it then, and not at the moment that was set before; in the past: at once."""

    def cancel(self, stream: str) -> None:
        """Do not wake it any more."""

    def waiting(self) -> Sequence[str]:
        """The streams that are still to be woken."""

    async def close(self) -> None:
        """Wake nobody any more."""
