"""Lines held beside each other: as difflib does it where that is little, and bounded where not."""

from difflib import SequenceMatcher, unified_diff

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.core.limits import line_matching
from loopforge.core.limits.line_matching import MOST_WORK, LineMatcher, unified_diff_rows
from tests.work_count import calls_of

texts = st.lists(st.sampled_from("abcdefgh"), max_size=20)


@given(texts, texts)
def test_small_texts_are_matched_as_difflib_does_it(a: list[str], b: list[str]) -> None:
    """And written out as its unified diffs are."""
    old = SequenceMatcher(None, a, b, autojunk=False)
    new = LineMatcher(a, b)
    assert new.get_matching_blocks() == old.get_matching_blocks()
    assert new.get_opcodes() == old.get_opcodes()
    assert list(unified_diff_rows(a, b, "one", "two", 1)) == list(
        unified_diff(a, b, "one", "two", lineterm="", n=1)
    )


@given(texts, texts, st.integers(0, 300))
def test_what_is_said_to_match_does(a: list[str], b: list[str], work: int) -> None:
    """However little may be spent: runs are equal, in order, apart, and nothing stands twice."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_matching, "MOST_WORK", work)
        blocks = LineMatcher(a, b).get_matching_blocks()
    assert blocks[-1] == (len(a), len(b), 0)
    n = m = 0
    for one in blocks[:-1]:
        assert one.size
        assert one.a >= n
        assert one.b >= m
        n, m = one.a + one.size, one.b + one.size
        assert a[one.a : n] == b[one.b : m]


def test_a_long_text_with_a_few_changes_shows_those_alone() -> None:
    """Lines that stand once part it, blank ones come again and again."""
    old = [line for n in range(20_000) for line in (f"bed {n}", "")]
    new = [*old[:100], "slugs", *old[100:30_000], *old[30_002:]]
    rows = list(unified_diff_rows(old, new, around=0))
    assert sorted(row for row in rows[2:] if row[0] != "@") == ["+slugs", "-", "-bed 15000"]


def opcodes(a: list[str], b: list[str]) -> object:
    """What is changed."""
    return LineMatcher(a, b).get_opcodes()


@pytest.mark.sample(2)
@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("a", "b"),
    [(["", "x"], ["y", ""]), (["a", "b"], ["b", "a", "c"]), ([""], ["", "x"]), (["x"], ["x"])],
)
def test_no_lines_take_more_than_bounded_work(a: list[str], b: list[str]) -> None:
    """A file of a mate may have 128,000 lines: 2,700 of two kinds took three minutes."""
    size = 60_000
    ours, other = ["q", *a * size, "q"], ["p", *b * size, "p"]
    (spent,) = calls_of(opcodes, (ours, other))
    assert spent < MOST_WORK // 4 + 20 * (len(ours) + len(other))
