"""The one file that starts tasks.

A task started here is kept until it ends, its failure is logged with its name, and closing waits
for all of them. A bare `asyncio.create_task` may be collected, or fail with nobody looking.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
log = logging.getLogger(__name__)


class Tasks:
    """Tasks that belong together. `close`, or the block's end, cancels what still runs."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> Tasks:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def spawn(self, work: Coroutine[Any, Any, T], name: str) -> asyncio.Task[T]:
        """Start it; a failure is logged, and raised too where the task is awaited."""
        task = asyncio.create_task(work, name=name)
        self._running.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("task %s failed", task.get_name(), exc_info=task.exception())

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
