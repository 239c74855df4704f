"""What a benchmark comes to: how many instances were resolved by each arm, with intervals.

An instance is resolved where one of its attempts was. Arms are compared over the instances that
both had. Does not know what the instances are.
"""

from collections.abc import Sequence

from msgspec import Struct

from loopforge.core.statistics.rate_statistics import (
    Interval,
    PairedDifference,
    paired_difference,
    wilson,
)
from loopforge.core.work.task_confidence import brier
from loopforge.work.benchmark.instance_run import InstanceAttempt


class BenchmarkArm(Struct, frozen=True, kw_only=True):
    """One arm. `brier`: how well its confidences foretold what the tests said; 0 is perfect.

    `unusable` instances are in no other figure. `dollars` are those of all attempts.
    """

    arm: str
    resolved: Interval
    first: int
    attempts: int
    unusable: int
    brier: float | None
    dollars: float


def arms_of(done: Sequence[InstanceAttempt]) -> list[BenchmarkArm]:
    """The arms, in the order in which they ran."""
    return [_arm(arm, [one for one in done if one.arm == arm]) for arm in _names(done)]


def _names(done: Sequence[InstanceAttempt]) -> list[str]:
    return list(dict.fromkeys(one.arm for one in done))


def _arm(arm: str, done: Sequence[InstanceAttempt]) -> BenchmarkArm:
    tried, resolved = _resolved(done)
    counted = [one for one in done if not one.unusable]
    return BenchmarkArm(
        arm=arm,
        resolved=wilson(len(resolved), len(tried)),
        first=sum(one.resolved and one.attempt == 1 for one in counted),
        attempts=len(counted),
        unusable=len(done) - len(counted),
        brier=brier([(one.confidence, one.resolved) for one in counted]),
        dollars=sum(one.dollars for one in counted),
    )


def _resolved(done: Sequence[InstanceAttempt]) -> tuple[list[str], set[str]]:
    tried = dict.fromkeys(one.instance for one in done if not one.unusable)
    return list(tried), {one.instance for one in done if one.resolved}


def arm_difference(done: Sequence[InstanceAttempt], a: str, b: str) -> PairedDifference | None:
    """How much more of the instances that both had were resolved in arm `b`; None without any."""
    (tried, by_a), (others, by_b) = (
        _resolved([one for one in done if one.arm == arm]) for arm in (a, b)
    )
    both = [one for one in tried if one in others]
    if not both:
        return None
    return paired_difference(
        {nth: ((int(one in by_a), 1), (int(one in by_b), 1)) for nth, one in enumerate(both)}
    )
