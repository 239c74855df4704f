"""Words in a file of a room: where they stand, whatever the file and the words are."""

import pytest

from loopforge.tools.room_files import AROUND, MOST, describe_matches


def test_words_are_found_in_either_case_with_what_is_around() -> None:
    """Each place once, apart from the one before; all are counted."""
    text = f"Slugs{' eat' * AROUND}SLUGS and slugs"
    told = describe_matches("beds.txt", text, "slugS").splitlines()
    assert told[0] == "'slugS' stands 3 times in beds.txt."
    assert [row.partition(":")[0] for row in told[1:]] == ["At 0", f"At {5 + 4 * AROUND:,}"]
    assert describe_matches("a", "x " * 10_000, "x").count("\nAt ") == MOST
    assert describe_matches("a", "snails", "slugs") == "'slugs' does not stand in a."


def test_a_letter_whose_small_one_is_longer_moves_no_place() -> None:
    """What is told stands where it is told to stand."""
    text = "\u0130" * 50 + "Istanbul"
    assert "At 50: " in describe_matches("a", text, "istanbul")
    assert "At 0: " in describe_matches("a", "\u0130stanbul", "istanbul")


@pytest.mark.timeout(10)
def test_no_words_hold_up_the_home() -> None:
    """Nor a text that nearly holds them everywhere."""
    assert "does not stand" in describe_matches("a", "e" * 1_000_000, "e" * 20_000 + "f")
