"""Statistics of rates: with intervals, differences of paired arms, sizes of effects.

An experiment runs several arms over the same seeds (common random numbers), so a seed is a pair and
a run is a cluster: its decisions are not independent. What is bootstrapped here is bootstrapped
over whole runs. A count is `(successes, trials)`; counts of one arm are given by seed. Where two
arms are compared, A is what is compared with and B what is compared: differences are B - A, ratios
B / A. The same counts give the same numbers, in whatever order they come; intervals are of 95 %.
NaN, negative counts and empty data are an InputError.

Knows nothing of scenarios, tasks or reports; times to an event and doses are the lab's (lab/stats).
Covers no covariates and no Bayesian answers. A bootstrap over few runs is too
sure of itself: have thirty.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from loopforge.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers: TypeAlias = NDArray[np.float64]

Count: TypeAlias = tuple[int, int]
"""(successes, trials)"""
CONFIDENCE, POWER = 0.95, 0.8
Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
SEED, RESAMPLES = 0, 2000
"""Whatever is random is drawn anew from the same seed, so the same counts give the same numbers."""
FLIPS, EXACT, SWAPPED = 100_000, 16, 1 << 20
"""How many swaps of the arms are drawn (19 of 20 p-values near 0.05 are off by less than 0.0014),
the seeds up to which all 2^seeds are gone through instead, and the choices held at once."""
SHUFFLES, AT_ONCE = 10_000, 100
"""How many shuffles of several arms within seeds are drawn, and at once."""
SAME = 1e-12
"""What is nearer together than this differs by rounding alone."""


class Interval(Struct, frozen=True):
    """An estimate with its limits: low <= estimate <= high.

    `n` is how many independent units it rests on: trials, or runs where runs are resampled.
    """

    estimate: float
    low: float
    high: float
    n: int


class ClusterRate(Struct, frozen=True):
    """A rate over runs. `icc` is how alike the decisions of one run are: None if nothing varies."""

    rate: Interval
    trials: int
    icc: float | None


class PairedDifference(Struct, frozen=True):
    """B - A over paired runs, with a two-sided p-value of there being none. `a`, `b`: the arms."""

    interval: Interval
    p: float
    a: float
    b: float


def wilson(successes: int, trials: int) -> Interval:
    """A rate with Wilson's score interval, for independent trials.

    Source: Wilson 1927; Newcombe 1998, Statistics in Medicine 17, method 3.
    """
    check_counts(successes, trials)
    if not trials:
        raise InputError("There is no rate of no trials: leave it out, or run some.")
    rate = successes / trials
    return Interval(rate, *score_limits(rate, trials), trials)


def rule_of_three(trials: int) -> float:
    """The upper bound of a rate of which no event was seen in so many independent trials.

    Exact, 1 - 0.05^(1/trials), of which 3/trials is the well-known rule at 95 %.
    Source: Hanley and Lippman-Hand 1983, JAMA 249.
    """
    check_counts(0, trials)
    if not trials:
        raise InputError("No trials bound nothing: run some.")
    return -math.expm1(math.log1p(-CONFIDENCE) / trials)


def cluster_rate(by_seed: Mapping[int, Count]) -> ClusterRate:
    """The rate over all runs, with a percentile interval of the bootstrap over runs, and the ICC.

    Where the runs do not differ in their rates (no event at all; one run) resampling them says
    nothing: then it is Wilson's interval with each run as one trial, which is cautious.
    Source: Davison and Hinkley 1997, section 3.8. The ICC is the analysis-of-variance estimator
    (Ridout, Demetrio and Firth 1999, Biometrics 55); below 0 runs are more alike than chance.
    """
    import numpy as np

    table = _table(by_seed, 2)
    rates = _ratios(_resampled(table))
    successes, trials = table.sum(0)
    rate = float(successes / trials)
    limits = score_limits(rate, len(table))
    if np.ptp(rates) > SAME:
        limits = percentile_interval(rates, rate)
    return ClusterRate(Interval(rate, *limits, len(table)), int(trials), _icc(table))


def paired_difference(pairs_by_seed: Mapping[int, tuple[Count, Count]]) -> PairedDifference:
    """The rate of arm B less that of arm A, where both ran with each seed.

    Shape: {seed: ((successes, trials) of A, (successes, trials) of B)}. The interval is the
    percentile interval of the bootstrap over seeds (Davison and Hinkley 1997); where all seeds say
    the same it is Newcombe's hybrid score interval (1998, method 10) with each run as one trial,
    which is cautious. The p-value is of the test that swaps the arms within seeds, with all swaps
    up to sixteen seeds and 100,000 above (Good 2005; Phipson and Smyth 2010).
    """
    import numpy as np

    table = _table({key: (*a, *b) for key, (a, b) in pairs_by_seed.items()}, 4)
    drawn = _resampled(table)
    differences = _ratios(drawn[:, 2:]) - _ratios(drawn[:, :2])
    a, b = (float(rate) for rate in _ratios(table.sum(0).reshape(2, 2)))
    limits = _newcombe(a, b, len(table))
    if np.ptp(differences) > SAME:
        limits = percentile_interval(differences, b - a)
    return PairedDifference(Interval(b - a, *limits, len(table)), _swapped(table), a, b)


def paired_means(pairs_by_seed: Mapping[int, tuple[float, float]]) -> PairedDifference:
    """The mean of arm B less that of arm A, from one value of each for each of two or more seeds.

    Method as in `paired_difference`; if B - A is the same for all seeds, the limits meet.
    """
    import numpy as np

    if len(pairs_by_seed) < 2:
        raise InputError("A difference of means wants two seeds at least: run more.")
    rows = [(a, 1, b, 1) for _, (a, b) in sorted(pairs_by_seed.items())]
    table = np.array(rows, dtype=np.float64)
    if not np.isfinite(table).all():
        raise InputError("A value to compare is not a finite number: leave its seed out.")
    drawn = _resampled(table)
    differences = (drawn[:, 2] - drawn[:, 0]) / len(table)
    a, b = float(table[:, 0].mean()), float(table[:, 2].mean())
    interval = Interval(b - a, *percentile_interval(differences, b - a), len(table))
    return PairedDifference(interval, _swapped(table), a, b)


def mean_value(values: Sequence[float]) -> Interval:
    """The mean of independent values, with the percentile interval of the bootstrap over them.

    Where all are the same, resampling says nothing: then the limits meet.
    """
    import numpy as np

    if not values or not all(map(math.isfinite, values)):
        raise InputError("A mean wants values, all of them finite numbers.")
    found = np.array(sorted(values), dtype=np.float64)
    mean = float(found.mean())
    means = bootstrap_counts(len(found)) @ found / len(found)
    return Interval(mean, *percentile_interval(means, mean), len(found))


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """p-values adjusted for how many there are, by Holm's step-down method; in the order given.

    Source: Holm 1979, Scandinavian Journal of Statistics 6.
    """
    if bad := [name for name, p in p_values.items() if not 0 <= p <= 1]:
        raise InputError(f"The p-value of {bad[0]} is {p_values[bad[0]]}; it must lie in 0 to 1.")
    adjusted, floor = {}, 0.0
    for rank, name in enumerate(sorted(p_values, key=lambda name: p_values[name])):
        floor = adjusted[name] = max(floor, min(1.0, p_values[name] * (len(p_values) - rank)))
    return {name: adjusted[name] for name in p_values}


def cohen_h(a: Count, b: Count) -> float:
    """How far rate B is from rate A (0.2 small, 0.8 large): Cohen 1988, chapter 6."""
    rates = [wilson(*count).estimate for count in (a, b)]
    return _angle(rates[1]) - _angle(rates[0])


def minimal_detectable(n: int, base: float) -> float | None:
    """The least rise from a rate of `base` that two arms of `n` independent trials detect, if any.

    Four times of five, by the arcsine approximation of Cohen 1988, chapter 6. Trials of one run are
    not independent: divide their number by 1 + (trials in a run - 1) * ICC first. Pairing over
    seeds does better.
    """
    check_counts(0, n)
    if not n:
        raise InputError("No trials detect nothing: run some.")
    if not 0 <= base <= 1:
        raise InputError(f"A base rate lies in 0 to 1, not at {base}.")
    h = (Z + NormalDist().inv_cdf(POWER)) * math.sqrt(2 / n)
    high = _angle(base) + h
    return math.sin(high / 2) ** 2 - base if high <= math.pi else None


def shuffled_p(table: Numbers, score: Callable[[Numbers], Numbers]) -> float:
    """The share of shuffles of the arms within seeds that score as far out as what was seen.

    `table` has a row for each seed and a column for each arm; `score` makes one number of the sums
    over seeds, which have the arms last. Source: Good 2005; Phipson and Smyth 2010.
    """
    import numpy as np

    seen = float(score(table.sum(0)))
    dice = np.random.default_rng(SEED)
    extreme = 0
    for _ in range(SHUFFLES // AT_ONCE):
        shuffled = dice.permuted(np.repeat(table[None], AT_ONCE, 0), axis=2)
        # A billionth, so that sums in another order still count as equal.
        extreme += int((score(shuffled.sum(1)) >= seen * (1 - 1e-9)).sum())
    return (1 + extreme) / (1 + SHUFFLES)


def check_counts(successes: int, trials: int) -> None:
    """Raise InputError unless these are whole numbers with 0 <= successes <= trials."""
    for number in (successes, trials):
        if not math.isfinite(number) or number != int(number):
            raise InputError(f"A count is a whole number, and {number} is none.")
    if not 0 <= successes <= trials:
        raise InputError(f"There cannot be {successes} successes in {trials} trials.")


def bootstrap_counts(runs: int, resamples: int = RESAMPLES) -> Numbers:
    """How often each run is drawn, with replacement: resamples x runs."""
    import numpy as np

    drawn = np.random.default_rng(SEED).multinomial(runs, [1 / runs] * runs, size=resamples)
    return drawn.astype(np.float64)


def percentile_interval(values: Numbers, estimate: float) -> tuple[float, float]:
    """The percentile interval, widened to hold the estimate should skewed resamples not do so."""
    import numpy as np

    low, high = np.quantile(values, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return min(float(low), estimate), max(float(high), estimate)


def score_limits(rate: float, n: int) -> tuple[float, float]:
    """Wilson's limits of a rate in n trials, which need not have been counted as such."""
    spread = Z * math.sqrt(rate * (1 - rate) / n + Z * Z / (4 * n * n))
    centre, scale = rate + Z * Z / (2 * n), 1 + Z * Z / n
    low, high = (centre - spread) / scale, (centre + spread) / scale
    return min(rate, max(0.0, low)), max(rate, min(1.0, high))


