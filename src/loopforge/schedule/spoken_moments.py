"""Which moments words may mean, seen from a moment: all that they can, and the likely one.

Times here are local and bear no zone. A word that leaves open which of two days or halves of a day
is meant gives both; nothing is settled here that people would settle differently.
"""

import calendar
from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from typing import Literal

from msgspec import Struct

from loopforge.schedule.phrases.phrase_reading import DayClaim, HourClaim, SpokenWhen

Open = Literal["", "hour", "day", "which", "vague", "unclear", "past"]
"""What is left open: the hour, the day, which of several, a span nobody counted, what was meant."""
FIXED = ("date", "plus", "monthday", "monthend", "holiday", "shifted", "either", "weeks from",
         "weekday of week", "nth of")  # fmt: skip
EXACT_UNITS = {"s": 1, "min": 60, "h": 3600}
LAST = datetime.combine(date(9999, 12, 29), time())
"""The end of the calendar, whatever zone it is told in."""
SURE_BARE = range(9, 12)
SURE_CLOCK = range(7, 13)
"""Hours that without a half of the day mean the morning, as people say them and as clocks show."""


class SpokenMoments(Struct, frozen=True, kw_only=True):
    """What words may mean: every moment, and those of them that are `likely`, earliest first."""

    all: tuple[datetime, ...] = ()
    likely: tuple[datetime, ...] = ()
    open: Open = ""


def possible_moments(spoken: SpokenWhen, now: datetime) -> SpokenMoments:
    """The moments that words without a repetition may mean."""
    if spoken.past:
        return SpokenMoments(open="past")
    if spoken.vague:
        return SpokenMoments(open="vague")
    days = days_of(spoken, now)
    if isinstance(days, str):
        return SpokenMoments(open=days)
    exact = [(n, unit) for n, unit in spoken.offset if unit in EXACT_UNITS]
    if exact:
        if spoken.days or spoken.hours or spoken.parts:
            return SpokenMoments(open="unclear")
        return _after(spoken, now)
    if not spoken.hours:
        if spoken.offset and not spoken.parts and not spoken.days:
            return _after(spoken, now)
        return SpokenMoments(open="hour" if days or spoken.parts else "unclear")
    return _timed(spoken, days, now)


def _after(spoken: SpokenWhen, now: datetime) -> SpokenMoments:
    """A span from now: days, weeks and months on the calendar, hours by the clock."""
    found = now
    for number, unit in spoken.offset:
        found = add_span(found, number, unit)
    both = (found - timedelta(days=1), found) if spoken.inclusive else (found,)
    return SpokenMoments(all=both, likely=both)


def add_span(start: datetime, number: float, unit: str) -> datetime:
    """So much later, on the calendar or by the clock; LAST, where the calendar is over by then."""
    from dateutil.relativedelta import relativedelta

    last = LAST.replace(tzinfo=start.tzinfo)
    try:
        if unit in EXACT_UNITS:
            return min(start + timedelta(seconds=number * EXACT_UNITS[unit]), last)
        if unit in ("d", "w"):
            return min(start + timedelta(days=number * (7 if unit == "w" else 1)), last)
        months = round(number * (12 if unit == "y" else 1))
        found: datetime = start + relativedelta(months=months)
        return min(found, last)
    except (OverflowError, ValueError):
        return last


# ---------------------------------------------------------------- days


def days_of(spoken: SpokenWhen, now: datetime) -> list[date] | Open:
    """The days that may be meant, or what is open about them; none where none is named."""
    today = now.date()
    claims, week = list(spoken.days), [one for one in spoken.days if one.kind == "week"]
    named = [one for one in claims if one.kind in ("wd", "this", "next")]
    fixed: list[list[date]] = [_dates(one, now) for one in claims if one.kind in FIXED]
    fixed += [_stepped(spoken, named, now)] if _calendar(spoken) else []
    if month := [one for one in claims if one.kind == "month"]:
        ahead = [one for one in claims if one.kind == "monthday"]
        if not ahead:
            return "day"
        fixed = [[_in_month(today, month[0].n, ahead[0].day)]]
    if week:
        if len(named) != 1:
            return "day" if not named else "which"
        monday = today - timedelta(days=today.weekday())
        fixed.append([monday + timedelta(weeks=week[0].n, days=named[0].weekday)])
    if fixed:
        both = set(fixed[0]).intersection(*fixed[1:])
        wanted = {one.weekday for one in named}
        found = sorted(day for day in both if not wanted or {day.weekday()} == wanted)
        return found or "unclear"
    if len({one.weekday for one in named}) > 1:
        return "which"
    if not named:
        return []
    together = set(_dates(named[0], now)).intersection(*(_dates(one, now) for one in named))
    return sorted(together) or "unclear"


