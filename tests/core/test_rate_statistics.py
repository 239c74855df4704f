"""Rates, differences and effects, against published tables and what can be worked out by hand."""

import math
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopforge.core.statistics.rate_statistics import (
    Count,
    Interval,
    cluster_rate,
    cohen_h,
    holm,
    mean_value,
    minimal_detectable,
    paired_difference,
    paired_means,
    rule_of_three,
    wilson,
)
from loopforge.errors import InputError
from tests.examples import few

T = TypeVar("T")
counts = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
runs = st.dictionaries(st.integers(0, 99), counts, min_size=1, max_size=20)
pairs = st.dictionaries(st.integers(0, 99), st.tuples(counts, counts), min_size=1, max_size=20)


def turned(given: dict[int, T]) -> dict[int, T]:
    """The same runs, put down in another order."""
    return {key: given[key] for key in sorted(given, reverse=True)}


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_is_newcombes_table(successes: int, trials: int, low: float, high: float) -> None:
    """The four examples of Newcombe 1998, table I, method 3."""
    found = wilson(successes, trials)
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)
    assert found.estimate == successes / trials
    assert found.n == trials


def test_wilsons_limits_are_where_the_score_test_turns() -> None:
    """At each limit the estimate lies exactly 1.96 standard errors of that limit away."""
    found = wilson(7, 40)
    for limit in (found.low, found.high):
        error = math.sqrt(limit * (1 - limit) / 40)
        assert abs(found.estimate - limit) == pytest.approx(1.959964 * error)


@given(counts)
def test_wilson_holds_its_estimate(count: Count) -> None:
    """0 <= low <= estimate <= high <= 1; and failures mirror successes."""
    found = wilson(*count)
    assert 0 <= found.low <= found.estimate <= found.high <= 1
    mirror = wilson(count[1] - count[0], count[1])
    assert mirror.low == pytest.approx(1 - found.high, abs=1e-12)


def test_the_rule_of_three() -> None:
    """Of n trials without an event: the rate at which that would still happen once in twenty."""
    for n in (1, 20, 300):
        assert (1 - rule_of_three(n)) ** n == pytest.approx(0.05)
    assert rule_of_three(300) == pytest.approx(3 / 300, rel=0.01)


def test_the_rate_over_runs_is_of_all_trials() -> None:
    """A long run weighs more than a short one, and the interval rests on the runs."""
    found = cluster_rate({1: (9, 10), 2: (0, 90)})
    assert found.rate.estimate == 0.09
    assert (found.rate.n, found.trials) == (2, 100)


def test_runs_of_one_trial_are_the_plain_bootstrap() -> None:
    """With 400 runs of one trial the interval is 1.96 standard errors of a rate to each side."""
    found = cluster_rate({i: (int(i % 4 == 0), 1) for i in range(400)}).rate
    error = math.sqrt(0.25 * 0.75 / 400)
    assert found.low == pytest.approx(0.25 - 1.96 * error, abs=0.006)
    assert found.high == pytest.approx(0.25 + 1.96 * error, abs=0.006)


