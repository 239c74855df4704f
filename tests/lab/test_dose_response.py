"""Doses and tipping points, against curves that are known because they were drawn from."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from loopforge.core.statistics.rate_statistics import Count, bootstrap_counts, cluster_rate
from loopforge.errors import InputError
from loopforge.lab.stats.dose_response import DoseResponse, dose_response
from tests.examples import few

Numbers = NDArray[np.float64]
Counts = dict[float, dict[int, Count]]
LEVELS = range(11)


def drawn(rate: Callable[[float], float], seeds: int = 30, trials: int = 10) -> Counts:
    """What `trials` decisions of each of `seeds` runs come to at doses 0 to 10."""
    dice = np.random.default_rng(7)
    return {
        float(dose): {i: (int(dice.binomial(trials, rate(dose))), trials) for i in range(seeds)}
        for dose in LEVELS
    }


def rising(dose: float) -> float:
    """From 5 % to 65 %, half way at 6."""
    return 0.05 + 0.6 / (1 + math.exp(-1.5 * (dose - 6)))


def curve(found: DoseResponse) -> tuple[float, float, float, float]:
    """The four numbers of the fit."""
    assert found.curve is not None
    return found.curve.start, found.curve.end, found.curve.slope, found.curve.middle


def test_rates_have_intervals_over_seeds() -> None:
    """For each dose in order: all successes of all trials, with the interval of resampled seeds."""
    given = drawn(rising, seeds=3)
    found = dose_response({dose: given[dose] for dose in sorted(given, reverse=True)})
    assert list(found.rates) == list(LEVELS)
    for dose, rate in found.rates.items():
        assert rate == cluster_rate(given[dose]).rate


def test_counts_that_lie_on_a_curve_give_that_curve() -> None:
    """Shares of 10^9 trials of a logistic curve itself: the fit has its four numbers."""
    trials = 10**9
    found = dose_response(
        {float(d): dict.fromkeys((1, 2), (round(trials * rising(d)), trials)) for d in LEVELS}
    )
    assert curve(found) == pytest.approx((0.05, 0.65, 1.5, 6), rel=1e-3)
    assert found.curve is not None
    assert found.curve.at(4) == pytest.approx(rising(4), rel=1e-4)
    assert found.tipping is not None
    middle = (rising(0) + rising(10)) / 2
    assert rising(found.tipping.estimate) == pytest.approx(middle, rel=1e-3)


def unlikely(fit: Numbers, successes: Numbers, trials: Numbers) -> float:
    """Minus the log likelihood of a curve at doses 0 to 10, written out once more."""
    start, end, slope, middle = fit
    rate = start + (end - start) / (1 + np.exp(-slope * (np.arange(11) - middle)))
    rate = np.clip(rate, 1e-9, 1 - 1e-9)
    return -float((successes * np.log(rate) + (trials - successes) * np.log1p(-rate)).sum())


def likeliest(successes: Numbers, trials: Numbers, start: Sequence[float]) -> Numbers:
    """The fit that scipy's simplex comes to from `start`, within the same bounds."""
    from scipy.optimize import Bounds, minimize

    least, most = np.array([0, 0, 0.1, 0]), np.array([1, 1, 10, 10])

    def cost(fit: Numbers, /) -> float:
        return unlikely(fit, successes, trials)

    found: Numbers = minimize(
        cost,
        np.clip(np.array(start), least, most),
        method="Nelder-Mead",
        bounds=Bounds(least, most),
        options={"maxiter": 4000, "xatol": 1e-8, "fatol": 1e-10},
    ).x
    return found


@pytest.mark.parametrize(
    "rate",
    [rising, lambda d: 0.1 + 0.5 * math.exp(-((d - 5) ** 2) / 4), lambda _: 0.3, lambda d: d > 3],
    ids=["rising", "humped", "flat", "step"],
)
def test_the_fit_is_the_likeliest(rate: Callable[[float], float]) -> None:
    """scipy's simplex, from twelve sides, finds no likelier curve, even where there are two peaks."""
    given = drawn(rate)
    successes = np.array([sum(s for s, _ in given[d].values()) for d in given], dtype=np.float64)
    trials = np.full(11, 300.0)
    sides = [(a, 0.7 - a, k, m) for a in (0.1, 0.5) for k in (1, 5) for m in (2, 5.5, 8)]
    others = [unlikely(likeliest(successes, trials, at), successes, trials) for at in sides]
    found = np.array(curve(dose_response(given)))
    assert unlikely(found, successes, trials) <= min(others) + 1e-4


