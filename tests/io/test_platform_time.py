"""How late it is by a platform's own clock, and what is said of a clock of ours that is wrong."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

from loopforge.io.platforms.platform_time import PlatformTime
from tests.sim_clock import SimClock

NOON = datetime(2026, 3, 25, 12, tzinfo=UTC)
AMISS = "this machine's clock is {} Bell's, so that reminders ring at a wrong time"


def told(time: PlatformTime, at: datetime) -> None:
    """The platform gives an answer of this date."""
    time.answered(format_datetime(at, usegmt=True))


async def test_the_platforms_time_goes_on_between_its_answers() -> None:
    """It is told by an answer, goes on by ticks, and something is as old as the platform says."""
    clock = SimClock(NOON)
    time = PlatformTime(clock)
    assert time.now() == NOON
    told(time, NOON - timedelta(hours=13))
    await clock.advance(60)
    assert time.now() == NOON - timedelta(hours=13) + timedelta(minutes=1)
    assert time.age(NOON - timedelta(hours=14)) == timedelta(hours=1, minutes=1)
    assert time.age(NOON) == timedelta()
    assert time.amiss("Bell") == AMISS.format("13 hours ahead of")


async def test_what_is_no_date_is_passed_over() -> None:
    """An answer without a date, or with one that cannot be read, says nothing."""
    time = PlatformTime(SimClock(NOON))
    for date in (None, "", "soon", "Wed, 99 Mar 2026 12:00:00 GMT"):
        time.answered(date)
    assert (time.now(), time.amiss("Bell")) == (NOON, "")


async def test_a_clock_that_is_set_right() -> None:
    """It is right at once, also before the next answer, and nothing becomes old by that."""
    clock = SimClock(NOON)
    time = PlatformTime(clock)
    told(time, NOON + timedelta(hours=13))
    assert time.amiss("Bell") == AMISS.format("13 hours behind")
    clock.correct(timedelta(hours=13))
    assert time.age(NOON + timedelta(hours=13)) == timedelta()
    assert time.amiss("Bell") == ""


async def test_a_machine_that_slept() -> None:
    """Its ticks stood still, its clock did not: it is not called wrong for that."""
    clock = SimClock(NOON)
    time = PlatformTime(clock)
    told(time, NOON)
    clock.correct(timedelta(hours=8))
    assert time.amiss("Bell") == ""


async def test_a_clock_that_is_a_little_wrong() -> None:
    """Some minutes are nobody's business; and what is told stays the same from answer to answer."""
    clock = SimClock(NOON)
    time = PlatformTime(clock)
    told(time, NOON - timedelta(minutes=4))
    assert time.amiss("Bell") == ""
    told(time, NOON - timedelta(hours=12, minutes=29, seconds=59))
    said = time.amiss("Bell")
    told(time, NOON - timedelta(hours=12, minutes=30, seconds=1))
    assert said == time.amiss("Bell") == AMISS.format("12 hours ahead of")
