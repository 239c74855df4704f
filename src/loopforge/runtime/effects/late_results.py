"""Late results: what tools bring that were at work when something was forgotten.

Their turns are over, and they may have been given it, or read it before. What they bring is looked
at when they have ended, for quotes of what was forgotten, as if it was forgotten only then. A
process that dies takes them along: what is used again after a start is given what stands there.

Does not know what a quote is.
"""

import logging
from collections.abc import Awaitable, Callable, Collection, Sequence

from loopforge.errors import LoopforgeError
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.effects.effect_worker import Effects

log = logging.getLogger(__name__)


class LateResults:
    """Looks after them. `look_again` is told of each erasure."""

    def __init__(self, effects: Effects, tasks: BackgroundTasks) -> None:
        self._effects, self._tasks = effects, tasks

    async def look_again(
        self,
        concerned: Callable[[], Awaitable[Collection[str]]],
        again: Callable[[], Awaitable[object]],
    ) -> None:
        """Have it done `again` when the tools are done that are at work in streams concerned."""
        busy = [stream for stream in await concerned() if self._effects.busy(stream)]
        if busy:
            self._tasks.spawn(self._once_done(busy, again), "late results")

    async def _once_done(self, busy: Sequence[str], again: Callable[[], Awaitable[object]]) -> None:
        try:
            for stream in busy:
                await self._effects.settled(stream)
            await again()
        except LoopforgeError as error:
            log.warning("what tools brought after an erasure was not looked at: %s", error)