@pytest.mark.parametrize("rate", [rising, lambda d: 1 - 0.05 * d], ids=["rising", "falling"])
def test_the_interval_is_of_the_likeliest_refits(rate: Callable[[float], float]) -> None:
    """Resample by resample, scipy's simplex comes to the same tipping points."""
    given = drawn(rate)
    found = dose_response(given, resamples=100)
    counts = np.array([[given[d][i] for d in given] for i in range(30)], dtype=np.float64)
    tips = []
    for weights in bootstrap_counts(30, 100):
        refit = likeliest(weights @ counts[:, :, 0], weights @ counts[:, :, 1], curve(found))
        start, end, slope, middle = refit
        ends = [start + (end - start) / (1 + math.exp(-slope * (d - middle))) for d in (0, 10)]
        half = (sum(ends) / 2 - start) / (end - start)
        tips.append(middle + math.log(half / (1 - half)) / slope)
    assert found.tipping is not None
    limits = (found.tipping.low, found.tipping.high)
    assert limits == pytest.approx(tuple(np.quantile(tips, (0.025, 0.975))), abs=0.03)
    assert (found.why, found.tipping.n) == ("", 30)


def test_a_falling_curve_tips_at_the_same_dose() -> None:
    """Failures instead of successes: the curve stands on its head, and tips where it did."""
    given = drawn(rising)
    turned = {d: {i: (n - s, n) for i, (s, n) in by.items()} for d, by in given.items()}
    up, down = dose_response(given), dose_response(turned)
    assert up.tipping is not None
    assert down.tipping is not None
    assert down.tipping.estimate == pytest.approx(up.tipping.estimate, abs=1e-4)
    assert down.tipping.low == pytest.approx(up.tipping.low, abs=1e-4)
    start, end, slope, _ = curve(down)
    assert start > end
    assert slope > 0
    assert down.p == up.p


@pytest.mark.parametrize(
    ("doses", "gap"), [(LEVELS, (5, 6)), ((0, 1000, 1001, 2000), (1000, 1001))]
)
def test_a_step_is_told_to_within_the_gap_it_lies_in(
    doses: Sequence[int], gap: tuple[int, int]
) -> None:
    """Nothing up to 5 and all from 6: it tips between the two, and nobody knows where."""
    found = dose_response(
        {float(d): dict.fromkeys(range(9), (10 * (d > gap[0]), 10)) for d in doses}
    )
    assert found.tipping is not None
    assert found.tipping.estimate == pytest.approx(sum(gap) / 2, abs=0.01)
    assert (found.tipping.low, found.tipping.high) == gap


def test_a_straight_line_is_wide() -> None:
    """A rate that climbs evenly takes eight tenths of the doses from a tenth to nine tenths."""
    even = dose_response(drawn(lambda dose: 0.1 + 0.07 * dose, trials=200)).curve
    steep = dose_response(drawn(rising, trials=200)).curve
    assert even is not None
    assert steep is not None
    assert even.width == pytest.approx(8, abs=0.8)
    assert steep.width == pytest.approx(math.log(81) / 1.5, abs=0.4)


@pytest.mark.parametrize("rate", [0.0, 0.3, 1.0])
def test_a_flat_response_has_no_tipping_point(rate: float) -> None:
    """No trend, no tipping point, and the reason is said; the rates are there all the same."""
    found = dose_response(drawn(lambda _: rate))
    assert found.tipping is None
    assert "no trend" in found.why
    assert found.p > 0.05
    assert len(found.rates) == 11


def test_flat_responses_seldom_look_as_if_they_tipped() -> None:
    """Of 40 flat experiments, whose runs differ much, about one in twenty shows a trend."""
    dice = np.random.default_rng(3)
    tipped = 0
    for _ in range(40):
        runs = dice.beta(2, 4, 20)
        given = {
            float(d): {i: (int(dice.binomial(10, runs[i])), 10) for i in range(20)}
            for d in range(5)
        }
        tipped += dose_response(given, resamples=100).p < 0.05
    assert tipped <= 5


