"""colour: CSS's names and codes, as one form every surface knows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.core.mates.mate_colours import PALETTE, colour_code, css_colour_codes, default_colour


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("teal", "#008080"),
        ("Dark Orange", "#ff8c00"),
        ("rebecca-purple", "#663399"),
        ("#2A9D8F", "#2a9d8f"),
        ("#f80", "#ff8800"),
        ("#f8", None),
        ("mud", None),
        ("", None),
    ],
)
def test_a_colour_is_a_name_or_a_code(written: str, meant: str | None) -> None:
    """Names in any spelling, long and short codes; anything else is no colour."""
    assert colour_code(written) == meant


def test_all_names_of_css_are_known() -> None:
    """There are the 148 named colours of CSS Color 4, each with a code."""
    assert len(css_colour_codes()) == 148
    assert all(colour_code(value) == value for value in css_colour_codes().values())
    assert css_colour_codes()["grey"] == css_colour_codes()["gray"] == "#808080"


@given(st.text())
def test_every_mate_gets_a_colour(handle: str) -> None:
    """A handle always has the same colour of the palette."""
    assert default_colour(handle) == default_colour(handle)
    assert default_colour(handle) in PALETTE
