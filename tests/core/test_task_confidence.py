"""Confidence moves by what can be seen, by the mind's estimate, and by thumbs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.core.work.command_results import SeenResult
from loopforge.core.work.task_confidence import (
    LEAST_RATED,
    START,
    WEIGHTS,
    brier,
    moved,
    rated,
    reliability,
    signals_of,
    weigh_signals,
)
from tests.core.test_command_results import WRITTEN, ran


@pytest.mark.parametrize(
    ("seen", "names"),
    [
        ([ran("ls", 0)], ["command succeeded", "no files changed"]),
        ([ran("ls nowhere", 2)], ["command failed", "no files changed"]),
        ([ran("python -m pytest -q", 0), WRITTEN], ["tests passed", "files changed"]),
        ([ran("npm run test", 1)], ["tests failed", "no files changed"]),
        ([WRITTEN], ["files changed"]),
        ([SeenResult("work_edit", "a", "failed", "no")], ["tool failed", "no files changed"]),
        ([SeenResult("work_run", "x", "unknown", "?")], ["outcome unknown", "no files changed"]),
        ([SeenResult("send", "x", "refused", "no")], ["tool was refused", "no files changed"]),
        ([SeenResult("work_run", "x", "deferred", "")], ["no files changed"]),
        ([], []),
    ],
)
def test_what_is_seen_has_a_name(seen: list[SeenResult], names: list[str]) -> None:
    """Each thing that is seen counts by its name in the one table of weights."""
    found = signals_of(seen, [], changes=True)
    assert [one.name for one in found] == names
    assert all(one.points == WEIGHTS[one.name] for one in found)


def test_what_is_good_counts_once_in_a_turn_and_failures_three_times() -> None:
    """So nobody becomes sure by many easy commands."""
    assert len(weigh_signals(["command succeeded"] * 5)) == 1
    assert len(weigh_signals(["command failed"] * 5)) == 3


@given(st.floats(0, 100), st.lists(st.sampled_from(sorted(WEIGHTS))), st.floats(-1, 100))
def test_it_stays_between_0_and_100(before: float, names: list[str], estimate: float) -> None:
    """Whatever is seen and whatever the mind thinks of itself."""
    assert 0 <= moved(before, weigh_signals(name for name in names), estimate) <= 100


def test_the_minds_own_estimate_draws_a_quarter_of_the_way() -> None:
    """One that gives none, or one that is none, draws nothing."""
    assert moved(60, (), 100) == 70
    assert moved(60, (), -1) == moved(60, (), 101) == 60


def test_thumbs_are_clamped() -> None:
    """Up is 15 more, down 20 less, never under 10 and never over 100."""
    assert (rated(START, up=True), rated(START, up=False)) == (75, 40)
    assert rated(95, up=True) == 100
    assert rated(20, up=False) == rated(5, up=False) == LEAST_RATED == 10


def test_calibration_says_how_well_it_foretold() -> None:
    """A sure truth scores 0, a coin 0.25; the curve lays what was thought beside what came."""
    assert brier([(100, True), (0, False)]) == 0
    assert brier([(50, True), (50, False)]) == 0.25
    assert brier([]) is None
    curve = reliability([(90, True), (85, False), (10, False), (100, True)])
    assert [(one.tasks, round(one.came, 2)) for one in curve] == [(1, 0.0), (3, 0.67)]