@pytest.mark.parametrize("way", [1, -1])
def test_doses_may_lie_far_apart(way: int) -> None:
    """1, 2, 5, 10 and 10,000: the step between the first two is found, however thin that gap is."""
    step = {i: (10 - i % 2, 10) for i in range(10)}
    given: Counts = {way * dose: step for dose in (2.0, 5.0, 10.0, 10_000.0)}
    found = dose_response({**given, way * 1.0: dict.fromkeys(range(10), (0, 10))})
    assert found.curve is not None
    assert found.curve.at(way * 1) == pytest.approx(0, abs=0.01)
    assert found.curve.at(way * 5) == pytest.approx(0.95, abs=0.01)


def test_more_trials_are_no_trend() -> None:
    """Runs that differ, and ever more trials with the dose, at a rate that stays: no trend."""
    found = dose_response(
        {float(d): {i: ((1 + i) * d, 10 * d) for i in range(8)} for d in range(1, 9)}
    )
    assert found.p == 1


def test_runs_that_disagree_have_no_tipping_point() -> None:
    """One run rises, another falls by less: a trend in these two, and none to count on."""
    up = [0, 5, 5, 300, 600, 900, 950, 980]
    down = [400, 400, 390, 300, 250, 210, 205, 200]
    given: Counts = {float(dose): {1: (up[dose], 1000), 2: (down[dose], 1000)} for dose in range(8)}
    found = dose_response(given)
    assert found.p < 0.05
    assert found.tipping is None
    assert "agree" in found.why


def test_seeds_without_trials_are_left_out_of_resamples() -> None:
    """Of three seeds two had nothing to decide: resamples of those alone say nothing, and harm none."""
    given: Counts = {float(dose): {1: (2 * dose, 20), 2: (0, 0), 3: (0, 0)} for dose in LEVELS}
    found = dose_response(given)
    assert found.p < 0.05
    assert found.tipping is not None


def test_few_doses_and_one_seed() -> None:
    """Three doses give no curve, one seed gives no tipping point; both say so and give the rates."""
    given = drawn(rising)
    three = dose_response({dose: given[dose] for dose in (0.0, 5.0, 10.0)})
    assert (three.curve, three.tipping) == (None, None)
    assert "4 doses" in three.why
    assert three.p < 0.001
    lone = dose_response(
        {dose: {1: (round(100 * rising(dose)), 100)} for dose in map(float, LEVELS)}
    )
    assert lone.tipping is None
    assert "one seed" in lone.why
    single = dose_response({2.0: {1: (1, 4)}})
    assert single.p == 1


cells = st.integers(0, 5).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@settings(max_examples=few(12))
@given(
    st.integers(4, 6).flatmap(
        lambda doses: st.lists(
            st.lists(cells, min_size=doses, max_size=doses), min_size=1, max_size=5
        )
    )
)
def test_any_counts_give_an_honest_answer(rows: list[list[Count]]) -> None:
    """Whatever was counted: rates within limits, a tipping point within the doses or a reason."""
    given = {
        float(dose): {i: row[dose] for i, row in enumerate([*rows, [(0, 1)] * len(rows[0])])}
        for dose in range(len(rows[0]))
    }
    found = dose_response(given, resamples=100)
    assert 0 < found.p <= 1
    assert (found.tipping is None) == bool(found.why)
    assert found.curve is not None
    assert all(0 <= found.curve.at(dose) <= 1 for dose in given)
    if found.tipping is not None:
        assert 0 <= found.tipping.low <= found.tipping.estimate <= found.tipping.high <= len(given)
    turned = {d: dict(reversed(given[d].items())) for d in sorted(given, reverse=True)}
    assert dose_response(turned, resamples=100) == found


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({}, "no dose"),
        ({math.nan: {1: (1, 2)}}, "finite"),
        ({1.0: {}}, "seeds"),
        ({1.0: {1: (1, 2)}, 2.0: {2: (1, 2)}}, "Dose 2 was not run"),
        ({1.0: {1: (3, 2)}}, "3 successes"),
        ({1.0: {1: (-1, 0)}}, "-1 successes"),
        ({1.0: {1: (0, 0)}}, "no trials"),
        ({1.0: {1: (math.nan, 2)}}, "whole number"),
    ],
)
def test_bad_doses_are_told(given: Counts, word: str) -> None:
    """What cannot be counted, or was not run alike, is an InputError that says what is wrong."""
    with pytest.raises(InputError, match=word):
        dose_response(given)
