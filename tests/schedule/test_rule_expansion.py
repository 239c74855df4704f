"""The rings of a rule, against a plain reading: all local moments, given their zone, in order."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from dateutil.rrule import rrulestr
from hypothesis import given, settings
from hypothesis import strategies as st

from loopforge.errors import InputError
from loopforge.schedule.rule_expansion import (
    check_start,
    nearer_start,
    next_ring,
    rule_moments,
    rule_of,
)
from tests.examples import few

BERLIN = ZoneInfo("Europe/Berlin")
CHANGES = {
    "Europe/Berlin": (datetime(2026, 3, 29, 1, tzinfo=UTC), datetime(2026, 10, 25, 1, tzinfo=UTC)),
    "America/New_York": (
        datetime(2026, 3, 8, 7, tzinfo=UTC),
        datetime(2026, 11, 1, 6, tzinfo=UTC),
    ),
    "Australia/Lord_Howe": (
        datetime(2026, 4, 4, 15, tzinfo=UTC),
        datetime(2026, 10, 3, 15, 30, tzinfo=UTC),
    ),
}
RULES = st.one_of(
    st.sampled_from((10, 25, 40, 45, 50, 90)).map("FREQ=MINUTELY;INTERVAL={}".format),
    st.integers(1, 7).map("FREQ=HOURLY;INTERVAL={}".format),
    st.sampled_from(
        (
            "FREQ=DAILY;BYHOUR=1,2,3;BYMINUTE=0,30",
            "FREQ=DAILY;INTERVAL=2;BYHOUR=2;BYMINUTE=30",
            "FREQ=WEEKLY;BYDAY=SA,SU,MO;BYHOUR=0,2;BYMINUTE=15,45",
            "FREQ=HOURLY;INTERVAL=2;BYMINUTE=10,50",
            "FREQ=MINUTELY;INTERVAL=20;BYHOUR=1,2,3",
        )
    ),
)


def rung(rule: str, start: datetime, after: datetime, zone: ZoneInfo, most: int) -> list[datetime]:
    """The next rings, one after the other."""
    found = [after]
    while len(found) <= most and (ring := next_ring(rule, start, found[-1], zone)) is not None:
        found.append(ring)
    return found[1:]


@settings(max_examples=few(60))
@given(
    rule=RULES,
    where=st.sampled_from(sorted(CHANGES)),
    change=st.integers(0, 1),
    before=st.integers(0, 600),
    age=st.integers(0, 3000),
)
def test_a_rule_rings_as_it_says_over_changes_of_the_clock(
    rule: str, where: str, change: int, before: int, age: int
) -> None:
    """Each moment once, in order, wherever one begins to look."""
    zone = ZoneInfo(where)
    after = CHANGES[where][change] - timedelta(minutes=before)
    local = after.astimezone(zone).replace(tzinfo=None, fold=0)
    start = local - timedelta(minutes=age, days=3)
    plain = rrulestr(f"{rule};BYSECOND=0", dtstart=start)
    near = plain.between(local - timedelta(days=1), local + timedelta(days=12), inc=True)
    meant = sorted({one.replace(tzinfo=zone).astimezone(UTC) for one in near})
    wanted = [one for one in meant if one > after][:12]
    assert rung(rule, start, after, zone, len(wanted)) == wanted


def test_a_rule_by_minutes_rings_all_through_its_hours() -> None:
    """Every twenty minutes between nine and eleven is six rings, not two."""
    start = datetime.fromisoformat("2026-06-01")
    found = rung(
        "FREQ=MINUTELY;INTERVAL=20;BYHOUR=9,10", start, start.replace(tzinfo=BERLIN), BERLIN, 6
    )
    local = [one.astimezone(BERLIN).strftime("%H:%M") for one in found[:6]]
    assert local == ["09:00", "09:20", "09:40", "10:00", "10:20", "10:40"]


def test_what_the_clocks_put_forward_keeps_no_later_ring_away() -> None:
    """02:15 is left out and rings at 03:15; three o'clock rings before it."""
    after = datetime(2026, 3, 29, 0, 45, tzinfo=UTC)
    found = rung(
        "FREQ=MINUTELY;INTERVAL=45", datetime.fromisoformat("2026-03-29"), after, BERLIN, 3
    )
    assert [f"{one.astimezone(BERLIN):%H:%M}" for one in found] == ["03:00", "03:15", "03:45"]


