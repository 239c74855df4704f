"""header_edit: one entry changes, and nothing else of the file does."""

import pytest

from loopforge.core.mates.header_edit import entry_of, with_body, with_entry, with_trait
from loopforge.core.mates.mate_file import parse_mate
from loopforge.core.text.quantity_bands import Band

FILE = """\
---
name: Ada
# what she is like
traits:
  patience: low
  "on": high
role: counter  # of things
---
You are Ada.
"""


def test_an_entry_is_read_and_replaced_as_it_stands() -> None:
    """The lines of an entry come out whole, and others in their place leave the rest untouched."""
    assert entry_of(FILE, "role") == "role: counter  # of things\n"
    assert entry_of(FILE, "traits") == 'traits:\n  patience: low\n  "on": high\n'
    assert entry_of(FILE, "voice") == ""
    assert with_entry(FILE, "role", "") == FILE.replace("role: counter  # of things\n", "")
    assert with_entry(FILE, "role", entry_of(FILE, "role")) == FILE
    assert parse_mate(with_entry(FILE, "voice", "voice: dry\n"), "f").voice == "dry"


@pytest.mark.parametrize(
    ("trait", "band", "after"),
    [
        ("patience", "high", {"patience": "high", "on": "high"}),
        ("warmth", "very low", {"patience": "low", "on": "high", "warmth": "very low"}),
        ("patience", None, {"on": "high"}),
        ("no: such", "low", {"patience": "low", "on": "high", "no: such": "low"}),
    ],
)
def test_a_trait_is_set_or_taken(trait: str, band: Band | None, after: dict[str, str]) -> None:
    """The mate has that much of it afterwards; words that YAML takes for others are quoted."""
    text = with_trait(FILE, trait, band)
    assert parse_mate(text, "f").traits == after
    assert "# what she is like" in text


def test_the_last_trait_takes_its_entry_along() -> None:
    """Without any trait there is no entry for them; in a file without one it is made."""
    bare = with_trait(with_trait(FILE, "patience", None), "on", None)
    assert entry_of(bare, "traits") == ""
    assert parse_mate(with_trait(bare, "zeal", "high"), "f").traits == {"zeal": "high"}


def test_another_body() -> None:
    """The text under the front matter is another; the front matter is as it was."""
    assert with_body(FILE, "\nYou count.\n\n") == FILE.replace("You are Ada.", "You count.")
