"""Time and dice, as the runtime is given them."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Time. `now` is UTC and aware; `ticks` is a steady count of seconds for measuring spans."""

    def now(self) -> datetime: ...

    def ticks(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...


class Dice(Protocol):
    """Randomness: `bytes(n)` gives n random bytes (a scripted one makes runs repeatable)."""

    def bytes(self, count: int) -> bytes: ...
