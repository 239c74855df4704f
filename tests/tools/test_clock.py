"""The clock: now and here, elsewhere, later, and how long until."""

from datetime import UTC, datetime

import pytest

from loopforge.errors import InputError
from loopforge.runtime.ports import ToolCall
from loopforge.tools.clock import clock_tool, zone_of
from tests.tools.conftest import tool_home

NOW = datetime(2026, 11, 23, 13, 5, tzinfo=UTC)


async def told(**arguments: str) -> str:
    """What the clock of a home in Berlin says."""
    call = ToolCall(arguments=dict(arguments))
    return str(await clock_tool.make(tool_home(NOW, "Europe/Berlin"))(call))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "Monday 23 November 2026, 14:05 (Europe/Berlin)"),
        ({"zone": "Asia/Tokyo"}, "Monday 23 November 2026, 22:05 (Asia/Tokyo)"),
        (
            {"zone": "America/New_York", "at": "2026-11-23T15:00", "into": "Asia/Tokyo"},
            "Tuesday 24 November 2026, 05:00 (Asia/Tokyo)",
        ),
        ({"add": "3 weeks 2 days"}, "Wednesday 16 December 2026, 14:05 (Europe/Berlin)"),
        ({"add": "-90 minutes"}, "Monday 23 November 2026, 12:35 (Europe/Berlin)"),
        ({"at": "2026-01-31", "add": "1 month"}, "Saturday 28 February 2026, 00:00"),
        ({"at": "2026-11-23T18:00-05:00"}, "Tuesday 24 November 2026, 00:00 (Europe/Berlin)"),
    ],
)
async def test_times_in_words(arguments: dict[str, str], said: str) -> None:
    """Each with its day and zone, so that nobody has to count."""
    assert (await told(**arguments)).startswith(said)


@pytest.mark.parametrize(
    ("add", "said"), [("1 day", "03:30"), ("24 hours", "03:30"), ("23 hours", "01:30")]
)
async def test_the_night_the_clocks_go_forward(add: str, said: str) -> None:
    """There is no 02:30 on 29 March 2026 in Berlin; hours are counted as they pass."""
    at = {"1 day": "2026-03-28T02:30"}.get(add, "2026-03-28T02:30")
    assert f"29 March 2026, {said}" in await told(at=at, add=add)


@pytest.mark.parametrize(
    ("until", "said"),
    [
        ("2026-12-24", "30 days, 9 hours, 55 minutes"),
        ("2026-11-23T14:05", "no time"),
        ("2026-11-22T14:05", "1 day ago"),
    ],
)
async def test_how_long_until(until: str, said: str) -> None:
    """And how long ago, where it is over."""
    assert (await told(until=until)).endswith(f": {said}")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"zone": "Mars/Base"}, "no time zone is called 'Mars/Base'"),
        ({"into": "new york"}, "use one like America/New_York"),
        ({"at": "tomorrow"}, "no date such as 2026-03-05"),
        ({"add": "soon"}, "no span such as 3 weeks"),
        ({"add": "999999 years"}, "beyond the calendar"),
        ({"at": "9998-12-31T23:00", "add": "2 hours"}, "beyond the calendar"),
        ({"at": "0001-01-01"}, "beyond the calendar"),
        ({"until": "9999-12-31T23:59-12:00"}, "beyond the calendar"),
    ],
)
async def test_what_it_does_not_know(arguments: dict[str, str], why: str) -> None:
    """A word in the place of a date is not guessed at."""
    with pytest.raises(InputError, match=why):
        await told(**arguments)


def test_a_zone_of_very_many_parts_is_none() -> None:
    """Python looks for each part of it in the one before, until it can no more."""
    with pytest.raises(InputError, match="no time zone is called 'a/a/a"):
        zone_of("a/" * 2000 + "b")
