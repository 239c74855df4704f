"""Times to an event, against the leukaemia trial and a published comparison of three groups."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopforge.core.statistics.rate_statistics import wilson
from loopforge.errors import InputError
from loopforge.lab.stats.survival_times import (
    Lifetimes,
    MedianTime,
    kaplan_meier,
    limits_over_seeds,
    log_rank,
    median,
)
from tests.examples import few

# Freireich and others 1963, Blood 21: weeks in remission on 6-mercaptopurine and on placebo.
TREATED: Lifetimes = (
    [6, 6, 6, 7, 10, 13, 16, 22, 23, 6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35],
    [True] * 9 + [False] * 12,
)
PLACEBO: Lifetimes = (
    [1, 1, 2, 2, 3, 4, 4, 5, 5, 8, 8, 8, 8, 11, 11, 12, 12, 15, 17, 22, 23],
    [True] * 21,
)
lives = st.lists(st.tuples(st.integers(0, 12), st.booleans()), min_size=1, max_size=20)
Lives = list[tuple[int, bool]]


def apart(some: Lives) -> Lifetimes:
    """Times and marks, each in a list of its own."""
    return [time for time, _ in some], [fell for _, fell in some]


def test_the_leukaemia_trial() -> None:
    """The product-limit estimate of the treated as in Klein and Moeschberger 2003, table 4.1A."""
    steps = kaplan_meier(*TREATED)
    fallen = [(s.time, s.events, s.at_risk, round(s.survival, 3)) for s in steps if s.events]
    assert fallen == [
        (6, 3, 21, 0.857),
        (7, 1, 17, 0.807),
        (10, 1, 15, 0.753),
        (13, 1, 12, 0.690),
        (16, 1, 11, 0.627),
        (22, 1, 7, 0.538),
        (23, 1, 6, 0.448),
    ]
    assert [s.time for s in steps if not s.events] == [9, 11, 17, 19, 20, 25, 32, 34, 35]


def test_limits_are_greenwoods_on_the_log_log_scale() -> None:
    """At 10 weeks: variance of log S is 3/(21*18) + 1/(17*16) + 1/(15*14); worked out by hand."""
    step = next(step for step in kaplan_meier(*TREATED) if step.time == 10)
    spread = math.sqrt(3 / (21 * 18) + 1 / (17 * 16) + 1 / (15 * 14)) / -math.log(step.survival)
    assert step.low == pytest.approx(step.survival ** math.exp(1.959964 * spread))
    assert step.high == pytest.approx(step.survival ** math.exp(-1.959964 * spread))


def test_limits_over_seeds_know_how_many_seeds_there_are() -> None:
    """Ten lifetimes for each one, all of its seed, leave the limits; Greenwood's become narrow."""
    ones = {nth: ([time], [fell]) for nth, (time, fell) in enumerate(zip(*TREATED, strict=True))}
    tens = {seed: (times * 10, fell * 10) for seed, (times, fell) in ones.items()}
    many = kaplan_meier([*TREATED[0]] * 10, [*TREATED[1]] * 10)
    steps = limits_over_seeds(kaplan_meier(*TREATED), ones)
    assert [(step.low, step.high) for step in limits_over_seeds(many, tens)] == [
        (step.low, step.high) for step in steps
    ]
    for step, greenwood in zip(steps, kaplan_meier(*TREATED), strict=True):
        assert step.low <= step.survival == greenwood.survival <= step.high
        assert step.low == pytest.approx(greenwood.low, abs=0.13)
        assert step.high == pytest.approx(greenwood.high, abs=0.13)
    assert [step.low for step in steps] == sorted((step.low for step in steps), reverse=True)
    assert [step.high for step in steps] == sorted((step.high for step in steps), reverse=True)


