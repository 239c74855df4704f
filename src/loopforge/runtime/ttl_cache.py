"""A cache that holds for a moment: of what is asked for dozens of times in a turn, such as files.

Each system call lets other threads go first, so that many of them in a turn cost more than reading.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

from loopforge.runtime.ports import Clock

T = TypeVar("T")
MOMENT = 0.05
"""Seconds for which a look holds."""


class TtlCache(Generic[T]):
    """What `look` gave last, for a moment. Without a clock it looks each time."""

    def __init__(self, look: Callable[[], T], clock: Clock | None) -> None:
        self._look, self._clock = look, clock
        self._found: T | None = None
        self._looked = -MOMENT

    def get(self, *, anew: bool = False) -> T:
        """What there is, as of a moment ago at most."""
        ticks = self._clock.ticks() if self._clock is not None else self._looked + MOMENT
        if anew or self._found is None or ticks - self._looked >= MOMENT:
            self._found, self._looked = self._look(), ticks
        return self._found
