"""Whether what was learned helps: the scores of attempts by what their tasks were given.

    on         what earlier attempts taught
    off        nothing of that
    shuffled   as much, of what others taught

Compared honestly where each task was one of these by lot (`work_learning = "split"`); else the
tasks may differ. Attempts of one task are not independent, so that of each task its first counts.
"""

from collections.abc import Iterable
from typing import NamedTuple

from loopforge.core.statistics.rate_statistics import mean_value
from loopforge.core.work.work_vocabulary import AttemptScored, LearningArm

ORDER: tuple[LearningArm, ...] = ("on", "off", "shuffled")


class ArmScore(NamedTuple):
    """The attempts of one arm: how many, their mean score with its interval of 95 %."""

    arm: LearningArm
    attempts: int
    mean: float
    low: float
    high: float


def compare_learning_arms(attempts: Iterable[AttemptScored]) -> list[ArmScore]:
    """The arms of which there are attempts."""
    scores: dict[LearningArm, list[float]] = {}
    for one in attempts:
        if one.attempt == 1:
            scores.setdefault(one.arm, []).append(one.together)
    found = []
    for arm in ORDER:
        if values := scores.get(arm):
            mean = mean_value(values)
            found.append(ArmScore(arm, mean.n, mean.estimate, mean.low, mean.high))
    return found
