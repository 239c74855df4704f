"""Edits by exact match."""

import pytest

from loopforge.errors import InputError
from loopforge.work.workspace.text_edits import replace_words, set_patch_right
from loopforge.work.workspace.workspace_tools import lines_from
from tests.work_count import calls_of

TEXT = "def f(x):\n    return x + 1\n\n\ndef g(x):\n    return x + 1\n"

PLAIN = {"a": "", "b": ""}.__getitem__
"""Nothing stands in these files whose lines end as on Windows."""


def test_words_that_stand_there_once_are_replaced() -> None:
    """The rest stays sign for sign."""
    assert replace_words(
        TEXT, "def g(x):\n    return x + 1", "def g(x):\n    return x"
    ) == TEXT.replace("def g(x):\n    return x + 1", "def g(x):\n    return x")


def test_words_that_stand_there_twice_are_refused_with_their_lines() -> None:
    """Nothing is guessed; all of them are meant only where that is said."""
    with pytest.raises(InputError, match=r"2 times \(lines 2, 6\)"):
        replace_words(TEXT, "return x + 1", "return x")
    assert replace_words(TEXT, "return x + 1", "return x", everywhere=True).count("+ 1") == 0


def test_words_that_are_nearly_there_are_shown_as_they_stand() -> None:
    """The next try can be exact."""
    with pytest.raises(InputError, match=r"from line 1:\ndef f\(x\):\n    return x \+ 1"):
        replace_words(TEXT, "def f(x) :\n  return x+1", "pass")
    with pytest.raises(InputError, match="Nothing there is like them"):
        replace_words(TEXT, "zzzzzzzzzzzzzzzzzz", "pass")


def test_an_edit_that_would_fill_the_memory_is_refused() -> None:
    """A sign that stands there often becomes many: the length is told before anything is made."""
    with pytest.raises(InputError, match="would have 20,000,000,000 signs; 2,000,000 are the most"):
        replace_words("a" * 20_000, "a", "b" * 1_000_000, everywhere=True)


@pytest.mark.parametrize(("old", "new"), [("", "x"), ("def f", "def f")])
def test_an_edit_that_means_nothing_is_refused(old: str, new: str) -> None:
    """No words, and the same words."""
    with pytest.raises(InputError):
        replace_words(TEXT, old, new)


def test_line_ends_of_the_file_are_kept() -> None:
    """A file of another system stays one."""
    assert replace_words("a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz") == "x\r\ny\r\nz\r\nc\r\n"


def test_the_counts_of_a_patch_are_set_right() -> None:
    """Also where the next file begins at once, and where blank lines lost their space."""
    patch = (
        "--- a/a\n+++ b/a\n@@ -1,9 +1,9 @@ def f\n one\n\n-two\n+zwei\n"
        "--- /dev/null\n+++ b/b\n@@ -0,0 +1,7 @@\n+new\n\\ No newline at end of file\n"
    )
    heads = [line for line in set_patch_right(patch, PLAIN).splitlines() if line.startswith("@@")]
    assert heads == ["@@ -1,3 +1,3 @@ def f", "@@ -0,0 +1,1 @@"]
    assert set_patch_right("no patch at all\n", PLAIN) == "no patch at all\n"


@pytest.mark.parametrize("sign", ["\f", "\v", "\u2028", "\x85", "\r"])
def test_no_other_break_than_a_line_feed_ends_a_line(sign: str) -> None:
    """As git and grep have it: a patch of a file with a form feed fits, and lines are where it says."""
    patch = f"--- a/a\n+++ b/a\n@@ -1,9 +1,9 @@\n one\n two{sign}x\n-three\n+drei\n"
    assert set_patch_right(patch, PLAIN) == patch.replace("1,9", "1,3")
    assert (
        lines_from("a", f"one\ntwo{sign}x\nthree\n", 3) == "a, lines 3 to 3 of 3, its end:\nthree\n"
    )


def test_a_file_with_both_line_ends_is_edited_in_either_part() -> None:
    """Each part keeps its own; words of the other one did not stand there."""
    assert replace_words("a\nb\nc\r\nd\r\n", "a\nb", "A\nB") == "A\nB\nc\r\nd\r\n"
    assert replace_words("a\nb\nc\r\nd\r\n", "c\nd", "C\nD") == "a\nb\nC\r\nD\r\n"


def refused(text: str, words: str) -> None:
    """That these words stand there is denied, with what is most like them."""
    with pytest.raises(InputError, match="Most like them, from line 1"):
        replace_words(text, words, "pass")


def test_lines_that_are_nearly_alike_cost_little() -> None:
    """A line of thousands of two letters took minutes, and so did thousands of such lines."""
    (spent,) = calls_of(refused, ("\n".join(["ab" * 2000] * 1000), "ba" * 2000 + "x"))
    assert spent < 4_000_000