def test_where_seeds_agree_each_is_a_trial() -> None:
    """Of thirty seeds in which nobody ever fell, one in eleven might; of thirty where all did, too."""
    never = dict.fromkeys(range(30), ([4.0, 4.0], [False, False]))
    (step,) = limits_over_seeds(kaplan_meier([4.0] * 60, [False] * 60), never)
    assert [step.low, step.high] == pytest.approx([wilson(30, 30).low, 1])
    always = dict.fromkeys(range(30), ([4.0, 4.0], [True, True]))
    (step,) = limits_over_seeds(kaplan_meier([4.0] * 60, [True] * 60), always)
    assert [step.low, step.high] == pytest.approx([0, wilson(0, 30).high])


def test_medians_of_the_leukaemia_trial() -> None:
    """Half relapse by week 8 on placebo (4 to 11), by week 23 treated (13 to beyond what was seen)."""
    assert median(kaplan_meier(*PLACEBO)) == MedianTime(8, 4, 11)
    assert median(kaplan_meier(*TREATED)) == MedianTime(23, 13, None)


def test_a_median_that_is_exactly_half() -> None:
    """Products of fractions that come to one half are a half: two of four, one of them late."""
    steps = kaplan_meier([1, 2, 2, 3, 4, 5], [True, False, False, True, False, False])
    # 5/6 * 2/3 = 5/9; then none. And 2/3 * 3/4 is a half, though not in floats of every order.
    assert median(steps).time is None
    assert (
        median(kaplan_meier([1, 1, 2, 3, 4, 5], [True, True, True, False, False, False])).time == 2
    )


def test_nobody_left_and_nothing_happened() -> None:
    """S = 0 is no certainty, nor is S = 1; neither limit is NaN, and nothing warns."""
    last = kaplan_meier(*PLACEBO)[-1]
    assert (last.survival, last.low) == (0, 0)
    assert 0 < last.high < 0.3
    (only,) = kaplan_meier([3, 3], [True, True])
    assert (only.survival, only.high) == (0, wilson(0, 2).high)
    steps = kaplan_meier([3, 4], [False, False])
    assert [(s.survival, s.low, s.high, s.at_risk) for s in steps] == [
        (1, wilson(2, 2).low, 1, 2),
        (1, wilson(1, 1).low, 1, 1),
    ]
    assert median(steps) == MedianTime(None, 3, None)
    (many,) = kaplan_meier([9] * 60, [False] * 60)
    assert (many.low, many.high) == (wilson(60, 60).low, 1)
    assert median([many]) == MedianTime(None, None, None)


@settings(max_examples=few(40))
@given(lives)
def test_a_curve_never_rises(some: Lives) -> None:
    """0 <= low <= S <= high <= 1, S falls at events alone, all are counted, and order is nothing."""
    steps = kaplan_meier(*apart(some))
    before, left = 1.0, len(some)
    for step in steps:
        assert 0 <= step.low <= step.survival <= step.high <= 1
        assert (step.survival < before) == (step.events > 0)
        assert step.at_risk == sum(time >= step.time for time, _ in some)
        before, left = step.survival, left - step.events
    assert left == sum(not fell for _, fell in some)
    assert kaplan_meier(*apart(some[::-1])) == steps


def test_the_log_rank_of_the_leukaemia_trial() -> None:
    """9 relapses where 19.25 were expected, 21 where 10.75 were; no shuffle of pairs comes as far."""
    pairs = [
        {nth: ([time], [fell]) for nth, (time, fell) in enumerate(zip(*group, strict=True))}
        for group in (TREATED, PLACEBO)
    ]
    found = log_rank({"treated": pairs[0], "placebo": pairs[1]})
    assert found.p == pytest.approx(1 / 10_001)
    assert found.observed == {"treated": 9, "placebo": 21}
    assert found.expected == pytest.approx({"treated": 19.25, "placebo": 10.75}, abs=0.005)


def test_the_log_rank_of_three_groups() -> None:
    """Rats with brain tumours, Klein and Moeschberger 2003, exercise 7.7: R's survdiff expects so many."""
    found = log_rank(
        {
            "untreated": {1: ([20, 21, 23, 24, 24, 26, 26, 27, 28, 30], [True] * 10)},
            "radiated": {1: ([26, 28, 29, 29, 30, 30, 31, 31, 32, 35], [True] * 9 + [False])},
            "with boron": {1: ([31, 32, 34, 35, 36, 38, 38, 39, 42, 42], [True] * 8 + [False] * 2)},
        }
    )
    assert list(found.observed.values()) == [10, 9, 8]
    assert list(found.expected.values()) == pytest.approx([2.656485, 7.600097, 16.743418])
    assert found.p == 1, "one seed tells nothing, however many lived in it"


