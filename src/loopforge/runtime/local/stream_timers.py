"""Timers of one process: a stream's lane is woken at the moment that was set for it last.

Does not cover: moments that outlive the process. What a stream waits for stands in the ledger, and
at the start every stream is looked into (`Timers`).
"""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime

from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Clock


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
        while (left := (when - self._clock.now()).total_seconds()) > 0:
            await self._clock.sleep(left)
        del self._waiting[stream]
        self._wake(stream)
