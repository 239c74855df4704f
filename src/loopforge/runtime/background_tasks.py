"""The one file that starts tasks.

A task started here is kept until it ends, its failure is logged with its name, and closing waits
for all of them. What is to be done whatever becomes of the database is tried again until it is
done, or until the database says what waiting does not mend. A bare `asyncio.create_task` may be
collected, or fail with nobody looking.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from itertools import count
from typing import Any, TypeVar

from loopforge.errors import LedgerBehind, LedgerBroken, LedgerError, LedgerRewound, Overtaken
from loopforge.runtime.ports import Clock

T = TypeVar("T")
log = logging.getLogger(__name__)
PAUSES = (0.2, 1.0, 5.0, 15.0)
"""Seconds to wait after something failed, by how often in a row; the last one holds."""
LONG_PAUSES = (*PAUSES, 60.0)
"""The same, where nobody waits for it."""
LASTING = (LedgerBroken, LedgerBehind, LedgerRewound, Overtaken)
"""Faults of the ledger that somebody has to mend while this process does not run."""


def is_passing(error: BaseException) -> bool:
    """Whether it is a fault of the ledger that mends itself by waiting."""
    return isinstance(error, LedgerError) and not isinstance(error, LASTING)


class SetbackLog:
    """Tells the log why something waits: once for each reason in a row, and when it goes on."""

    def __init__(self, log: logging.Logger, what: str) -> None:
        self._log, self._what, self._why = log, what, ""

    def met(self, error: LedgerError) -> None:
        """It could not be done just now."""
        if self._why != (why := str(error)):
            self._why = why
            self._log.warning("%s waits: %s", self._what, why)

    def over(self) -> None:
        """It is done."""
        if self._why:
            self._why = ""
            self._log.warning("%s goes on", self._what)


class BackgroundTasks:
    """Tasks that belong together. `close`, or the block's end, cancels what still runs."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> BackgroundTasks:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def spawn(self, work: Coroutine[Any, Any, T], name: str) -> asyncio.Task[T]:
        """Start it; a failure is logged, and raised too where the task is awaited."""
        task = asyncio.create_task(work, name=name)
        self._running.add(task)
        task.add_done_callback(self._done)
        return task

    def insist(
        self, work: Callable[[], Coroutine[Any, Any, object]], name: str, clock: Clock
    ) -> asyncio.Task[None]:
        """Start it, and again, later and later, as long as the ledger cannot do what it asks.

        What waiting does not mend ends it, without raising: whatever it is begins with the next
        start of the program again.
        """
        return self.spawn(_insisting(work, name, clock), name)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, LedgerError):
            log.warning("task %s ended: %s", task.get_name(), error)
        elif error is not None:
            log.error("task %s failed", task.get_name(), exc_info=error)

    async def finish(self, seconds: float) -> None:
        """Let what runs come to its end, for so long at most, and close."""
        if self._running:
            await asyncio.wait(self._running, timeout=seconds)
        await self.close()

    async def close(self) -> None:
        """Cancel everything and wait until it has gone."""
        running = list(self._running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def _insisting(
    work: Callable[[], Coroutine[Any, Any, object]], name: str, clock: Clock
) -> None:
    setbacks = SetbackLog(log, name)
    for failures in count():
        try:
            await work()
        except LASTING as error:
            log.warning("%s is left until the next start: %s", name, error)
            return
        except LedgerError as error:
            setbacks.met(error)
            await clock.sleep(LONG_PAUSES[min(failures, len(LONG_PAUSES) - 1)])
        else:
            setbacks.over()
            return


async def gather_whole(works: Sequence[Awaitable[T]]) -> tuple[T, ...]:
    """What they all come to, side by side. Raises what one raised once none of them goes on."""
    if len(works) == 1:
        return (await works[0],)
    done = await asyncio.gather(*works, return_exceptions=True)
    for one in done:
        if isinstance(one, BaseException):
            raise one
    return tuple(one for one in done if not isinstance(one, BaseException))


async def run_shielded(work: Coroutine[Any, Any, T], name: str) -> tuple[T, bool]:
    """What comes of what must not be broken off, and whether who waits was cancelled meanwhile.

    Cancelled however often, it waits; raises CancelledError where that failed, too.
    """
    async with BackgroundTasks() as tasks:
        task, stopped = tasks.spawn(work, name), False
        while not task.done():
            try:
                await asyncio.wait({task})
            except asyncio.CancelledError:
                stopped = True
        if stopped and task.exception() is not None:
            raise asyncio.CancelledError
        return task.result(), stopped


async def acquire_within(
    acquire: Coroutine[Any, Any, object],
    release: Callable[[], object],
    seconds: float,
    clock: Clock,
    tasks: BackgroundTasks,
) -> bool:
    """Wait for what others hold, for so long at most; whether it was had.

    Where it comes as who waits is cancelled, it is released.
    """
    waiting = tasks.spawn(acquire, "a place")
    alarm = tasks.spawn(clock.sleep(seconds), "patience")
    try:
        await asyncio.wait({waiting, alarm}, return_when=asyncio.FIRST_COMPLETED)
        if not waiting.done():
            waiting.cancel()
            await asyncio.wait({waiting})
    except asyncio.CancelledError:
        if waiting.done() and not waiting.cancelled():
            release()
        raise
    finally:
        alarm.cancel()
        waiting.cancel()
    return not waiting.cancelled()
