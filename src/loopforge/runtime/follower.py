"""Following the ledger: every event is told once, in the order of its stream, whoever wrote it.

    this process appended   ----> comes next in its stream? --> told at once
                                     no: others wrote before --+
    others' heads were seen -----------------------------------+--> read on --> told

So whoever subscribes needs no second way to learn what another process did. Who appends goes on
once that was told. Does not know how others' heads are found, nor what a handler does; one that
waits for something spawns a task of its own.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

from loopforge.core.events import Event
from loopforge.errors import LedgerRewound
from loopforge.runtime.background_tasks import BackgroundTasks

log = logging.getLogger(__name__)
REMEMBERED = 1000
"""Sets of kinds that came together, of which it is remembered who wants any."""
GONE = (
    "The database no longer has the newest events of {stream}: it was put back to an earlier time, "
    "as when a standby took over that had not received them all. This process goes by what is no "
    "more, so it ends; start it again, and it goes on with what is there."
)
Handler = Callable[[str, Sequence[Event]], None]
"""Is given a stream and what is new in it."""


class StreamReader(Protocol):
    """What reads a stream's events."""

    def __call__(self, stream: str, *, after: int) -> Awaitable[Sequence[Event]]:
        """Those after a sequence number, in order."""


class _Subscription(NamedTuple):
    handler: Handler
    streams: str
    kinds: frozenset[str]


class Follower:
    """Serves `subscribe` and `told` for one ledger, from the heads it had when it was opened."""

    def __init__(self, read: StreamReader, heads: Mapping[str, int]) -> None:
        self._read, self._told = read, dict(heads)
        self._ahead: dict[str, int] = {}
        self._reading: dict[str, asyncio.Task[None]] = {}
        self._subscriptions: list[_Subscription] = []
        self._wanting: dict[frozenset[str], tuple[_Subscription, ...]] = {}
        self._tasks = BackgroundTasks()

    def subscribe(
        self, handler: Handler, *, streams: str = "", kinds: Collection[str] = ()
    ) -> Callable[[], None]:
        """See `Ledger.subscribe`."""
        one = _Subscription(handler, streams, frozenset(kinds))
        self._subscriptions.append(one)
        self._wanting.clear()

        def leave() -> None:
            self._subscriptions.remove(one)
            self._wanting.clear()

        return leave

    def appended(self, stream: str, events: Sequence[Event]) -> None:
        """This process appended; told at once where nobody else wrote before."""
        if events[0].seq == self._told.get(stream, 0) + 1:
            self._tell(stream, events)
        else:
            self._ahead[stream] = max(events[-1].seq, self._ahead.get(stream, 0))
            self._read_on(stream)

    async def seen(self, heads: Mapping[str, int] | None) -> None:
        """Streams stand there now; return when what others wrote was told. Raises LedgerError.

        None: as they stood before. What could not be read is read the next time. Raises
        LedgerRewound where an event that was told is gone.
        """
        heads = self._told if heads is None else heads
        for stream in [each for each, seq in self._told.items() if seq > heads.get(each, 0)]:
            if not await self._read(stream, after=self._told[stream] - 1):
                raise LedgerRewound(GONE.format(stream=stream))
        for stream, seq in heads.items():
            if seq > self._told.get(stream, 0):
                self._ahead[stream] = max(seq, self._ahead.get(stream, 0))
        for stream in tuple(self._ahead):
            await self.told(stream)

    async def told(self, stream: str, past: int = -1) -> int:
        """See `Ledger.told`."""
        if stream in self._ahead or self._told.get(stream, 0) <= past:
            await asyncio.shield(self._read_on(stream))
        return self._told.get(stream, 0)

    async def close(self) -> None:
        """Tell no more."""
        await self._tasks.close()

    def _read_on(self, stream: str) -> asyncio.Task[None]:
        if stream not in self._reading:
            self._reading[stream] = self._tasks.spawn(self._catch_up(stream), f"follow {stream}")
        return self._reading[stream]

    async def _catch_up(self, stream: str) -> None:
        try:
            while True:
                events = await self._read(stream, after=self._told.get(stream, 0))
                self._tell(stream, events)
                if not events or stream not in self._ahead:
                    return
        finally:
            del self._reading[stream]

    def _tell(self, stream: str, events: Sequence[Event]) -> None:
        known = self._told.get(stream, 0)
        if not events or events[-1].seq <= known:
            return
        fresh = [event for event in events if event.seq > known]
        self._told[stream] = head = fresh[-1].seq
        if self._ahead.get(stream, 0) <= head:
            self._ahead.pop(stream, None)
        kinds = frozenset([event.kind for event in fresh])
        for one in self._wanted(kinds):
            if not stream.startswith(one.streams):
                continue
            wanted: Sequence[Event] = fresh
            if one.kinds and not one.kinds >= kinds:
                wanted = [event for event in fresh if event.kind in one.kinds]
            try:
                one.handler(stream, wanted)
            except Exception:
                log.exception("a follower of the ledger failed")

    def _wanted(self, kinds: frozenset[str]) -> tuple[_Subscription, ...]:
        """Who wants any of these kinds, in the order in which they came."""
        if kinds not in self._wanting:
            if len(self._wanting) >= REMEMBERED:
                self._wanting.clear()
            self._wanting[kinds] = tuple(
                one
                for one in self._subscriptions
                if not one.kinds or not one.kinds.isdisjoint(kinds)
            )
        return self._wanting[kinds]
