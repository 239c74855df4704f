"""Limits: how much one person may do in a while, so that nobody floods a room, or the disk.

    lines     what they say                    60 at once, then one a second
    changes   marks, settings, rooms, invites  60 at once, then one in two seconds
    bytes     files they give                  ten of the largest at once, then one a minute
    stops     counted by themselves, so that whatever else somebody did, they can still say stop

Counted by person, not by address: behind a proxy everybody has the same one. Kept in memory alone.
"""

import math

from loopforge.core.limits.bounded_mapping import BoundedMapping
from loopforge.core.text.spoken_lists import pluralize
from loopforge.errors import InputError
from loopforge.runtime.ports import Clock

PEOPLE = 10_000
"""People counted at once; who did something longest ago is dropped first."""


class TooFast(InputError):
    """Somebody does too much at once; `seconds` until they may go on."""

    def __init__(self, what: str, seconds: float) -> None:
        self.seconds = max(1, math.ceil(seconds))
        super().__init__(f"{what} Wait {pluralize(self.seconds, 'second')}, then go on.")


class RequestPace:
    """One kind of doing: so much at once, then so much each second."""

    def __init__(self, clock: Clock, most: float, each_second: float, told: str) -> None:
        self._clock, self._most, self._rate, self._told = clock, most, each_second, told
        self._left: BoundedMapping[str, tuple[float, float]] = BoundedMapping(PEOPLE)

    def take(self, person: str, amount: float = 1) -> None:
        """Count something that a person does. Raises TooFast; then it is not counted."""
        now = self._clock.ticks()
        left, then = self._left.get(person, (self._most, now))
        left = min(self._most, left + (now - then) * self._rate)
        enough = left >= min(amount, self._most)
        self._left[person] = (left - amount if enough else left, now)
        if not enough:
            raise TooFast(self._told, (amount - left) / self._rate)


class RequestLimits:
    """The paces of one site; `largest` is the size of the largest file, in bytes."""

    def __init__(self, clock: Clock, largest: int) -> None:
        self.lines = RequestPace(clock, 60, 1, "You say a great deal at once.")
        self.changes = RequestPace(clock, 60, 0.5, "You change a great deal at once.")
        self.stops = RequestPace(clock, 60, 1, "Everything is stopped already.")
        self.bytes = RequestPace(
            clock, 10.0 * largest, largest / 60, "You are sending a great many files."
        )
