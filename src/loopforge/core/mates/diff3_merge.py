"""Three-way merge of lines (diff3): two texts that come from one, made one again.

    base    a b c        what both come from
    ours    a B c        -> what only one side changed is taken over
    theirs  a b c d      -> what both changed, and not alike, is a clash, for a person to decide

Pure. Knows nothing of what the lines mean.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from loopforge.core.limits.line_matching import LineMatcher

Lines = tuple[str, ...]


class LineConflict(NamedTuple):
    """Lines that both sides changed, each in its own way; with what they were."""

    base: Lines
    ours: Lines
    theirs: Lines


class _Anchor(NamedTuple):
    """Lines that all three have: where they begin in each, and how many."""

    base: int
    ours: int
    theirs: int
    size: int


def merge3(
    base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]
) -> list[str | LineConflict]:
    """The lines of the merged text in their order, and the clashes where they stand."""
    merged: list[str | LineConflict] = []
    at = _Anchor(0, 0, 0, 0)
    for anchor in _anchors(base, ours, theirs):
        old = tuple(base[at.base + at.size : anchor.base])
        mine = tuple(ours[at.ours + at.size : anchor.ours])
        other = tuple(theirs[at.theirs + at.size : anchor.theirs])
        if mine in (other, old):
            merged += other
        elif other == old:
            merged += mine
        else:
            merged.append(LineConflict(old, mine, other))
        merged += base[anchor.base : anchor.base + anchor.size]
        at = anchor
    return merged


def _anchors(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> Iterator[_Anchor]:
    """Runs of lines that stand in all three, in order; the last is empty, at their ends."""
    mine = LineMatcher(base, ours).get_matching_blocks()
    other = LineMatcher(base, theirs).get_matching_blocks()
    n = m = 0
    while n < len(mine) and m < len(other):
        one, two = mine[n], other[m]
        begin, end = max(one.a, two.a), min(one.a + one.size, two.a + two.size)
        if begin < end:
            yield _Anchor(begin, one.b + begin - one.a, two.b + begin - two.a, end - begin)
        if one.a + one.size < two.a + two.size:
            n += 1
        else:
            m += 1
    yield _Anchor(len(base), len(ours), len(theirs), 0)
