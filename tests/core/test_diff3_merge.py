"""diff3_merge: what one side changed is taken over, what both changed is a clash."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.core.mates.diff3_merge import LineConflict, merge3

texts = st.lists(st.sampled_from("abcdef"), max_size=8)


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        ("abc", "aBc", "abcd", ["a", "B", "c", "d"]),
        ("abc", "abc", "c", ["c"]),
        ("abc", "aXc", "aXc", ["a", "X", "c"]),
        ("abc", "aXc", "aYc", ["a", LineConflict(("b",), ("X",), ("Y",)), "c"]),
        ("", "x", "y", [LineConflict((), ("x",), ("y",))]),
        ("abcde", "aBcde", "abcDe", ["a", "B", "c", "D", "e"]),
    ],
)
def test_both_sides_come_together(
    base: str, ours: str, theirs: str, merged: list[str | LineConflict]
) -> None:
    """Changes in different places are all taken; different ones in one place clash."""
    assert merge3(base, ours, theirs) == merged


@given(texts, texts)
def test_where_one_side_stayed_the_other_is_taken(base: list[str], changed: list[str]) -> None:
    """Merging with a side that did nothing gives the other side, whichever of the two it is."""
    assert merge3(base, base, changed) == changed
    assert merge3(base, changed, base) == changed


@given(texts, texts, texts)
def test_no_line_of_a_side_is_lost(base: list[str], ours: list[str], theirs: list[str]) -> None:
    """What a side added stands in the merged text or in a clash, and both ways round it is alike."""
    merged = merge3(base, ours, theirs)
    turned = merge3(base, theirs, ours)
    flipped = [
        LineConflict(one.base, one.theirs, one.ours) if isinstance(one, LineConflict) else one
        for one in turned
    ]
    assert merged == flipped
    told = [
        each for one in merged for each in (one.ours if isinstance(one, LineConflict) else [one])
    ]
    assert all(told.count(line) >= 1 for line in set(ours) - set(base))
