"""The one file that owns the clock, the dice and ids.

Everything else is given a Clock, a Dice, or a Stamp; so a test can run an hour in a moment and a
run can be repeated. Ids are UUIDv7 (RFC 9562): time-ordered, and never equal or out of order
within one Stamp, also when the clock stands still or steps back.
"""

import asyncio
import os
import re
import threading
import time
from datetime import UTC, datetime

from loopforge.core.events import Body, Fact, epoch_micros
from loopforge.runtime.ports import Clock, Dice

LOOK = 20.0
"""Seconds after which who waits for a time of day looks at the clock again."""
DRAWN = 4096
"""Bytes of randomness drawn at once."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """UTC, aware."""
        return datetime.now(UTC)

    def ticks(self) -> float:
        """Seconds that never go back."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)

    async def sleep_until(self, when: datetime) -> None:
        """Wait until that time, LOOK too long at most where the clock is put forward meanwhile."""
        while (left := (when - self.now()).total_seconds()) > 0:
            await self.sleep(min(left, LOOK))


class SystemDice:
    """The machine's randomness, drawn a page at a time: each draw lets other threads cut in."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._page, self._used = b"", 0

    def bytes(self, count: int) -> bytes:
        """That many random bytes; no process is given any of them twice."""
        with self._lock:
            if self._used + count > len(self._page):
                self._page, self._used = os.urandom(max(count, DRAWN)), 0
            self._used += count
            return self._page[self._used - count : self._used]


class Stamp:
    """Gives facts their id and time.

    `after` is the newest id that another Stamp gave, "" for none: the clock may have gone back.
    """

    def __init__(self, clock: Clock, dice: Dice, after: str = "") -> None:
        self.clock, self.dice = clock, dice
        self._last = _micros(after)

    def id(self) -> str:
        """A UUIDv7 in 32 hex digits, greater than `after` and every id this Stamp gave before.

        The 60 bits of time are microseconds (48 bits of milliseconds, then the rest of the
        microsecond in rand_a), pushed on by one where the clock did not move.
        """
        now = max(epoch_micros(self.clock.now()), self._last + 1)
        self._last = now
        milliseconds, rest = divmod(now, 1000)
        tail = int.from_bytes(self.dice.bytes(8), "big") & ((1 << 62) - 1)
        value = (milliseconds & ((1 << 48) - 1)) << 80
        value |= 0x7 << 76 | rest << 64 | 0b10 << 62 | tail
        return f"{value:032x}"

    def fact(self, body: Body, *, actor: str, cause: str = "") -> Fact:
        """A fact of now. `actor` is "person:<id>", "mate:<handle>", "room" or "runtime"."""
        return Fact(id=self.id(), at=self.clock.now(), actor=actor, body=body, cause=cause)


def _micros(id: str) -> int:
    """The microseconds in an id of ours; 0 in any other, and in one of the far future."""
    if not re.fullmatch("[0-7][0-9a-f]{11}7[0-9a-f]{19}", id):
        return 0
    return int(id[:12], 16) * 1000 + int(id[13:16], 16)