@pytest.mark.parametrize("rule", ["FREQ=MINUTELY;INTERVAL=7", "FREQ=HOURLY;INTERVAL=5"])
def test_an_old_rule_goes_on_in_its_own_steps(rule: str) -> None:
    """After thirty years it rings as far from its beginning as ever, and is found at once."""
    start, after = datetime.fromisoformat("1996-01-01T00:03"), datetime(2026, 6, 1, tzinfo=UTC)
    step = timedelta(minutes=7) if "MINUTELY" in rule else timedelta(hours=5)
    found = rung(rule, start, after, ZoneInfo("UTC"), 5)
    assert (found[0].replace(tzinfo=None) - start) % step == timedelta()
    assert found[0] - after <= step
    assert {later - one for one, later in pairwise(found)} == {step}


MONDAY = datetime.fromisoformat("2026-03-02T10:00")
NEVER = (
    "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
    "FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30",
    "FREQ=MINUTELY;INTERVAL=30;BYMONTH=4;BYMONTHDAY=31",
    "FREQ=DAILY;INTERVAL=7;BYDAY=TU",
    "FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30;UNTIL=20280101",
    "FREQ=MINUTELY;BYMINUTE=59;BYHOUR=23;BYMONTH=2;BYMONTHDAY=30",
)
ENDLESS = (
    "FREQ=DAILY;INTERVAL=0",
    "FREQ=MINUTELY;INTERVAL=00",
    "FREQ=MINUTELY;BYSETPOS=2",
    "FREQ=MINUTELY;INTERVAL=7;BYMINUTE=59;BYHOUR=23;BYMONTH=2;BYMONTHDAY=30",
    "FREQ=HOURLY;INTERVAL=2;BYHOUR=11;BYDAY=MO",
)
BY_DAYS = (
    "FREQ=HOURLY;BYDAY=MO,WE",
    "FREQ=HOURLY;INTERVAL=3;BYDAY=MO;BYMINUTE=5,50",
    "FREQ=HOURLY;INTERVAL=2;BYHOUR=8,9,10;BYMINUTE=0;BYDAY=TU;COUNT=7",
    "FREQ=HOURLY;BYMONTHDAY=3;BYMONTH=3,5;UNTIL=20260503T040000",
    "FREQ=MINUTELY;INTERVAL=20;BYDAY=MO;BYHOUR=12,20",
    "FREQ=MINUTELY;BYMINUTE=7,58;BYMONTHDAY=-1",
    "FREQ=MINUTELY;INTERVAL=45;BYDAY=TU",
)


@pytest.mark.parametrize("rule", BY_DAYS)
def test_a_rule_by_hours_of_some_days_rings_as_it_says(rule: str) -> None:
    """At the same moments as one that is stepped through hour by hour, minute by minute."""
    start = MONDAY.replace(minute=40)
    plain = rrulestr(f"{rule};BYSECOND=0", dtstart=start)
    assert rule_moments(rule_of(rule, start), start) == list(plain.xafter(start, count=60))


@pytest.mark.parametrize("rule", NEVER)
def test_a_rule_that_never_rings_is_found_out_at_once(rule: str) -> None:
    """It is not looked for to the end of the calendar, which took a minute and the whole home."""
    assert rule_moments(rule_of(rule, MONDAY), MONDAY) == []