def _calendar(spoken: SpokenWhen) -> bool:
    return bool(spoken.offset) and all(unit not in EXACT_UNITS for _, unit in spoken.offset)


def _stepped(spoken: SpokenWhen, named: list[DayClaim], now: datetime) -> list[date]:
    """Days so many days, weeks or months on; on a day of that week, where one is named."""
    days = [one.date() for one in _after(spoken, now).all]
    target = days[-1]
    weeks = [number for number, unit in spoken.offset if unit == "w"]
    if not named or len(weeks) != len(spoken.offset):
        return days
    weekday = named[0].weekday
    monday = target - timedelta(days=target.weekday())
    coming = _coming(now.date(), weekday) + timedelta(days=7 * sum(weeks))
    return sorted({monday + timedelta(days=weekday), coming})


def _coming(today: date, weekday: int) -> date:
    """The next such day after today."""
    return today + timedelta(days=(weekday - today.weekday() - 1) % 7 + 1)


def _dates(claim: DayClaim, now: datetime) -> list[date]:
    """The days that one claim allows."""
    today, coming = now.date(), _coming(now.date(), max(claim.weekday, 0))
    monday = today - timedelta(days=today.weekday())
    match claim.kind:
        case "plus":
            return [today + timedelta(days=claim.n)]
        case "wd":
            return [*([today] if today.weekday() == claim.weekday else []), coming]
        case "this":
            return [coming] if today.weekday() != claim.weekday else [today]
        case "next":
            later = [coming + timedelta(weeks=claim.n)]
            if coming - monday < timedelta(days=7):
                later.append(coming + timedelta(weeks=claim.n + 1))
            return later
        case "weekday of week":
            return [monday + timedelta(weeks=claim.n, days=claim.weekday)]
        case "weeks from":
            return [coming + timedelta(days=claim.n)]
        case "monthday":
            return [_monthday(today, claim.day)]
        case "monthend":
            return [_in_month(today, claim.n, 31)]
        case "date":
            return _dated(today, claim.day, claim.month, claim.year)
        case "either":
            one = _dated(today, claim.day, claim.month, claim.year)
            return sorted({*one, *_dated(today, claim.month, claim.day, claim.year)})
        case "holiday" | "shifted":
            return _feast(today, claim)
        case "nth of":
            return _nth_of_month(today, claim)
        case _:
            return []


def _dated(today: date, day: int, month: int, year: int) -> list[date]:
    """That day in that year, or in the next one that has it."""
    for each in [year] if year else range(today.year, today.year + 9):
        if day <= calendar.monthrange(each, month)[1] and (year or date(each, month, day) >= today):
            return [date(each, month, day)]
    return []


def _monthday(today: date, day: int) -> date:
    """The next such day of a month, today included."""
    found = today
    while found.day != day:
        found += timedelta(days=1)
    return found


def _in_month(today: date, months: int, day: int) -> date:
    """A day of the month so many months on, the last where it has fewer."""
    year, month = divmod(today.year * 12 + today.month - 1 + months, 12)
    return date(year, month + 1, min(day, calendar.monthrange(year, month + 1)[1]))


def feast(year: int, name: str) -> date:
    """A feast of a year: "12-25", or so many days from Easter ("easter+1")."""
    if name.startswith("easter"):
        from dateutil.easter import easter

        sunday: date = easter(year)
        return sunday + timedelta(days=int(name.removeprefix("easter") or 0))
    month, day = map(int, name.split("-"))
    return date(year, month, day)


def _feast(today: date, claim: DayClaim) -> list[date]:
    for year in [claim.year] if claim.year else range(today.year, today.year + 3):
        found = feast(year, claim.name) + timedelta(days=claim.n)
        if found >= today or claim.year:
            return [found]
    return []


