"""Lines are cut into passages, and questions into cues."""

from datetime import UTC, datetime

import pytest

from loopforge.core.events import from_epoch_micros
from loopforge.memory.passages import (
    ASKING,
    TIMED,
    bag_of_words,
    pack_bag,
    passage_traits,
    search_stems,
    split_passages,
)
from loopforge.memory.time_cues import asks_when, time_named

NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)


def test_a_long_line_is_cut_where_sentences_end_and_loses_no_word() -> None:
    """Pieces have 20 to 45 words; a line of up to 45 is one; an empty one is one, too."""
    said = " ".join(f"Sentence {nth} says that {'much ' * (nth % 9)}is so." for nth in range(40))
    cut = split_passages(said)
    assert all(piece.endswith("is so.") for piece in cut)
    assert all(20 <= len(piece.split()) <= 45 for piece in cut)
    assert " ".join(cut) == said
    words = [f"word{nth}" for nth in range(410)]
    cut = split_passages(" ".join(words))
    assert [len(piece.split()) for piece in cut] == [45] * 8 + [50]
    assert " ".join(cut).split() == words
    assert split_passages("a " * 45) == ["a " * 45]
    assert split_passages("") == [""]


def test_words_become_numbers_that_cannot_be_read() -> None:
    """Five bytes a stem, endings and small words gone; scripts without spaces by pairs."""
    assert [*search_stems("Was the Bakery baking?")] == ["bakery", "bak"]
    assert [*search_stems("猫が好き")] == ["猫が", "が好", "好き"]
    kept = pack_bag(bag_of_words(search_stems("rhubarb rhubarb pie")))
    assert len(kept) == 10
    assert sorted(kept[-2:]) == [1, 2]
    assert b"rhubarb" not in kept


def test_traits_say_what_a_passage_is() -> None:
    """A time that is told, a question that is asked."""
    assert passage_traits("We went last week.") == TIMED
    assert passage_traits("Did you like it?") == ASKING
    assert passage_traits("Yes, a lot.") == 0


@pytest.mark.parametrize(
    ("question", "since", "until"),
    [
        ("What did we plant last spring?", "2026-03-01", "2026-06-01"),
        ("what happened in December", "2025-12-01", "2026-01-01"),
        ("Where was Ana in May 2023?", "2023-05-01", "2023-06-01"),
        ("What did I read during 2024?", "2024-01-01", "2025-01-01"),
        ("Was haben wir letzten Sommer gemacht?", "2026-06-01", "2026-09-01"),
    ],
)
def test_a_time_that_is_named_is_a_span(question: str, since: str, until: str) -> None:
    """Months and seasons are the last that began, unless a year is said."""
    span = time_named(question, NOW)
    assert span is not None
    assert (
        f"{from_epoch_micros(span.since):%Y-%m-%d}",
        f"{from_epoch_micros(span.until):%Y-%m-%d}",
    ) == (since, until)


def test_times_that_are_counted_back_hold_the_day_that_is_meant() -> None:
    """Ago and yesterday are not exact; what names no time gives none."""
    for question, day in {
        "what did I say three weeks ago?": datetime(2026, 11, 3, 12, tzinfo=UTC),
        "was hat Bo vor zwei Tagen gesagt": datetime(2026, 11, 22, 12, tzinfo=UTC),
        "what was it yesterday?": datetime(2026, 11, 23, 12, tzinfo=UTC),
    }.items():
        span = time_named(question, NOW)
        assert span is not None, question
        assert from_epoch_micros(span.since) <= day < from_epoch_micros(span.until)
    assert time_named("Which tea does Ana like?", NOW) is None
    assert asks_when("When did she leave?")
    assert not asks_when("Whenever is not a question")
