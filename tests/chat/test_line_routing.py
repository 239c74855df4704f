"""What a line asks for, without the name of whom it asks."""

import pytest

from loopforge.chat.speaking.line_routing import unaddressed

NAMES = (("maya", "Maya"), ("merlin", "Merlin the Wise"))


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("Maya, tidy the sources", "tidy the sources"),
        ("@maya: tidy the sources", "tidy the sources"),
        ("tidy the sources, Maya", "tidy the sources"),
        ("tidy the sources, @maya .", "tidy the sources."),
        ("Tidy the sources, Merlin the Wise!  ", "Tidy the sources!"),
        ("tidy what Maya left", "tidy what Maya left"),
        ("where is Maya?", "where is Maya?"),
    ],
)
def test_the_name_before_or_after_is_left_out(said: str, asked: str) -> None:
    """Whoever is called is no part of what is asked; whoever is spoken of is."""
    assert unaddressed(said, NAMES) == asked


@pytest.mark.parametrize("blanks", [" " * 100_000, "\n" * 100_000, ", " * 50_000])
def test_a_line_of_blanks_is_read_at_once(blanks: str) -> None:
    """It would have held up the home for minutes."""
    assert unaddressed(f"x, maya{blanks}x", NAMES).endswith("x")
