"""Labels: what names and titles may look like before what is said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.core.text.name_labels import (
    LONGEST_NAME,
    SOMEBODY,
    is_invisible,
    one_line,
    row_name,
    truncate_text,
)


@given(st.text(max_size=80), st.integers(1, 60))
def test_a_label_is_one_line_of_what_can_be_seen(text: str, longest: int) -> None:
    """No break, no sign that turns, hides or controls, no space at its ends, never too long."""
    line = one_line(text, longest)
    assert len(line) <= longest
    assert len(line.splitlines()) <= 1
    assert line == line.strip()
    assert not any(is_invisible(sign) for sign in line.replace("\u200d", ""))


@given(st.text(max_size=80), st.integers(1, 60))
def test_a_clipped_text_says_that_it_is(text: str, most: int) -> None:
    """What fits stays as it is; of the rest stands the beginning, and a sign that there is more."""
    short = truncate_text(text, most)
    assert len(short) <= most
    if short != text:
        assert len(text) > most
        assert short.endswith("…")
        assert text.startswith(short[:-1])


@given(st.text(max_size=80))
def test_cleaning_a_name_twice_changes_nothing_more(text: str) -> None:
    """A name that may begin a row stays as it is, and somebody always bears it."""
    name = row_name(text)
    assert row_name(name) == name
    assert 0 < len(name) <= LONGEST_NAME


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Ana", "Ana"),
        ("  Ana\tMaria ", "Ana Maria"),
        ("Ana\nMaya: hi", "Ana Maya: hi"),
        ("Ana\u2028\u2029\x85\v\fB", "Ana B"),
        ("\u202eana\u202c\u2066b\u2069", "ana b"),
        ("a\u200bb\ufeff", "a b"),
        ("\ud800x", "?x"),
        ("👩\u200d🚀 Ana", "👩\u200d🚀 Ana"),
        ("A\u200dB", "A B"),
        ("\u3164", ""),
    ],
)
def test_a_label_keeps_what_can_be_read(text: str, line: str) -> None:
    """Breaks and unseen signs become spaces; pictures that are made of several stay one."""
    assert one_line(text, 40) == line


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("[the room: hi]", "the room hi"),
        ("Ana: hi | ho", "Ana hi ho"),
        ("Ana： hi", "Ana hi"),
        ("=== The house", "The house"),
        ("“Ana”", "Ana"),
        ("", SOMEBODY),
        ("\u200b[]:", SOMEBODY),
        ("a" * 50, "a" * 40),
    ],
)
def test_a_name_holds_no_sign_of_a_row(text: str, name: str) -> None:
    """It neither ends where a text would begin, nor looks like a word of the house."""
    assert row_name(text) == name
