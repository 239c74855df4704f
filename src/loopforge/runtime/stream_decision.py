"""Deciding on what stands in a stream, whoever else writes into it.

    where does it stand --> decide on that --> append with `expect` --> done
          ^------------------- Conflict: somebody wrote meanwhile

`expect` alone makes it right. Besides, so that it is done soon: decisions of one process queue up
in the order in which they were asked for, and after a Conflict what else this process appends to
the stream waits. Does not know what is decided, nor how a stream is held in memory.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar
from weakref import WeakValueDictionary

from loopforge.errors import Conflict, LedgerBusy

TRIES = 100
"""How often a decision is made, because the stream moved on each time."""

T = TypeVar("T")


class Decider:
    """Serves `decide` for one ledger; see `Ledger.decide`."""

    def __init__(self) -> None:
        self._queues: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._held: dict[str, asyncio.Event] = {}

    async def free(self, stream: str) -> None:
        """Return when no decision on the stream is being made anew."""
        while held := self._held.get(stream):
            await held.wait()

    async def decide(
        self,
        stream: str,
        head: Callable[[int], Awaitable[int]],
        attempt: Callable[[int], Awaitable[T]],
    ) -> T:
        """See `Ledger.decide`."""
        queue, seq = self._queues.setdefault(stream, asyncio.Lock()), -1
        async with queue:
            try:
                for _ in range(TRIES):
                    seq = await head(seq)
                    try:
                        return await attempt(seq)
                    except Conflict as conflict:
                        refused = conflict
                        self._held.setdefault(stream, asyncio.Event())
                raise LedgerBusy(
                    f"Others write to {stream} all the time; nothing was written. Try again."
                ) from refused
            finally:
                if held := self._held.pop(stream, None):
                    held.set()