@pytest.mark.parametrize("rule", ENDLESS)
def test_a_rule_that_would_be_looked_for_without_end_is_refused(rule: str) -> None:
    """Steps of nothing, the second of one, and those that meet what is asked on no day or few."""
    with pytest.raises(InputError):
        rule_of(rule, MONDAY)


def test_a_rule_that_rings_seldom_still_does() -> None:
    """The 29th of February; the next of them on a Sunday is in six years."""
    rule = "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29;BYHOUR=9;BYMINUTE=0"
    (tuesday,) = rule_moments(rule_of(rule, MONDAY), MONDAY, 1)
    (sunday,) = rule_moments(rule_of(rule + ";BYDAY=SU", MONDAY), MONDAY, 1)
    assert [f"{tuesday:%Y-%m-%d}", f"{sunday:%Y-%m-%d}"] == ["2028-02-29", "2032-02-29"]


class Stepped:
    """A rule, with how many of its moments were run through."""

    def __init__(self, rule: Any) -> None:
        self.rule, self.steps = rule, 0
        self._dtstart, self.replace = rule._dtstart, rule.replace

    def xafter(self, after: datetime) -> Iterator[datetime]:
        """Its moments after one, as dateutil finds them."""
        for moment in self.rule:
            self.steps += 1
            if moment > after:
                yield moment


@given(
    rule=st.sampled_from(
        (
            "FREQ=DAILY",
            "FREQ=DAILY;INTERVAL=3;BYHOUR=8,20",
            "FREQ=DAILY;INTERVAL=5;BYDAY=MO,FR",
            "FREQ=DAILY;BYHOUR=6,12,18;BYSETPOS=-1",
            "FREQ=WEEKLY",
            "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,SU;BYHOUR=9",
            "FREQ=WEEKLY;INTERVAL=3;WKST=SU;BYDAY=SU,TU",
            "FREQ=WEEKLY;BYDAY=MO,WE,FR;BYSETPOS=2",
            "FREQ=MINUTELY; INTERVAL= 45",
            "rrule:freq=hourly;interval=7",
        )
    ),
    days=st.integers(0, 900),
    minutes=st.integers(0, 1439),
)
@settings(max_examples=few(60))
def test_a_rule_that_began_long_ago_rings_the_same_from_nearer_on(
    rule: str, days: int, minutes: int
) -> None:
    """Weeks and days keep their step, their time and their weekday; few of them are run through."""
    start = datetime.fromisoformat("2024-02-28T23:50")
    now = start + timedelta(days=days, minutes=minutes)
    near = nearer_start(rule, start, now)
    stepped = Stepped(rule_of(rule, near))
    assert start <= near <= now
    assert rule_moments(stepped, now, 20) == rule_moments(rule_of(rule, start), now, 20)
    assert stepped.steps < 50


def test_what_began_too_long_ago_is_refused() -> None:
    """Where each ring has to be run through the beginning is near; else it is within ten years."""
    now = datetime.fromisoformat("2026-03-01")
    check_start("FREQ=DAILY;COUNT=5", now - timedelta(days=30), now)
    check_start("FREQ=MINUTELY", now - timedelta(days=3000), now)
    with pytest.raises(InputError, match="a rule with a COUNT begins now"):
        check_start("FREQ=MINUTELY; COUNT=5", now - timedelta(days=40), now)
    with pytest.raises(InputError, match="not more than ten years ago"):
        check_start("FREQ=WEEKLY", datetime.fromisoformat("0001-01-01"), now)


@pytest.mark.parametrize("part", ["BYHOUR=24", "BYMINUTE=5,60", "BYSECOND=-1", "BYHOUR=+3"])
def test_what_no_clock_shows_is_refused(part: str) -> None:
    """Hours go to 23, minutes and seconds to 59."""
    with pytest.raises(InputError, match=part.partition("=")[0]):
        rule_of(f"FREQ=DAILY;{part}", datetime.fromisoformat("2026-03-01"))
