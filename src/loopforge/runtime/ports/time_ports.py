"""Time and dice, as the runtime is given them."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Time. `now` is UTC and aware; `ticks` is a steady count of seconds for measuring spans.

    A `sleep` is a span: time in which the machine itself sleeps does not count. `sleep_until` ends
    at that time of day, whatever became of the machine or its clock meanwhile.
    """

    def now(self) -> datetime: ...

    def ticks(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...

    async def sleep_until(self, when: datetime) -> None: ...


class Dice(Protocol):
    """Randomness: `bytes(n)` gives n random bytes (a scripted one makes runs repeatable)."""

    def bytes(self, count: int) -> bytes: ...
