"""Words in a row, and counts, as one says them."""

from loopforge.core.text.spoken_lists import counted, listed


def test_words_in_a_row() -> None:
    """None, one, two, three; and of many the first ones."""
    assert [listed("ABC"[:count]) for count in range(4)] == ["", "A", "A and B", "A, B and C"]
    assert listed("ABCDE", 3) == "A, B, C and 2 more"
    assert listed("ABC", 3) == "A, B and C"


def test_counts_with_their_word() -> None:
    """One is one; more have an s, or a word of their own."""
    assert (counted(1, "line"), counted(1200, "line")) == ("1 line", "1,200 lines")
    assert counted(2, "delivery", "deliveries") == "2 deliveries"
