"""The score notices what is planted."""

import pytest

from tests.delivery.tally import Line, Score, planted, score

SAID = [Line("a", "[k1]"), Line("a", "[k2]"), Line("b", "[k3]")]
GOOD = [Line("a", "[k1] <aa>"), Line("a", "[k2] <ab>"), Line("b", "[k3] <ac>")]


def test_nothing_wrong() -> None:
    """Each line answered once, in order, where it was said: nothing is wrong."""
    assert score(SAID, GOOD).row() == (0, 0, 3, 3, 0, 0, 0, 0, 0)
    assert score(SAID, [Line("a", "[k1] [k2] <aa>"), GOOD[2]]).sound


@pytest.mark.parametrize(
    ("stands", "where"),
    [
        (GOOD[1:], "lost"),
        ([*GOOD, GOOD[0]], "sent_twice"),
        ([*GOOD, Line("a", "[k1] <ff>")], "answered_twice"),
        ([GOOD[1], GOOD[0], GOOD[2]], "wrong_order"),
        ([*GOOD[:2], Line("a", "[k3] <ac>")], "wrong_room"),
    ],
)
def test_what_is_planted(stands: list[Line], where: str) -> None:
    """A loss, a double, a second answer, a swap and a stray are each counted, and named."""
    found = score(SAID, stands)
    assert not found.sound
    figures = {name: getattr(found, name) for name in Score.__struct_fields__[2:7]}
    assert figures.pop(where) == 1
    assert set(figures.values()) == {0}


def test_one_of_each_is_planted() -> None:
    """A loss and a double that are put into what was counted are both found."""
    assert planted(SAID, GOOD)
