"""Attempts are scored by what can be seen of them, people first; the mind's view moves nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.core.work.command_results import SeenResult
from loopforge.core.work.task_score import (
    HEURISTICS,
    SHARES,
    STARTS,
    Trajectory,
    score_trajectory,
)
from tests.core.test_command_results import WRITTEN, ran

GOOD = Trajectory(seen=[WRITTEN, ran("pytest -q", 0)], ending="finished", turns=3, most=20)
BAD = Trajectory(seen=[WRITTEN, ran("pytest -q", 1)], ending="finished", turns=3, most=20)


def test_tests_that_pass_are_better_than_tests_that_fail() -> None:
    """The same course with other exit codes has another score, in all but what it took."""
    good, bad = score_trajectory(GOOD), score_trajectory(BAD)
    assert good.completion > bad.completion + 50
    assert good.quality > bad.quality
    assert good.together > bad.together


@pytest.mark.parametrize(
    ("more", "name"),
    [
        ({"decision": "approved"}, "approved"),
        ({"decision": "rejected"}, "rejected"),
        ({"decision": "undone"}, "taken back"),
        ({"thumbs_down": 1}, "thumb down"),
        ({"thumbs_up": 1}, "thumb up"),
        ({"corrections": 2}, "corrected by a person"),
        ({"seen": [ran("ruff check .", 1)]}, "its last linter complained"),
        ({"seen": [ran("mypy src", 0)]}, "its last linter was content"),
        ({"seen": [ran("make", 2)]}, "its last command failed"),
        ({"seen": [ran("ls", 0)]}, "its last command ended well"),
        ({"seen": [SeenResult("work_run", "make", "unknown", "")]}, "a use has an unknown outcome"),
        ({"seen": [ran("a", 1, "Error: x"), ran("a", 1, "Error: x")]}, "the same error again"),
        ({"changes": True, "seen": [ran("ls", 0)]}, "no file was changed, though one should be"),
        ({"files": ()}, "nothing to merge"),
        ({"files": ("tests/test_a.py",)}, "the change has tests"),
        ({"diff": "+@pytest.mark.skip\n"}, "the change weakens tests"),
        ({"diff": "-    assert x == 1\n"}, "the change weakens tests"),
        ({"diff": "+    breakpoint()\n"}, "something was left over in it"),
        ({"diff": "+a\n" * 500}, "the change is large"),
        ({"ending": "stopped"}, "it stood still before its end"),
        ({"ending": "escalated"}, "another model had to go on"),
        ({"cost": 1.0, "budget": 2.0}, "what it cost of its budget"),
        ({"broken": 1}, "a turn came to nothing"),
        ({"circles": 1}, "it went in circles"),
    ],
)
def test_each_row_is_named_where_it_holds(more: dict[str, object], name: str) -> None:
    """What moved a score stands beside it, with whose word it is."""
    bare = {reason.name for reason in score_trajectory(Trajectory(turns=1, most=10)).reasons}
    attempt = Trajectory(turns=1, most=10, **more)  # type: ignore[arg-type]
    found = {reason.name for reason in score_trajectory(attempt).reasons}
    assert name in found - bare


def test_a_row_that_never_holds_would_be_noticed() -> None:
    """An attempt of which nothing is known moves by its turns alone."""
    assert [r.name for r in score_trajectory(Trajectory(turns=1, most=10)).reasons] == [
        "turns that it took"
    ]
    assert score_trajectory(Trajectory()).reasons == ()


def test_people_weigh_more_than_tests() -> None:
    """What a person refused is no success, however green its tests; and the other way round."""
    assert (
        score_trajectory(GOOD._replace(decision="rejected")).together
        < score_trajectory(BAD).together + 15
    )
    assert score_trajectory(GOOD._replace(decision="rejected")).completion < 50
    assert score_trajectory(BAD._replace(decision="approved")).completion >= 70


@given(st.floats(-1, 100), st.sampled_from([GOOD, BAD]))
def test_what_the_mind_thinks_moves_no_score(estimate: float, seen: Trajectory) -> None:
    """It is reported beside, with how far it was off."""
    found = score_trajectory(seen._replace(estimate=estimate))
    assert found[:5] == score_trajectory(seen)[:5]
    if estimate >= 0:
        assert found.off == round(estimate - found.together, 1)
    else:
        assert (found.own, found.off) == (-1, 0)


@given(
    st.lists(st.sampled_from([WRITTEN, ran("pytest", 1), ran("x", 2, "Error"), ran("ls", 0)])),
    st.integers(0, 50),
    st.integers(0, 9),
)
def test_scores_stay_in_their_bounds(seen: list[SeenResult], turns: int, thumbs: int) -> None:
    """0 to 100, and the whole is what its parts make of it."""
    found = score_trajectory(Trajectory(seen=seen, turns=turns, most=20, thumbs_down=thumbs))
    parts = (found.completion, found.quality, found.efficiency)
    assert all(0 <= one <= 100 for one in (*parts, found.together))
    assert found.together == round(
        sum(x * y for x, y in zip(parts, SHARES.values(), strict=True)), 1
    )


def test_the_table_is_whole() -> None:
    """Shares make one, every score begins somewhere, and no row is there twice."""
    assert sum(SHARES.values()) == pytest.approx(1)
    assert set(STARTS) == set(SHARES) == {row.score for row in HEURISTICS}
    keys = [(row.name, row.score) for row in HEURISTICS]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("often", [0, 1, 3, 9])
def test_a_figure_is_read_back_as_it_was_written(often: int) -> None:
    """Each is a float, however often a row holds: another form would be another hash."""
    unknown = SeenResult("work_run", "make", "unknown", "")
    found = score_trajectory(Trajectory(seen=[unknown] * often, thumbs_up=often, corrections=often))
    figures = [found.completion, found.quality, found.efficiency, found.together, found.off]
    assert {type(one) for one in [*figures, *(one.points for one in found.reasons)]} == {float}
