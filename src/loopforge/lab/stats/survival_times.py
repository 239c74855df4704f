"""How long it takes: times to a first incident, a first refusal, a first switch of mode.

A lifetime is a time and whether its event was observed; if not, it is right-censored: the run ended
first. Times are in any one unit, steps mostly. Both methods take lifetimes to be independent, which
robots of one run are not: give one lifetime of each run, or say so beside the p-value.

Knows nothing of what the events were. Covers no competing risks, no covariates, and no ends of runs
that depend on what was coming.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct

from loopforge.core.statistics.rate_statistics import CONFIDENCE, SAME, wilson
from loopforge.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers: TypeAlias = NDArray[np.float64]
    Risks: TypeAlias = tuple[Numbers, Numbers, Numbers]

Lifetimes: TypeAlias = tuple[Sequence[float], Sequence[bool]]
"""(times, observed), of one length"""
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
    """Chi-square `statistic` with `freedom` degrees, its p-value, and events by group."""

    statistic: float
    freedom: int
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


def median(steps: Sequence[SurvivalStep]) -> MedianTime:
    """The median lifetime, with the interval of Brookmeyer and Crowley (1982, Biometrics 38)."""
    if not steps:
        raise InputError("A curve without steps has no median.")
    return MedianTime(
        time=next((step.time for step in steps if step.survival <= HALF), None),
        low=next((step.time for step in steps if step.low <= HALF), None),
        high=next((step.time for step in steps if step.high <= HALF), None),
    )


def log_rank(groups: Mapping[str, Lifetimes]) -> LogRank:
    """Whether two or more groups have one survival curve.

    The chi-square of all groups but one, with its covariances (Klein and Moeschberger 2003, section
    7.3); of two it is the square of scipy's logrank. A group of which no event could be expected
    does not count; where fewer than two are left the statistic is 0 with p = 1: nothing was there
    to tell. Source: Mantel 1966, Cancer Chemotherapy Reports 50.
    """
    import numpy as np
    from scipy.stats import chi2

    if len(groups) < 2:
        raise InputError("A comparison of lifetimes wants two groups at least.")
    lives = {name: _lifetimes(*given) for name, given in groups.items()}
    observed, expected, variance = _expected(list(lives.values()))
    counted = np.flatnonzero(np.diag(variance) > SAME)
    freedom = max(0, len(counted) - 1)
    statistic = 0.0
    if freedom:
        kept = counted[:-1]
        apart = (observed - expected)[kept]
        statistic = float(apart @ np.linalg.solve(variance[np.ix_(kept, kept)], apart))
    return LogRank(
        statistic=statistic,
        freedom=freedom,
        p=float(chi2.sf(statistic, freedom)) if freedom else 1.0,
        observed={name: int(count) for name, count in zip(lives, observed, strict=True)},
        expected={name: float(count) for name, count in zip(lives, expected, strict=True)},
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


def _expected(lives: Sequence[tuple[Numbers, NDArray[np.bool_]]]) -> Risks:
    """By group: events observed, events expected if all were one, and the covariances of these."""
    import numpy as np

    at = np.unique(np.concatenate([seen[fell] for seen, fell in lives]))
    at_risk, events = (
        np.array(rows) for rows in zip(*(_at(at, *life) for life in lives), strict=True)
    )
    everyone, fallen = at_risk.sum(0), events.sum(0)
    shares = at_risk / everyone
    # Of one who is alone at risk nothing varies; the other factor is 0 then.
    scale = fallen * (everyone - fallen) / np.maximum(everyone - 1, 1)
    variance = np.diag((shares * scale).sum(1)) - (shares * scale) @ shares.T
    return events.sum(1), (shares * fallen).sum(1), variance
