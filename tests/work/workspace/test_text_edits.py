"""Edits by exact match."""

from __future__ import annotations

import pytest

from loopforge.errors import InputError
from loopforge.work.workspace.text_edits import edited

TEXT = "def f(x):\n    return x + 1\n\n\ndef g(x):\n    return x + 1\n"


def test_words_that_stand_there_once_are_replaced() -> None:
    """The rest stays sign for sign."""
    assert edited(TEXT, "def g(x):\n    return x + 1", "def g(x):\n    return x") == TEXT.replace(
        "def g(x):\n    return x + 1", "def g(x):\n    return x"
    )


def test_words_that_stand_there_twice_are_refused_with_their_lines() -> None:
    """Nothing is guessed; all of them are meant only where that is said."""
    with pytest.raises(InputError, match=r"2 times \(lines 2, 6\)"):
        edited(TEXT, "return x + 1", "return x")
    assert edited(TEXT, "return x + 1", "return x", everywhere=True).count("+ 1") == 0


def test_words_that_are_nearly_there_are_shown_as_they_stand() -> None:
    """The next try can be exact."""
    with pytest.raises(InputError, match=r"from line 1:\ndef f\(x\):\n    return x \+ 1"):
        edited(TEXT, "def f(x) :\n  return x+1", "pass")
    with pytest.raises(InputError, match="Nothing there is like them"):
        edited(TEXT, "zzzzzzzzzzzzzzzzzz", "pass")


@pytest.mark.parametrize(("old", "new"), [("", "x"), ("def f", "def f")])
def test_an_edit_that_means_nothing_is_refused(old: str, new: str) -> None:
    """No words, and the same words."""
    with pytest.raises(InputError):
        edited(TEXT, old, new)


def test_line_ends_of_the_file_are_kept() -> None:
    """A file of another system stays one."""
    assert edited("a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz") == "x\r\ny\r\nz\r\nc\r\n"
