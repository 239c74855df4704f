"""Words in a row, and counts, as one says them."""

from loopforge.core.text.spoken_lists import (
    about_in_words,
    join_as_prose,
    pluralize,
    seconds_in_words,
)


def test_words_in_a_row() -> None:
    """None, one, two, three; and of many the first ones."""
    assert [join_as_prose("ABC"[:count]) for count in range(4)] == [
        "",
        "A",
        "A and B",
        "A, B and C",
    ]
    assert join_as_prose("ABCDE", 3) == "A, B, C and 2 more"
    assert join_as_prose("ABC", 3) == "A, B and C"


def test_counts_with_their_word() -> None:
    """One is one; more have an s, or a word of their own."""
    assert (pluralize(1, "line"), pluralize(1200, "line")) == ("1 line", "1,200 lines")
    assert pluralize(2, "delivery", "deliveries") == "2 deliveries"


def test_spans_of_time_in_the_unit_one_would_say() -> None:
    """Seconds below a minute, minutes below some two hours, then hours, and whole days."""
    told = {0.2: "1 second", 59: "59 seconds", 61: "2 minutes", 5400: "90 minutes"}
    told |= {7200: "2 hours", 3 * 86_400: "3 days", 0: "0 seconds"}
    assert {each: seconds_in_words(each) for each in told} == told


def test_spans_of_time_that_nobody_holds_to_the_second() -> None:
    """A moment, minutes, by fives where there are many, hours and days."""
    told = {3: "a moment", 60: "about a minute", 170: "about 3 minutes", 662: "about 15 minutes"}
    told |= {3000: "about an hour", 3600: "about an hour", 7000: "about 2 hours"}
    told |= {86_400: "about a day", 85_000: "about a day", 40_000: "about 11 hours"}
    assert {each: about_in_words(each) for each in told} == told
