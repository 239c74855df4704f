"""How long somebody waits who gave wrong passwords, or wrong codes, several times in a row.

Kept in memory alone, by a name that the caller chooses. Knows no accounts.
"""

from typing import NamedTuple

from loopforge.core.limits.bounded_mapping import BoundedMapping
from loopforge.core.text.spoken_lists import seconds_in_words
from loopforge.errors import TooEarly
from loopforge.runtime.ports import Clock

FREE = 5
"""Wrong passwords in a row before the first wait."""
FIRST, LONGEST = 10, 15 * 60
"""Seconds of the first wait, which doubles with every further one, and of the longest."""
FORGIVEN = 60 * 60
"""Seconds without a try after which nothing is held against a name."""
NAMES = 10_000
"""Names counted at once; who tried longest ago is dropped first."""


class WrongTries(NamedTuple):
    """How often it was wrong, until when (ticks) to wait, and whether that was told."""

    times: int = 0
    until: float = 0.0
    told: bool = False


class GuessLockout:
    """How often in a row a password, or a code, was wrong, by name; kept in memory alone."""

    def __init__(self, clock: Clock, what: str = "password") -> None:
        self._clock, self._what = clock, what
        self._wrong: BoundedMapping[str, WrongTries] = BoundedMapping(NAMES)

    def begin(self, name: str) -> None:
        """Count a try, before it is known whether it is right: many at once are many.

        Raises TooEarly while there is still to be waited; such a try is not counted.
        """
        count, until, told = wrong = self._wrong.get(name, WrongTries())
        now = self._clock.ticks()
        if now < until:
            self._wrong[name] = wrong._replace(told=True)
            raise TooEarly(
                f"The {self._what} was wrong {count} times in a row. "
                f"Wait {seconds_in_words(until - now)}, then try again.",
                told=told,
            )
        count = 1 if now - until > FORGIVEN else count + 1
        wait = min(LONGEST, FIRST * 2 ** min(count - FREE, 10)) if count >= FREE else 0
        self._wrong[name] = WrongTries(count, now + wait)

    def right(self, name: str) -> None:
        """The last try was right: nothing is held against that name."""
        self._wrong.pop(name, None)

    def uncounted(self, name: str) -> None:
        """The last try was right, and says nothing about those before: it is not counted."""
        if count := self._wrong.get(name, WrongTries()).times:
            self._wrong[name] = WrongTries(count - 1, self._clock.ticks())
