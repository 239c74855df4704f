"""A clock on which whoever waits goes on when a test lets them, and not when time has passed."""

import asyncio
from math import inf

from loopforge.runtime.system_clock import SystemClock


class HeldClock(SystemClock):
    """Given to scripted models, their answers and pieces come as they are let go."""

    def __init__(self) -> None:
        self._left, self._stirred = 0.0, asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        """Wait until it is let go."""
        while self._left < 1:
            self._stirred.clear()
            await self._stirred.wait()
        self._left -= 1

    def let_go(self, waits: float = inf) -> None:
        """Let so many waits end, those to come among them; all, where no number is given."""
        self._left += waits
        self._stirred.set()
