"""A mapping that holds so many values."""

from loopforge.core.limits.bounded_mapping import BoundedMapping


def test_what_was_put_longest_ago_goes_first() -> None:
    """One too many lets go of the one that was put longest ago, in whichever way it is put."""
    held: BoundedMapping[str, int] = BoundedMapping(2)
    held["a"], held["b"] = 1, 2
    held["a"] = 3
    assert held.setdefault("c", 4) == 4
    assert list(held.items()) == [("a", 3), ("c", 4)]
    held.update(d=5)
    assert list(held) == ["c", "d"]
