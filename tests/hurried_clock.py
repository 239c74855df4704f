"""A clock that is faster than the machine's, alike in every process: for drills that mostly wait.

Time-outs of libraries stay as long as they are.
"""

from datetime import UTC, datetime

from loopforge.runtime.system_clock import SystemClock

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


class HurriedClock(SystemClock):
    """`pace` times as fast."""

    def __init__(self, pace: float) -> None:
        self.pace = pace

    def now(self) -> datetime:
        """UTC, aware."""
        return BEGAN + (super().now() - BEGAN) * self.pace

    def ticks(self) -> float:
        """Seconds that never go back."""
        return super().ticks() * self.pace

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await super().sleep(seconds / self.pace)
