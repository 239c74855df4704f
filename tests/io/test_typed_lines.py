"""What comes in by a keyboard, a clipboard or a pipe."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from loopforge.io.terminal.typed_lines import (
    LineSplitter,
    TypedLine,
    is_blank_text,
    one_line,
    safe_for_terminal,
    strip_terminal_controls,
)


def split(data: bytes, step: int = 7, longest: int = 100) -> list[TypedLine]:
    """Lines of some bytes, fed piece by piece."""
    splitter = LineSplitter(longest)
    out = []
    for start in range(0, len(data), step):
        out += list(splitter.feed(data[start : start + step]))
    return out + list(splitter.finish())


@given(st.lists(st.text(st.characters(exclude_categories=["C"]), max_size=30)), st.integers(1, 50))
def test_lines_come_out_as_they_went_in(lines: list[str], step: int) -> None:
    """Text without control characters is cut at newlines and numbered, wherever the pieces end."""
    data = "".join(f"{line}\n" for line in lines).encode()
    assert split(data, step, 1000) == [
        TypedLine(number=n, text=line) for n, line in enumerate(lines, 1)
    ]


def test_the_last_line_needs_no_newline() -> None:
    """What stands after the last newline is a line too; after none, there is none."""
    assert split(b"one\ntwo") == [TypedLine(number=1, text="one"), TypedLine(number=2, text="two")]
    assert split(b"one\r\n") == [TypedLine(number=1, text="one")]
    assert split(b"") == []


@given(st.binary(max_size=400), st.integers(1, 30))
@example(b"\xff\n", 1)
def test_any_bytes_become_text(data: bytes, step: int) -> None:
    """Whatever comes in, lines are text that can be sent, however it is cut."""
    lines = split(data, step)
    assert lines == split(data, 1000)
    for line in lines:
        assert strip_terminal_controls(line.text) == (line.text, ())
        line.text.encode("utf-8")


def test_a_line_too_long_is_named_and_the_next_one_is_whole() -> None:
    """An oversize line costs no memory and nothing but itself."""
    data = b"before\n" + b"x" * 101 + b"\nafter\n" + b"y" * 5000
    assert split(data) == [
        TypedLine(number=1, text="before"),
        TypedLine(number=2, lost=101),
        TypedLine(number=3, text="after"),
        TypedLine(number=4, lost=5000),
    ]
    assert split(b"x" * 100 + b"\n") == [TypedLine(number=1, text="x" * 100)]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07hello", "hello"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("a\x1b", "a"),
        ("bell\x07 back\x08", "bell back"),
        ("\x9b31mC1", "31mC1"),
        ("tab\tand\nnewline\r\nstay", "tab\tand\nnewline\nstay"),
        ("lone \ud800 half", "lone  half"),
    ],
)
def test_nothing_that_moves_a_cursor_is_left(text: str, left: str) -> None:
    """Escapes and control characters go; letters, tabs and newlines stay."""
    assert strip_terminal_controls(text)[0] == left


@given(st.text())
def test_what_is_shown_does_nothing_to_the_screen(text: str) -> None:
    """No escape, control character or change of direction is left in what is shown."""
    shown = safe_for_terminal(text)
    assert not set(shown) & {chr(n) for n in (*range(10), *range(11, 32), *range(127, 160), 0x202E)}


def test_short_and_blank() -> None:
    """A text on one line is cut with an ellipsis; invisible letters alone are blank."""
    assert one_line("a\nb   c", 20) == "a b c"
    assert one_line("a long line", 7) == "a long…"
    assert is_blank_text(" \t\u200b\u2060\n")
    assert not is_blank_text(" .")
