"""Lanes: turns of one stream run one at a time and in order; streams run side by side.

On one machine a lane is an asyncio task that runs a handler until it has nothing left to do. It is
fed from the ledger: `wake` says only "look again". Hearing and stop do not pass through here.

What a stream waits for stands in the ledger, and at the start every stream is looked into.

Does not cover: several machines (the same port is to be served by a queue on PostgreSQL), and
moments that outlive the process.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable, Sequence
from datetime import datetime
from typing import Generic, TypeVar

from loopforge.errors import LedgerError
from loopforge.runtime.background_tasks import LASTING, PAUSES, BackgroundTasks, SetbackLog
from loopforge.runtime.installation.log_file import set_log_stream
from loopforge.runtime.ports import Clock

log = logging.getLogger(__name__)
K = TypeVar("K", bound=Hashable)


class LocalLanes(Generic[K]):
    """One task per busy stream. A handler that fails is tried again, later and later.

    Not where the ledger says what waiting does not mend; then it is tried when it is woken next.

    What else is worked off by a key (deliveries to a place, effects) goes so, too.
    """

    def __init__(self, handler: Callable[[K], Awaitable[None]], clock: Clock) -> None:
        self._handler, self._clock = handler, clock
        self._tasks = BackgroundTasks()
        self._again: set[K] = set()
        self._busy: dict[K, asyncio.Task[None]] = {}
        self._idle: dict[K, asyncio.Event] = {}
        self._closed = False

    def wake(self, stream: K) -> None:
        """There may be something to do in this stream."""
        if self._closed:
            return
        self._again.add(stream)
        if stream not in self._busy:
            self._idle.setdefault(stream, asyncio.Event()).clear()
            self._busy[stream] = self._tasks.spawn(self._run(stream), f"lane {stream}")

    async def settled(self, stream: K) -> None:
        """Return when the lane has nothing left to do."""
        while stream in self._busy:
            await self._idle[stream].wait()

    async def close(self) -> None:
        """Stop all lanes where they stand; what they were at is found again in the ledger."""
        self._closed = True
        await self._tasks.close()

    async def _run(self, stream: K) -> None:
        failures, setbacks = 0, SetbackLog(log, f"lane {stream}")
        set_log_stream(str(stream))
        try:
            while stream in self._again:
                self._again.discard(stream)
                try:
                    await self._handler(stream)
                    failures = 0
                    setbacks.over()
                except LASTING as error:
                    log.warning("lane %s is left until it is woken: %s", stream, error)
                except LedgerError as error:
                    setbacks.met(error)
                    failures = await self._pause(stream, failures)
                except Exception:
                    log.exception("lane %s failed", stream)
                    failures = await self._pause(stream, failures)
        finally:
            del self._busy[stream]
            self._idle.pop(stream).set()

    async def _pause(self, stream: K, failures: int) -> int:
        await self._clock.sleep(PAUSES[min(failures, len(PAUSES) - 1)])
        self._again.add(stream)
        return failures + 1


class LocalTimers:
    """One task for each stream that waits. `wake` is given the stream."""

    def __init__(self, wake: Callable[[str], None], clock: Clock) -> None:
        self._wake, self._clock, self._tasks = wake, clock, BackgroundTasks()
        self._waiting: dict[str, asyncio.Task[None]] = {}

    def at(self, stream: str, when: datetime) -> None:
        """See `Timers.at`."""
        self.cancel(stream)
        self._waiting[stream] = self._tasks.spawn(self._wait(stream, when), f"timer {stream}")

    def cancel(self, stream: str) -> None:
        """See `Timers.cancel`."""
        if waiting := self._waiting.pop(stream, None):
            waiting.cancel()

    def waiting(self) -> Sequence[str]:
        """See `Timers.waiting`."""
        return tuple(self._waiting)

    async def close(self) -> None:
        """Wake nobody any more."""
        await self._tasks.close()

    async def _wait(self, stream: str, when: datetime) -> None:
        await self._clock.sleep_until(when)
        del self._waiting[stream]
        self._wake(stream)
