"""What a change was answered, for the page that is shown after it.

Addresses carry its number alone: what stands in an address could be written by anybody, and would
be read as the site's own word. Kept in memory, for who made the change.
"""

from itertools import count

from loopforge.core.limits.bounded_mapping import BoundedMapping

MOST = 1000
"""Answers kept at once; the oldest goes first."""


class FlashMessages:
    """Answers, by a number."""

    def __init__(self) -> None:
        self._kept: BoundedMapping[str, tuple[str, str]] = BoundedMapping(MOST)
        self._numbers = count(1)

    def keep(self, person: str, text: str) -> str:
        """Keep what this person is told; its number."""
        number = str(next(self._numbers))
        self._kept[number] = person, text
        return number

    def read(self, person: str, number: str) -> str:
        """What this person was told; "" for anything else."""
        whose, text = self._kept.get(number, ("", ""))
        return text if whose == person else ""