@settings(max_examples=few(30))
@given(lives, lives)
def test_a_group_of_which_nothing_could_come_changes_nothing(one: Lives, other: Lives) -> None:
    """As much is expected of two groups with a third that was gone at once as without; all is expected."""
    gone: Lifetimes = ([0, 0], [False, False])
    later = [[(time + 1, fell) for time, fell in group] for group in (one, other)]
    two = {"one": {1: apart(later[0])}, "other": {1: apart(later[1])}}
    found, same = log_rank(two), log_rank({**two, "gone": {1: gone}})
    assert same.expected == pytest.approx({**found.expected, "gone": 0})
    assert sum(found.expected.values()) == pytest.approx(sum(found.observed.values()))
    assert 0 < found.p <= 1


def independent(one: Sequence[float], other: Sequence[float]) -> float:
    """The p-value of scipy's log-rank test, which takes lifetimes for independent; all were observed."""
    from scipy.stats import CensoredData, logrank  # a second, in each worker that collects this

    some: CensoredData = CensoredData(uncensored=one)
    others: CensoredData = CensoredData(uncensored=other)
    return float(logrank(some, others).pvalue)


def test_what_hangs_together_in_a_seed_counts_as_one() -> None:
    """Of groups that do not differ, whose four lives a seed are nearly one, five in a hundred seem to.

    The chi-square of the same lives, which takes them for independent, says so of every fifth.
    """
    dice = np.random.default_rng(1)
    alarms = [0, 0]
    for _ in range(100):
        groups: dict[str, dict[int, Lifetimes]] = {"a": {}, "b": {}}
        for seed, luck in enumerate(dice.exponential(5, 30)):
            for group in groups.values():
                times = np.ceil(dice.exponential(1 + luck) * dice.uniform(0.8, 1.2, 4))
                group[seed] = ([*times], [True] * 4)
        pooled = [[time for own, _ in each.values() for time in own] for each in groups.values()]
        alarms[0] += log_rank(groups).p < 0.05
        alarms[1] += independent(*pooled) < 0.05
    assert alarms[0] <= 9
    assert alarms[1] >= 15


def test_nothing_to_tell_groups_apart() -> None:
    """Without events, or with events when one group is gone, p is 1."""
    for fell in (False, True):
        found = log_rank({"a": {1: ([1, 2], [False, False])}, "b": {1: ([3], [fell])}})
        assert found.p == 1
        assert found.expected == found.observed


@pytest.mark.parametrize(
    ("times", "observed", "word"),
    [
        ([], [], "no lifetime"),
        ([1, 2], [True], "2 times and 1 marks"),
        ([math.nan], [True], "nan"),
        ([math.inf], [True], "inf"),
        ([-1.0], [True], "-1.0"),
    ],
)
def test_bad_lifetimes_are_told(times: list[float], observed: list[bool], word: str) -> None:
    """What is no lifetime is an InputError that says what is wrong, in a curve and in a test."""
    with pytest.raises(InputError, match=word):
        kaplan_meier(times, observed)
    with pytest.raises(InputError, match=word):
        log_rank({"a": {1: PLACEBO}, "b": {1: (times, observed)}})


def test_other_bad_input_is_told() -> None:
    """One group is no comparison, nor are groups of other seeds, and no steps have no median."""
    with pytest.raises(InputError, match="two groups"):
        log_rank({"a": {1: PLACEBO}})
    with pytest.raises(InputError, match="b was not run with the seeds of the others"):
        log_rank({"a": {1: PLACEBO}, "b": {2: PLACEBO}})
    with pytest.raises(InputError, match="without steps"):
        median(())