def test_what_is_alike_within_runs_counts_less() -> None:
    """200 decisions of 20 all-or-nothing runs are as uncertain as 20 decisions, and ICC is 1."""
    alike = cluster_rate({i: (10 * (i % 2), 10) for i in range(20)})
    mixed = cluster_rate({i: (5 + (i % 2) - (i // 2 % 2), 10) for i in range(20)})
    lone = wilson(10, 20)
    assert alike.icc == pytest.approx(1)
    assert alike.rate.high - alike.rate.low == pytest.approx(lone.high - lone.low, abs=0.07)
    assert mixed.rate.high - mixed.rate.low < (alike.rate.high - alike.rate.low) / 4


def test_the_icc_by_hand() -> None:
    """Like runs give -1/(size - 1); 3 of 4 beside 1 of 4 give 1/5."""
    assert cluster_rate(dict.fromkeys(range(6), (2, 4))).icc == pytest.approx(-1 / 3)
    # Between: 4 (1/16 + 1/16) / 1 = 1/2. Within: 4 (3/16 + 3/16) / 6 = 1/4.
    assert cluster_rate({1: (3, 4), 2: (1, 4)}).icc == pytest.approx(
        (1 / 2 - 1 / 4) / (1 / 2 + 3 / 4)
    )
    assert cluster_rate({1: (0, 4), 2: (0, 4)}).icc is None
    assert cluster_rate({1: (0, 1), 2: (1, 1)}).icc is None


def test_no_event_is_no_certainty() -> None:
    """Where runs cannot differ, each run counts as one trial; one run says next to nothing."""
    silent = cluster_rate(dict.fromkeys(range(30), (0, 10))).rate
    assert (silent.low, silent.high) == (0, wilson(0, 30).high)
    lone = cluster_rate({1: (5, 10)}).rate
    assert lone.high - lone.low > 0.85


@settings(max_examples=few(30))
@given(runs)
def test_rates_over_runs_keep_their_order(by_seed: dict[int, Count]) -> None:
    """0 <= low <= estimate <= high <= 1; again and in another order it is the same, ICC included."""
    found = cluster_rate(by_seed)
    assert 0 <= found.rate.low <= found.rate.estimate <= found.rate.high <= 1
    assert found.icc is None or found.icc <= 1 + 1e-12
    assert cluster_rate(turned(by_seed)) == found


def test_a_paired_difference_by_hand() -> None:
    """B - A of the pooled rates; seven seeds that all go one way: 2 of 2^7 swaps are as far."""
    found = paired_difference({i: ((1, 10), (3 + i % 2, 10)) for i in range(7)})
    assert (found.a, found.b) == (0.1, 24 / 70)
    assert found.interval.estimate == found.b - found.a
    assert found.p == 2 / 2**7
    assert 0.2 <= found.interval.low < found.interval.high <= 0.3
    assert found.interval.n == 7


def test_pairs_take_out_what_their_seed_brings() -> None:
    """Where seeds differ much and arms little, pairing tells what the arms alone would not."""
    hard = {i: ((i, 40), (i + 1 + i % 2, 40)) for i in range(30)}
    found = paired_difference(hard)
    assert found.interval.low > 0.02
    assert found.p < 0.001
    alone = cluster_rate({i: b for i, (_, b) in hard.items()}).rate
    assert alone.low < found.a < alone.high


def test_swaps_beyond_sixteen_seeds_are_sampled() -> None:
    """Thirty seeds one way: fewer than one in 100,000 swaps; the p-value is never 0."""
    found = paired_difference(dict.fromkeys(range(30), ((1, 10), (3, 10))))
    assert found.p == pytest.approx(1 / 100_001)


def test_a_sampled_p_value_is_near_the_one_of_all_swaps() -> None:
    """Twenty seeds that differ by one each, fifteen one way: of all swaps 0.0414 are as far."""
    as_far = 2 * sum(math.comb(20, n) for n in range(6)) / 2**20
    found = paired_means({i: (0.0, 1.0 if i < 15 else -1.0) for i in range(20)})
    assert found.p == pytest.approx(as_far, abs=0.0015)


def test_arms_without_events_do_not_differ_but_might() -> None:
    """No event in either arm: p is 1, and the interval is Newcombe's with one trial for each run."""
    found = paired_difference(dict.fromkeys(range(20), ((0, 10), (0, 10))))
    bound = wilson(0, 20).high
    assert (found.interval.low, found.interval.estimate, found.interval.high) == (-bound, 0, bound)
    assert found.p == 1


@pytest.mark.parametrize(
    ("a", "b", "low", "high"),
    [(3, 9, 0.1705, 0.8090), (0, 0, -0.2775, 0.2775), (0, 10, 0.6075, 1.0)],
)
def test_newcombes_difference(a: int, b: int, low: float, high: float) -> None:
    """Ten runs that all say one thing are ten trials: Newcombe 1998, table II, b, g and h."""
    found = paired_difference(dict.fromkeys(range(10), ((a, 10), (b, 10)))).interval
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


@settings(max_examples=few(30))
@given(pairs)
def test_differences_keep_their_order(by_seed: dict[int, tuple[Count, Count]]) -> None:
    """-1 <= low <= estimate <= high <= 1 and 0 < p <= 1; order is nothing; swapped, it mirrors."""
    found = paired_difference(by_seed)
    assert -1 <= found.interval.low <= found.interval.estimate <= found.interval.high <= 1
    assert 0 < found.p <= 1
    assert paired_difference(turned(by_seed)) == found
    mirror = paired_difference({key: (b, a) for key, (a, b) in by_seed.items()})
    assert mirror.interval.estimate == -found.interval.estimate
    assert mirror.interval.low == pytest.approx(-found.interval.high, abs=1e-9)


def test_paired_means_by_hand() -> None:
    """Darwin's maize (Fisher 1935): 15 pairs, mean 20.93 eighths; 1,726 of 2^15 swaps are as far."""
    darwin = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    found = paired_means({i: (0.0, float(d)) for i, d in enumerate(darwin)})
    assert found.interval.estimate == pytest.approx(20.933, abs=0.001)
    assert found.p == 1726 / 2**15
    assert 0 < found.interval.low < 6
    assert 35 < found.interval.high < 42


def test_holms_example() -> None:
    """Four hypotheses at 0.01, 0.04, 0.03, 0.005: times 4, 3, 2, 1 in order, never falling."""
    found = holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005})
    assert list(found) == ["a", "b", "c", "d"]
    assert found == pytest.approx({"a": 0.03, "b": 0.06, "c": 0.06, "d": 0.02})


@given(st.dictionaries(st.text(max_size=3), st.floats(0, 1), max_size=8))
def test_holm_between_nothing_and_bonferroni(p_values: dict[str, float]) -> None:
    """Adjusted is at least as much as before, at most Bonferroni's, and keeps the order."""
    found = holm(p_values)
    for name, p in p_values.items():
        assert p <= found[name] <= min(1, p * len(p_values))
        assert all(found[other] >= found[name] for other in p_values if p_values[other] >= p)


def test_the_distance_of_two_rates() -> None:
    """Cohen's h of nothing against all, of two equal rates, and of a quarter against three."""
    assert cohen_h((0, 4), (4, 4)) == pytest.approx(math.pi)
    assert cohen_h((1, 4), (2, 8)) == 0
    assert cohen_h((1, 4), (3, 4)) == pytest.approx(math.pi / 3)


@pytest.mark.parametrize(("n", "h"), [(392, 0.2), (63, 0.5), (25, 0.8)])
def test_what_can_be_detected(n: int, h: float) -> None:
    """Cohen 1988, table 6.4.1: 392, 63 and 25 in each arm detect h = 0.2, 0.5 and 0.8 at 80 %."""
    up = minimal_detectable(n, 0.3)
    assert up is not None
    detected = 2 * (math.asin(math.sqrt(0.3 + up)) - math.asin(math.sqrt(0.3)))
    assert detected == pytest.approx(h, abs=0.01)
    assert minimal_detectable(2, 0.5) is None


changes = st.lists(st.tuples(st.sampled_from("abc"), st.floats(-10, 10)), min_size=1, max_size=30)


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: wilson(-1, 5), "-1 successes"),
        (lambda: wilson(6, 5), "6 successes"),
        (lambda: wilson(0, 0), "no trials"),
        (lambda: wilson(math.nan, 5), "whole number"),  # type: ignore[arg-type]
        (lambda: wilson(1, math.inf), "whole number"),  # type: ignore[arg-type]
        (lambda: rule_of_three(0), "No trials"),
        (lambda: cluster_rate({}), "no run"),
        (lambda: cluster_rate({1: (0, 0)}), "no trials"),
        (lambda: paired_difference({}), "no run"),
        (lambda: paired_difference({1: ((0, 0), (1, 2)), 2: ((0, 0), (1, 2))}), "no trials"),
        (lambda: paired_difference({1: ((3, 2), (1, 2))}), "3 successes"),
        (lambda: paired_means({1: (1.0, 2.0)}), "two seeds"),
        (lambda: paired_means({1: (1.0, 2.0), 2: (math.nan, 1.0)}), "finite"),
        (lambda: holm({"a": math.nan}), "p-value of a"),
        (lambda: holm({"a": 1.2}), "p-value of a"),
        (lambda: cohen_h((1, 0), (1, 2)), "1 successes in 0"),
        (lambda: minimal_detectable(0, 0.1), "No trials"),
        (lambda: minimal_detectable(9, math.nan), "base rate"),
    ],
)
def test_bad_input_is_told(call: object, word: str) -> None:
    """What cannot be counted is an InputError that says what is wrong."""
    assert callable(call)
    with pytest.raises(InputError, match=word):
        call()


def test_a_run_without_trials_is_none_of_many() -> None:
    """A seed in which an arm had nothing to decide may stand among others."""
    found = paired_difference({1: ((0, 0), (1, 4)), 2: ((1, 4), (2, 4)), 3: ((1, 4), (2, 4))})
    assert found.a == 0.25
    assert isinstance(found.interval, Interval)
    assert 0 < found.p <= 1
    rate = cluster_rate({1: (0, 0), 2: (1, 4), 3: (3, 4)})
    assert rate == cluster_rate({2: (1, 4), 3: (3, 4)})
    assert rate.rate.n == 2


def test_a_mean_has_its_interval() -> None:
    """It holds the mean, is narrower for more values, and meets it where all are the same."""
    few, many = mean_value([10, 20, 30, 40]), mean_value([10, 20, 30, 40] * 25)
    assert few.estimate == many.estimate == 25
    assert few.low < many.low < 25 < many.high < few.high
    assert mean_value([7, 7, 7]) == Interval(7, 7, 7, 3)
    for wrong in ([], [1, math.nan]):
        with pytest.raises(InputError):
            mean_value(wrong)
