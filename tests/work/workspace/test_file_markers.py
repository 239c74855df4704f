"""Which files an answer names to be sent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.work.workspace.file_markers import named_files, without_marks


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("Here: <<out/a.csv>>.", ("out/a.csv",)),
        ("<<a>> and << b.txt >> and <<a>>", ("a", "b.txt")),
        ("no << > here", ()),
        ("a << b >> c", ("b",)),
        ("`x << 2 >> 1` is a shift", ()),
        ("```sh\ncat <<EOF >>log\n<<a.txt>>\n```\nbut <<b.txt>>", ("b.txt",)),
        ("~~~\n<<a.txt>>\n~~~\n<<b.txt>>", ("b.txt",)),
        ("````\n```\n<<a.txt>>\n```\n````\n<<b.txt>>", ("b.txt",)),
        ("``a ` <<b>> c`` <<d>>", ("d",)),
        ("```\nunclosed <<a.txt>>", ()),
        ("<<a\nb>>", ()),
        ("<<>>", ()),
        ("<< a" + "\t" * 1_000_000 + " >", ()),
        (f"{'` ' * 3}{'`' * 1_000_000} <<a>>", ("a",)),
        ("`" * 1_000_000, ()),
        ("``` \n~~~\n" * 100_000 + "<<a>>", ()),
        ("<<<a>>>", ("a",)),
        ("<<Bericht über Öl.pdf>>", ("Bericht über Öl.pdf",)),
        ("<<../../etc/passwd>>", ("../../etc/passwd",)),
    ],
)
def test_files_are_named_in_double_brackets_outside_of_code(
    text: str, paths: tuple[str, ...]
) -> None:
    """What stands in a block or between backticks is code and names nothing."""
    assert named_files(text) == paths


def test_marks_become_names() -> None:
    """Where a file goes along its name is shown, else the path as it was written."""
    text = "See <<out/a.csv>> and <<gone>>, not `<<code>>`."
    assert without_marks(text, {"out/a.csv": "a.csv"}) == "See a.csv and gone, not `<<code>>`."


@given(st.text(alphabet="<>`~ab/\n "))
def test_any_text_is_read(text: str) -> None:
    """No text breaks it, and what has no marks stays as it is."""
    shown = without_marks(text, {})
    assert named_files(text) or shown == text