def _newcombe(a: float, b: float, n: int) -> tuple[float, float]:
    (a_low, a_high), (b_low, b_high) = score_limits(a, n), score_limits(b, n)
    return b - a - math.hypot(b - b_low, a_high - a), b - a + math.hypot(b_high - b, a - a_low)


def _angle(rate: float) -> float:
    return 2 * math.asin(math.sqrt(rate))


def _table(by_seed: Mapping[int, Sequence[int]], width: int) -> Numbers:
    """The counts by seed, a row for each that has trials; each two columns (successes, trials)."""
    import numpy as np

    if not by_seed:
        raise InputError("There is no run to count: run the experiment with some seeds.")
    for row in by_seed.values():
        for at in range(0, width, 2):
            check_counts(row[at], row[at + 1])
    table = np.array([by_seed[key] for key in sorted(by_seed)], dtype=np.float64)
    if not table[:, 1::2].sum(0).all():
        raise InputError("There is no rate of no trials: leave the arm out, or run some.")
    return table[table[:, 1::2].any(1)]


def _resampled(table: Numbers) -> Numbers:
    """The sums of resampled runs; without those in which an arm has no trial."""
    sums: Numbers = bootstrap_counts(len(table)) @ table
    return sums[(sums[:, 1::2] > 0).all(1)]


