"""When mates may speak up, as it is written and as it falls."""

from datetime import UTC, datetime, timedelta

import pytest

from loopforge.core.mates.unprompted_times import (
    UnpromptedTimes,
    describe_unprompted_times,
    next_moment,
    read,
    spell,
)

NINE = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("after 3 hours", UnpromptedTimes(after=180)),
        ("At 08:30, after 1 day", UnpromptedTimes(after=1440, at=("08:30",))),
        ("after 1 minute", None),
        ("after 3 hours, after 4 hours", None),
        ("at 8:30", None),
        ("at 24:00", None),
        ("often", None),
        ("", None),
    ],
)
def test_times_are_read_as_they_are_written(text: str, times: UnpromptedTimes | None) -> None:
    """What is no time is none; a silence lies between five minutes and a week."""
    assert read(text) == times
    if times:
        assert read(describe_unprompted_times(times).replace(" of silence", "")) == times


def test_the_next_moment_is_the_first_that_interrupts_nobody() -> None:
    """An hour right after a line waits for the next day; one long past is let go; so is a silence."""
    both = UnpromptedTimes(after=180, at=("09:10", "11:00"))
    assert next_moment(both, NINE, NINE, UTC) == (NINE + timedelta(hours=2), "hour")
    late = NINE + timedelta(hours=4)
    assert next_moment(both, NINE, late, UTC) == (NINE + timedelta(hours=3), "silence")
    gone = NINE + timedelta(days=3)
    hour = datetime(2026, 11, 24, 9, 10, tzinfo=UTC)
    assert next_moment(both, NINE, gone, UTC) == (hour, "hour")
    assert next_moment(UnpromptedTimes(after=180), NINE, gone, UTC) is None


def test_spans_are_spelled_in_words() -> None:
    """As somebody would say them."""
    assert [spell(each) for each in (0, 1, 59, 60, 90, 120, 150, 1440, 3000)] == [
        "a moment",
        "1 minute",
        "59 minutes",
        "1 hour",
        "90 minutes",
        "2 hours",
        "2 hours",
        "1 day",
        "2 days",
    ]
