"""How long it takes: times to a first incident, a first refusal, a first switch of mode.

A lifetime is a time and whether its event was observed; if not, it is right-censored: the run ended
first. Times are in any one unit, steps mostly. Lifetimes of one seed hang together: limits over
seeds and the log-rank test go by seeds; Greenwood's limits, all there is of one seed, take them for
independent.

Knows nothing of what the events were. Covers no competing risks, no covariates, and no ends of runs
that depend on what was coming.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from msgspec import Struct

from loopforge.core.statistics.rate_statistics import (
    CONFIDENCE,
    SAME,
    bootstrap_counts,
    percentile_interval,
    score_limits,
    shuffled_p,
    wilson,
)
from loopforge.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers: TypeAlias = NDArray[np.float64]

Lifetimes: TypeAlias = tuple[Sequence[float], Sequence[bool]]
"""(times, observed), of one length"""
AT_ONCE = 500
"""Steps of a curve that are resampled at once."""
HALF = 0.5 + 1e-12
"""A half, with room for the rounding of a product of fractions."""


class SurvivalStep(Struct, frozen=True):
    """The curve from `time` on: `events` of the `at_risk` fell at it. 0 <= low <= high <= 1."""

    time: float
    at_risk: int
    events: int
    survival: float
    low: float
    high: float


class MedianTime(Struct, frozen=True):
    """The time by which half had their event, with limits; None: not within the times seen."""

    time: float | None
    low: float | None
    high: float | None


class LogRank(Struct, frozen=True):
    """The p-value of a log-rank test, and events by group: observed, and expected of one curve."""

    p: float
    observed: dict[str, int]
    expected: dict[str, float]


def kaplan_meier(times: Sequence[float], observed: Sequence[bool]) -> tuple[SurvivalStep, ...]:
    """The share that is yet without an event, a step for each time at which someone was last seen.

    The limits are Greenwood's on the log-log scale, pointwise. These are undefined where nothing
    has happened yet, which is Wilson's lower limit of those at risk to 1 here, and where nobody is
    left, which is 0 to the upper limit before. Source: Kaplan and Meier 1958; Kalbfleisch and
    Prentice 2002, section 1.4; scipy's ecdf.
    """
    import numpy as np
    from scipy.stats import CensoredData, ecdf

    seen, fell = _lifetimes(times, observed)
    curve: Any = ecdf(CensoredData(uncensored=seen[fell], right=seen[~fell])).sf
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The confidence interval is undefined", RuntimeWarning)
        limits = curve.confidence_interval(CONFIDENCE, method="log-log")
    at_risk, events = _at(np.asarray(curve.quantiles), seen, fell)
    steps: list[SurvivalStep] = []
    for i, time in enumerate(curve.quantiles):
        left = float(curve.probabilities[i])
        low, high = float(limits.low.probabilities[i]), float(limits.high.probabilities[i])
        if left == 1:
            low, high = wilson(int(at_risk[i]), int(at_risk[i])).low, 1.0
        elif left <= 0:
            before = steps[-1].high if steps else 1.0
            low, left = 0.0, 0.0
            high = before if before < 1 else wilson(0, int(at_risk[i])).high
        steps.append(SurvivalStep(float(time), int(at_risk[i]), int(events[i]), left, low, high))
    return tuple(steps)


def limits_over_seeds(
    steps: Sequence[SurvivalStep], by_seed: Mapping[int, Lifetimes]
) -> tuple[SurvivalStep, ...]:
    """A curve with the limits of the bootstrap over seeds, of two or more that it was made of.

    They are pointwise percentiles of the curves of resampled seeds (Davison and Hinkley 1997).
    Where these are all alike they are Wilson's with each seed as one trial, which is cautious, as
    those of a rate are. No curve rises: a bound from below of a later step is one of an earlier.
    """
    import numpy as np

    lives = [_lifetimes(*by_seed[seed]) for seed in sorted(by_seed)]
    drawn = bootstrap_counts(len(lives))
    left = np.ones((len(drawn), 1))
    limits: list[tuple[float, float]] = []
    for start in range(0, len(steps), AT_ONCE):
        some = steps[start : start + AT_ONCE]
        counts = [_at(np.array([step.time for step in some]), *life) for life in lives]
        at_risk, events = (drawn @ np.array(each) for each in zip(*counts, strict=True))
        falling = np.divide(events, at_risk, out=np.zeros_like(events), where=at_risk > 0)
        curves = left * np.cumprod(1 - falling, 1)
        left = curves[:, -1:]
        for step, values in zip(some, curves.T, strict=True):
            alike = np.ptp(values) <= SAME
            resampled = percentile_interval(values, step.survival)
            limits.append(score_limits(step.survival, len(lives)) if alike else resampled)
    low, high = (np.array(each) for each in zip(*limits, strict=True))
    low, high = np.maximum.accumulate(low[::-1])[::-1], np.minimum.accumulate(high)
    return tuple(
        msgspec.structs.replace(step, low=float(low[i]), high=float(high[i]))
        for i, step in enumerate(steps)
    )


def median(steps: Sequence[SurvivalStep]) -> MedianTime:
    """The median lifetime, with the interval of Brookmeyer and Crowley (1982, Biometrics 38)."""
    if not steps:
        raise InputError("A curve without steps has no median.")
    return MedianTime(
        time=next((step.time for step in steps if step.survival <= HALF), None),
        low=next((step.time for step in steps if step.low <= HALF), None),
        high=next((step.time for step in steps if step.high <= HALF), None),
    )


def log_rank(groups: Mapping[str, Mapping[int, Lifetimes]]) -> LogRank:
    """Whether two or more groups have one survival curve. Shape: {group: {seed: lifetimes}}.

    All groups have all seeds, and as many lifetimes with each. The scores are those of the log-rank
    test (Mantel 1966, Cancer Chemotherapy Reports 50): events observed less those expected if all
    were one. They are held against shuffles of the groups within seeds, so that lifetimes of one
    seed may hang together; its chi-square would take them for independent. Where nothing was there
    to tell, p is 1.
    """
    import numpy as np

    if len(groups) < 2:
        raise InputError("A comparison of lifetimes wants two groups at least.")
    seeds = sorted(next(iter(groups.values())))
    for name, given in groups.items():
        if sorted(given) != seeds:
            raise InputError(f"{name} was not run with the seeds of the others: run those.")
    lives = [[_lifetimes(*given[seed]) for given in groups.values()] for seed in seeds]
    observed = np.array([[fell.sum() for _, fell in row] for row in lives], dtype=np.float64)
    hazard = _hazard([life for row in lives for life in row])
    expected = np.array([[hazard(seen).sum() for seen, _ in row] for row in lives])
    apart = observed - expected
    told = np.abs(apart.sum(0)).max() > SAME
    return LogRank(
        p=shuffled_p(apart, lambda sums: (sums**2).sum(-1)) if told else 1.0,
        observed=dict(zip(groups, observed.sum(0).astype(int).tolist(), strict=True)),
        expected=dict(zip(groups, expected.sum(0).tolist(), strict=True)),
    )


def _lifetimes(
    times: Sequence[float], observed: Sequence[bool]
) -> tuple[Numbers, NDArray[np.bool_]]:
    import numpy as np

    if not len(times):
        raise InputError("There is no lifetime to count: run the experiment with some seeds.")
    if len(times) != len(observed):
        raise InputError(
            f"{len(times)} times and {len(observed)} marks of whether the event was observed: "
            "give one for each."
        )
    for time in times:
        if not (math.isfinite(time) and time >= 0):
            raise InputError(f"A lifetime is a finite number from 0 on, and {time} is none.")
    return np.array(times, dtype=np.float64), np.array(observed, dtype=np.bool_)


def _at(times: Numbers, seen: Numbers, fell: NDArray[np.bool_]) -> tuple[Numbers, Numbers]:
    """How many were at risk just before each of these times, and how many events fell at it."""
    import numpy as np

    every, events = np.sort(seen), np.sort(seen[fell])
    at_risk = len(every) - np.searchsorted(every, times, "left")
    fallen = np.searchsorted(events, times, "right") - np.searchsorted(events, times, "left")
    return at_risk.astype(np.float64), fallen.astype(np.float64)


def _hazard(lives: Sequence[tuple[Numbers, NDArray[np.bool_]]]) -> Callable[[Numbers], Numbers]:
    """The cumulative hazard of all of these by time, by Nelson and Aalen."""
    import numpy as np

    seen, fell = (np.concatenate(each) for each in zip(*lives, strict=True))
    at = np.unique(seen[fell])
    at_risk, events = _at(at, seen, fell)
    risen = np.concatenate([[0.0], np.cumsum(events / at_risk)])
    return lambda times: risen[np.searchsorted(at, times, "right")]
