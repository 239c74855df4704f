"""Which insights are worth being told: those that were used, by attempts that went better.

    worth = lift * uses / (uses + DOUBT) + USED * log2(1 + uses)

The lift is the mean score of attempts that were given it, less that of the mate's attempts that
were not; of few uses little is believed. What was never used stands in between: below what helped,
above what harmed. Age alone moves nothing; among equals the newer one comes first. That attempts
with it went better does not prove that it was the reason: `work_learning = "split"` does. Pure.
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from loopforge.core.work.work_vocabulary import AttemptScored

DOUBT = 3.0
"""So many uses, and half of the lift is believed."""
USED = 1.0
"""Points for each doubling of its uses."""
MOST = 20
"""Insights that a task is given."""


class InsightWorth(NamedTuple):
    """What an insight was worth: its uses, mean scores with it and without (-1: there is none)."""

    insight: str
    uses: int = 0
    given: float = -1.0
    without: float = -1.0

    @property
    def lift(self) -> float:
        """How much better attempts went that were given it; 0 where nobody knows."""
        return self.given - self.without if self.uses and self.without >= 0 else 0.0

    @property
    def worth(self) -> float:
        """By which it is ranked."""
        believed = self.lift * self.uses / (self.uses + DOUBT)
        return round(believed + USED * math.log2(1 + self.uses), 2)


def worth_of(insight: str, attempts: Iterable[AttemptScored]) -> InsightWorth:
    """What an insight was worth in these attempts of its mate.

    Attempts that were given what others had learned say nothing of it.
    """
    given, without = list[float](), list[float]()
    for one in attempts:
        if one.arm != "shuffled":
            (given if insight in one.used else without).append(one.together)
    return InsightWorth(insight, len(given), _mean(given), _mean(without))


def _mean(scores: Sequence[float]) -> float:
    return round(sum(scores) / len(scores), 2) if scores else -1.0


def rank_insights(worths: Iterable[InsightWorth]) -> list[InsightWorth]:
    """The best first; ids tell when, so that among equals the newest comes first."""
    return sorted(worths, key=lambda one: (one.worth, one.insight), reverse=True)