def _nth_of_month(today: date, claim: DayClaim) -> list[date]:
    """Such as the second Tuesday of the next month, or of June."""
    first = _in_month(today, 0 if claim.name == "this" else 1, 1)
    if claim.month:
        year = today.year + (claim.month < today.month)
        first = date(year, claim.month, 1)
    last = calendar.monthrange(first.year, first.month)[1]
    every = [first.replace(day=day) for day in range(1, last + 1)]
    fitting = [day for day in every if day.weekday() == claim.weekday]
    nth = claim.n - 1 if claim.n > 0 else -1
    return [fitting[nth]] if nth < len(fitting) else []


# ---------------------------------------------------------------- hours


def hours_of(claim: HourClaim, parts: Iterable[str]) -> tuple[list[int], list[int]]:
    """The hours that may be meant (24 is midnight at the end), and the likely ones of them."""
    hour, wanted = claim.hour, list(parts)
    if claim.style == "exact":
        fits = all(_agrees(hour, part) for part in wanted)
        return ([hour], [hour]) if fits else ([], [])
    both = [hour, hour + 12]
    if wanted:
        fitting = [one for one in both if all(_agrees(one % 24 or one, part) for part in wanted)]
        return fitting, fitting if len(fitting) == 1 else []
    sure = SURE_CLOCK if claim.style == "clock" else SURE_BARE
    return both, [hour] if hour in sure else []


def _agrees(hour: int, part: str) -> bool:
    """Whether an hour lies in a part of the day; generously, as people speak."""
    spans = {
        "am": range(12),
        "pm": range(12, 24),
        "morning": range(1, 13),
        "afternoon": range(12, 21),
        "evening": (*range(16, 24), 24),
        "night": (*range(4), *range(17, 25)),
        "small": range(6),
        "midday": range(11, 16),
    }
    return hour in spans[part] or (hour == 24 and part in ("am", "night", "small"))


def _timed(spoken: SpokenWhen, days: list[date], now: datetime) -> SpokenMoments:
    """Every named hour on every named day that is still to come."""
    parts, found, likely = spoken.parts, set[datetime](), set[datetime]()
    tonight = any(one.kind == "plus" and one.n == 0 for one in spoken.days)
    for nth, claim in enumerate(spoken.hours):
        hours, sure = hours_of(claim, parts)
        here, good = set[datetime](), set[datetime]()
        for hour in hours:
            ahead = _on_days(hour, claim.minute, days, spoken, now, tonight=tonight)
            here.update(ahead)
            good.update(ahead if hour in sure else ())
        if nth and not found & here:
            return _open_between(found | here)
        found = found & here if nth else here
        likely = likely & good or (likely | good) & found if nth else good
    if not found:
        return SpokenMoments(open="past" if days else "unclear")
    likely &= found
    if not days and likely and min(likely) != min(found):
        likely = set()  # "at nine", said at two: this evening, or tomorrow morning?
    if not days and likely and min(likely).date() != now.date() and len(found) > 1:
        likely = set()
    if len(found) == 1:
        likely = found
    return SpokenMoments(all=tuple(sorted(found)), likely=tuple(sorted(likely)))


def _open_between(found: set[datetime]) -> SpokenMoments:
    """Several times of day that are not one: whoever said them has to choose."""
    both = tuple(sorted(found))
    return SpokenMoments(all=both, likely=both)


def _on_days(
    hour: int,
    minute: int,
    days: list[date],
    spoken: SpokenWhen,
    now: datetime,
    *,
    tonight: bool,
) -> list[datetime]:
    """When that hour is on these days, or next where none is named."""
    late = "night" in spoken.parts and hour % 24 < 6 and hour < 24
    of = days or [now.date(), now.date() + timedelta(days=1), now.date() + timedelta(days=2)]
    shifts = [1] if late and tonight else [0, 1] if late and days else [0]
    if hour == 24 and days and not tonight:
        shifts = [-1, 0]
    found = [
        datetime.combine(day + timedelta(days=shift + hour // 24), time(hour % 24, minute))
        for day in of
        for shift in shifts
    ]
    ahead = sorted({each for each in found if each > now})
    return ahead if days else ahead[:1]
