"""The bounds of a turn: which holds, when it is met, and what is said of what is left."""

import pytest

from loopforge.core.limits.turn_bounds import (
    TurnBounds,
    TurnSpending,
    left,
    met,
    read,
    said,
    strictest_bounds,
)
from loopforge.errors import InputError


def test_of_every_bound_the_strictest_holds() -> None:
    """A mate, a room and a home may each set some; what none of them sets is not bound."""
    mate, room, home = (
        TurnBounds(calls=9, money=0.5),
        TurnBounds(calls=2, seconds=30.0),
        TurnBounds(calls=4),
    )
    assert strictest_bounds(mate, room, home) == TurnBounds(calls=2, seconds=30.0, money=0.5)


@pytest.mark.parametrize(
    ("bounds", "spent", "told"),
    [
        (TurnBounds(), TurnSpending(calls=99, seconds=1e6), ""),
        (TurnBounds(calls=2), TurnSpending(calls=1), ""),
        (TurnBounds(calls=2), TurnSpending(calls=2), "tools may be used 2 times in a turn here"),
        (TurnBounds(calls=0), TurnSpending(), "tools may be used 0 times in a turn here"),
        (TurnBounds(depth=2), TurnSpending(depth=2), ""),
        (TurnBounds(depth=2), TurnSpending(depth=3), "calls may stand 2 deep here, and too many led to this one"),
        (TurnBounds(seconds=30), TurnSpending(seconds=31), "tools may take 30 seconds of a turn here"),
        (TurnBounds(output=10), TurnSpending(output=10), "tools may give 10 characters in a turn here"),
        (TurnBounds(money=0.05), TurnSpending(money=0.051), "a turn may cost $0.05 here"),
    ],
)  # fmt: skip
def test_what_is_met_is_named(bounds: TurnBounds, spent: TurnSpending, told: str) -> None:
    """The bound that keeps a turn from one more use of a tool, as a sentence."""
    assert met(bounds, spent) == told


def test_what_is_left_is_told_in_words() -> None:
    """In the order of the bounds; what is not bound is not spoken of."""
    bounds = TurnBounds(calls=3, seconds=60, output=9000, money=0.1)
    spent = TurnSpending(calls=2, seconds=20.5, output=1500, money=0.025)
    words = "1 use of tools, 40 seconds, 7,500 characters of what they give and $0.0750"
    assert left(bounds, spent) == words
    assert left(TurnBounds(depth=3), spent) == ""


def test_bounds_are_read_as_they_are_written() -> None:
    """Each with its number; what is none says what may stand there."""
    bounds = read(["calls", "4", "seconds", "2.5", "money", "0.05"])
    assert bounds == TurnBounds(calls=4, seconds=2.5, money=0.05)
    assert read(said(bounds).replace(",", "").split()) == bounds
    assert (read([]), said(TurnBounds())) == (TurnBounds(), "none")
    for words in ("calls", "calls many", "calls 1.5", "calls -1", "money nan", "money inf", "x 1"):
        with pytest.raises(InputError, match="Such as: calls 4"):
            read(words.split())