def _ratios(sums: Numbers) -> Numbers:
    return sums[:, 0] / sums[:, 1]


def _swapped(table: Numbers) -> float:
    """The share of swaps of the arms within seeds that set them as far apart as they are."""
    import numpy as np

    sa, na, sb, nb = table.sum(0)
    seen = abs(sb / nb - sa / na)
    extreme = of = 0
    for swaps in _swaps(len(table)):
        moved = swaps.astype(np.float64) @ (table[:, 2:] - table[:, :2])
        a, b = table[:, :2].sum(0) + moved, table[:, 2:].sum(0) - moved
        told = (a[:, 1] > 0) & (b[:, 1] > 0)
        distances = np.abs(_ratios(b[told]) - _ratios(a[told]))
        # A billionth, so that sums in another order still count as equal.
        extreme += int((distances >= seen * (1 - 1e-9)).sum())
        of += len(distances)
    return extreme / of if len(table) <= EXACT else (1 + extreme) / (1 + of)


def _swaps(runs: int) -> Iterator[NDArray[np.integer]]:
    """Which runs have their arms swapped, some swaps at a time: all there are, or `FLIPS`."""
    import numpy as np

    rows = max(1, SWAPPED // runs)
    if runs <= EXACT:
        for start in range(0, 2**runs, rows):
            yield np.arange(start, min(start + rows, 2**runs))[:, None] >> np.arange(runs) & 1
        return
    dice = np.random.default_rng(SEED)
    for start in range(0, FLIPS, rows):
        yield dice.integers(0, 2, (min(rows, FLIPS - start), runs))


def _icc(table: Numbers) -> float | None:
    """The intraclass correlation of yes and no within runs, or None where it has no value."""
    successes, trials = table[:, 0], table[:, 1]
    runs, total = len(table), float(trials.sum())
    if runs == 1 or total == runs:
        return None
    rates, rate = successes / trials, float(successes.sum()) / total
    between = float((trials * (rates - rate) ** 2).sum()) / (runs - 1)
    within = float((trials * rates * (1 - rates)).sum()) / (total - runs)
    size = (total - float((trials**2).sum()) / total) / (runs - 1)
    scale = between + (size - 1) * within
    return (between - within) / scale if scale > 0 else None
