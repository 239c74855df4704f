"""Simulated time that stands still while real threads are at work.

`still(clock, ledger)` tells a SimClock of the ledger's threads and of `asyncio.to_thread`. Whoever
makes a SimClock and a ledger calls it; else time runs past those who wait for a slow disk.
`while_answering` tells it of models that answer over sockets.

Does not cover what else waits for a socket: await that before moving time on.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from loopforge.ledger.sql_ledger import SqlLedger
from tests.sim_clock import SimClock

T = TypeVar("T")


class Threads(ThreadPoolExecutor):
    """The threads of a loop, which knows how much they have in hand."""

    def __init__(self) -> None:
        super().__init__(thread_name_prefix="counted")
        self.working = 0

    def submit(self, work: Callable[..., T], /, *given: Any, **more: Any) -> Future[T]:
        """Do it in a thread; it counts until the loop has heard that it ended."""
        loop, heard = asyncio.get_running_loop(), Future[T]()
        self.working += 1

        def do() -> None:
            try:
                if heard.set_running_or_notify_cancel():
                    heard.set_result(work(*given, **more))
            except BaseException as error:
                heard.set_exception(error)
            finally:  # the loop was told of the result before, however long that took
                loop.call_soon_threadsafe(self._ended)

        super().submit(do)
        return heard

    def _ended(self) -> None:
        self.working -= 1


_known: WeakKeyDictionary[asyncio.AbstractEventLoop, Threads] = WeakKeyDictionary()


def still(clock: SimClock, ledger: SqlLedger) -> None:
    """Let the clock stand still while this ledger or a thread of the running loop is at work."""
    loop = asyncio.get_running_loop()
    if loop not in _known:
        _known[loop] = Threads()
        loop.set_default_executor(_known[loop])
    threads = _known[loop]
    clock.while_busy(lambda: threads.working)
    clock.while_busy(lambda: ledger.working)


def while_answering(clock: SimClock, held: Callable[[], object]) -> None:
    """Let it stand still, too, while a model answers, unless its answer is `held` up for good."""
    clock.while_busy(lambda: not held() and _answering())


def _answering() -> bool:
    return any(task.get_name() == "model answer" for task in asyncio.all_tasks())
