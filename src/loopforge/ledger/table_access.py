"""Tables: what other packages ask of a ledger whose tables can be read by hand.

For those that declare tables of their own, or read the ledger's in ways that its port does not
offer. Knows no table.
"""

from collections.abc import Callable
from typing import Protocol, TypeVar

from sqlalchemy.engine import Connection

from loopforge.runtime.ports import Ledger

T = TypeVar("T")


class Tables(Protocol):
    """Tables that can be read."""

    async def look(self, work: Callable[[Connection], T]) -> T:
        """Read by hand, in a reading thread; what the work returns."""


class WritableTables(Tables, Protocol):
    """Tables that can be read, and changed in a transaction."""

    async def change(self, work: Callable[[Connection], T], *, soon: bool = True) -> T:
        """Change tables by hand, all of it or nothing; `soon`, or with what is written next."""


class ReadableLedger(Ledger, Tables, Protocol):
    """A ledger whose tables can be read."""
