"""Which repetitions words may mean, and whether a rule is one of them: told by their moments."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from itertools import islice, product, takewhile
from typing import Any

from msgspec import Struct

from loopforge.schedule.phrases.phrase_reading import WORKING, DayClaim, HourClaim, SpokenWhen
from loopforge.schedule.rule_expansion import rule_moments, rule_of
from loopforge.schedule.spoken_moments import Open, add_span, days_of, hours_of, possible_moments

_FREQ = {"min": "MINUTELY", "h": "HOURLY", "d": "DAILY", "w": "WEEKLY", "mo": "MONTHLY"}
_FREQ |= {"y": "YEARLY"}
_MOST_IN_SPAN = 1000
"""Rings among which the last one of a span is looked for; one a day for nearly three years."""
_DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")


class SpokenRules(Struct, frozen=True, kw_only=True):
    """What words may mean: RRULEs without their beginning, the likely ones first among them."""

    all: tuple[str, ...] = ()
    likely: tuple[str, ...] = ()
    open: Open = ""


def possible_rules(spoken: SpokenWhen) -> SpokenRules:
    """The rules that words with a repetition may mean."""
    if spoken.past or spoken.vague:
        return SpokenRules(open="past" if spoken.past else "vague")
    if spoken.offset:
        return SpokenRules(open="unclear")
    if spoken.inclusive and spoken.every:
        return _either_way(spoken, int(spoken.every[0]))
    if spoken.every and spoken.every[1] == "d" and spoken.every[0] % 7 == 0:
        spoken.every = (spoken.every[0] / 7, "w")  # every 14 days, on a Monday
    parts = _days_of_rule(spoken)
    if isinstance(parts, str):
        return SpokenRules(open=parts)
    number, unit = spoken.every or (1, "w")
    if number != int(number) or number < 1:
        return SpokenRules(open="unclear")
    short = unit in ("min", "h")
    written = [f"FREQ={_FREQ[unit]}"] if unit in _FREQ else []
    written += [f"INTERVAL={int(number)}"] if number != 1 else []
    fixed = ";".join((*written, *parts))
    if spoken.window:
        return _windowed(spoken, fixed, int(number), unit)
    if short and not spoken.hours:
        return (
            SpokenRules(all=(fixed,), likely=(fixed,))
            if not spoken.parts
            else SpokenRules(open="unclear")
        )
    if not spoken.hours:
        return SpokenRules(open="hour")
    return _at_hours(spoken, fixed, short=short)


def _either_way(spoken: SpokenWhen, days: int) -> SpokenRules:
    """Every so many days, and with today counted: "tous les quinze jours" may be two weeks."""
    found = [
        possible_rules(replace(spoken, every=(number, "d"), inclusive=False))
        for number in (days - 1, days)
    ]
    if any(one.open == "hour" for one in found):
        return SpokenRules(open="hour")
    if any(one.open for one in found):
        return SpokenRules(open="unclear")
    every = tuple(rule for one in found for rule in one.all)
    return SpokenRules(all=every, likely=every)


def _days_of_rule(spoken: SpokenWhen) -> list[str] | Open:
    """The parts of a rule that say on which days; or what is open."""
    unit = spoken.every[1] if spoken.every else "w"
    days = [*spoken.weekdays]
    rest = []
    for claim in spoken.days:
        if claim.kind == "wd":
            days += [claim.weekday] if claim.weekday not in days else []
        else:
            rest.append(claim)
    parts = [f"BYDAY={','.join(_DAYS[day] for day in sorted(days))}"] if days else []
    if spoken.nth:
        nth, weekday = spoken.nth
        parts = [f"BYDAY={nth}{_DAYS[weekday]}"]
        if weekday == WORKING:
            parts = [f"BYDAY={','.join(_DAYS[:5])}", f"BYSETPOS={nth}"]
    if days and unit not in ("w", "h", "min") and not spoken.nth:
        return "unclear"
    monthdays = list(spoken.monthdays)
    for claim in rest:
        if claim.kind == "monthday" and unit == "mo":
            monthdays.append(claim.day)
        elif claim.kind == "monthend" and unit == "mo":
            monthdays.append(-1)
        elif unit == "y" and (yearly := _yearly(claim)):
            parts += yearly
        else:
            return "unclear"
    if monthdays:
        parts.append(f"BYMONTHDAY={','.join(map(str, sorted(monthdays)))}")
    if unit in ("mo", "y", "w") and not parts:
        return "day"
    return parts


def _yearly(claim: DayClaim) -> list[str]:
    if claim.kind == "date" and not claim.year:
        return [f"BYMONTH={claim.month}", f"BYMONTHDAY={claim.day}"]
    if claim.kind == "holiday" and "-" in claim.name and claim.name[0].isdigit():
        month, day = map(int, claim.name.split("-"))
        return [f"BYMONTH={month}", f"BYMONTHDAY={day}"]
    return []


def _windowed(spoken: SpokenWhen, fixed: str, number: int, unit: str) -> SpokenRules:
    """Every so many hours between two, the later one with or without its own ring."""
    assert spoken.window
    first, last = spoken.window
    if unit != "h" or spoken.hours or last.hour <= first.hour:
        return SpokenRules(open="unclear")
    found = []
    for end in (last.hour, last.hour + 1):
        hours = ",".join(str(hour % 24) for hour in range(first.hour, end, number))
        days = ";".join(part for part in fixed.split(";") if part.startswith("BYDAY"))
        rule = f"FREQ=DAILY;BYHOUR={hours};BYMINUTE={first.minute}"
        found.append(f"{rule};{days}" if days else rule)
    return SpokenRules(all=tuple(found), likely=tuple(found))


def _at_hours(spoken: SpokenWhen, fixed: str, *, short: bool) -> SpokenRules:
    """The rule with each hour that may be meant."""
    offered: list[list[tuple[HourClaim, int, bool]]] = []
    for claim in spoken.hours:
        hours, sure = hours_of(claim, spoken.parts)
        offered.append([(claim, hour % 24, hour in sure) for hour in hours])
    if short or len({claim.minute for claim in spoken.hours}) > 1:
        return SpokenRules(open="unclear")
    found, likely = [], []
    for each in product(*offered):
        hours_in = sorted({hour for _, hour, _ in each})
        rule = f"{fixed};BYHOUR={','.join(map(str, hours_in))};BYMINUTE={spoken.hours[0].minute}"
        found.append(rule)
        if all(good for _, _, good in each):
            likely.append(rule)
    if not found:
        return SpokenRules(open="unclear")
    return SpokenRules(all=tuple(dict.fromkeys(found)), likely=tuple(dict.fromkeys(likely)))


def bounded_rule(spoken: SpokenWhen, now: datetime) -> tuple[str, str]:
    """The likely rule with the end that the words give it, and from when on it goes, or ""."""
    likely = possible_rules(spoken).likely
    begin = _begin(spoken, now)
    if not likely or begin is None:
        return (likely[0] if likely else "", "")
    start = begin.isoformat(timespec="minutes") if spoken.begin is not None else ""
    return likely[0] + _end_of(likely[0], spoken, begin, now), start


def _end_of(rule: str, spoken: SpokenWhen, begin: datetime, now: datetime) -> str:
    """The part of a rule that says when it is over."""
    if spoken.count:
        return f";COUNT={spoken.count}"
    last: datetime | None = None
    if spoken.span:
        due = rule_moments(
            rule_of(rule, begin), max(now, begin - timedelta(seconds=1)), _MOST_IN_SPAN
        )
        end = add_span(due[0], *spoken.span) if due else now
        inside = [one for one in due if one < end]
        if inside:
            last = inside[-1] if len(inside) < _MOST_IN_SPAN else end - timedelta(minutes=1)
    elif spoken.until is not None and spoken.until.hours:
        last = next(iter(possible_moments(spoken.until, now).likely), None)
    elif spoken.until is not None and not isinstance(days := days_of(spoken.until, now), str):
        last = datetime.combine(days[0], time(23, 59)) if days else None
    return f";UNTIL={last:%Y%m%dT%H%M00}" if last else ""


# ---------------------------------------------------------------- comparing


def rings_as_spoken(wanted: str, rule: Any, spoken: SpokenWhen, now: datetime) -> bool:
    """Whether a rule rings when the words say, at its first 60 moments.

    Where words leave open with which of several days or hours it begins, any of the first will do.
    """
    from dateutil.rrule import rrulestr

    begin = _begin(spoken, now)
    if begin is None:
        return False
    found = rule_moments(rule, now)
    if not found or found[0] < begin:
        return False
    number, unit = spoken.every or (1, "w")
    loose = (number > 1 or unit in ("min", "h")) and not spoken.window
    if loose:
        limit = add_span(max(begin, now), number, unit)
        if found[0] > limit + (timedelta(days=7) if unit == "w" else timedelta(minutes=1)):
            return False
    anchor = found[0] if loose else begin
    if "BYHOUR" in wanted:
        anchor = datetime.combine(anchor.date(), time())
    expected = rrulestr(f"{wanted};BYSECOND=0", dtstart=anchor.replace(second=0, microsecond=0))
    due = rule_moments(expected, max(now, begin - timedelta(seconds=1)))
    return any(found == one for one in _ended(due, spoken, now))


def _begin(spoken: SpokenWhen, now: datetime) -> datetime | None:
    """From when on the words want it; None where that cannot be said."""
    if spoken.begin is None:
        return now
    days = days_of(spoken.begin, now)
    if isinstance(days, str) or len(days) != 1:
        week = [one for one in spoken.begin.days if one.kind == "week"]
        if not week or len(spoken.begin.days) != 1:
            return None
        monday = now.date() - timedelta(days=now.weekday()) + timedelta(weeks=week[0].n)
        return datetime.combine(monday, time())
    return max(now, datetime.combine(days[0], time()))


def _ended(due: Sequence[datetime], spoken: SpokenWhen, now: datetime) -> list[list[datetime]]:
    """The moments as far as the words want them; more ways where an end may be in or out."""
    if spoken.count:
        return [list(islice(due, spoken.count))]
    if spoken.span and due:
        number, unit = spoken.span
        ends = [add_span(due[0], number, unit), add_span(now, number, unit)]
        return [
            *([one for one in due if one < end] for end in ends),
            *([one for one in due if one <= end] for end in ends),
        ]
    if spoken.until is not None and spoken.until.hours:
        likely = possible_moments(spoken.until, now).likely
        if len(likely) != 1:
            return []
        inside = list(takewhile(lambda one: one <= likely[0], due))
        return [inside, [one for one in inside if one < likely[0]]]
    if spoken.until is not None:
        days = days_of(spoken.until, now)
        if isinstance(days, str) or not days:
            return []
        last: date = days[0]
        return [
            list(takewhile(lambda one: one.date() <= last, due)),
            list(takewhile(lambda one: one.date() < last, due)),
        ]
    return [list(due)]
