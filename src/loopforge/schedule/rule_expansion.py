"""Rules of repetition (RRULE, RFC 5545) as moments: expanded on local time, then given their zone.

So nine o'clock is nine o'clock all year, and "every twelve hours" by the wall clock is that too. A
time that the clocks leave out rings when they have been put forward (02:30 at 03:30); one that
comes twice rings the first time.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any
from zoneinfo import ZoneInfo

from loopforge.errors import InputError

FARTHEST = timedelta(days=3660)
"""How far off a first ring may be: ten years."""
COUNTED = timedelta(days=31)
"""How long ago a rule may have begun that counts its rings: each of them is run through."""
LOOKED = 60
"""Rings that are looked at to see how dense a rule is, and whether two are the same."""
RULE = re.compile(r"(?:RRULE:)?([A-Z]+=[A-Z0-9,+-]+(?:;[A-Z]+=[A-Z0-9,+-]+)*);?")
_UNTIL = re.compile(r"(\d{8}(?:T\d{4}(?:\d\d)?)?)Z?")
_KEPT = frozenset(
    "FREQ INTERVAL COUNT UNTIL BYDAY BYMONTHDAY BYMONTH BYHOUR BYMINUTE BYSETPOS WKST BYSECOND "
    "BYYEARDAY BYWEEKNO".split()
)
_DATES = frozenset({"BYMONTHDAY", "BYMONTH", "BYYEARDAY", "BYWEEKNO"})
_CLOCK = {"BYHOUR": 23, "BYMINUTE": 59, "BYSECOND": 59}
_CALENDAR = 400
"""Years after which the calendar is the same again, days of the week among it."""
_STEPS = {
    "MINUTELY": timedelta(minutes=1),
    "HOURLY": timedelta(hours=1),
    "DAILY": timedelta(days=1),
    "WEEKLY": timedelta(weeks=1),
}
"""By what a rule may be moved, times its INTERVAL, and ring as before."""
_MOST_STEPS = 20_000
"""Moments without a ring that are passed over, at most, in looking for the next."""


def rule_of(text: str, start: datetime) -> Any:
    """The rule, from a local moment on. Raises InputError, which says how rules are written."""
    from dateutil.rrule import rrulestr

    parts = _parts_of(text)
    if not parts or not set(parts) <= _KEPT or "FREQ" not in parts:
        raise InputError("the rule is no RRULE such as FREQ=WEEKLY;BYDAY=MO,FR;BYHOUR=9;BYMINUTE=0")
    if {"COUNT", "UNTIL"} <= set(parts):
        raise InputError("a rule ends by COUNT or by UNTIL, not by both")
    if not re.fullmatch(r"0*[1-9]\d{0,5}", parts.get("INTERVAL", "1"), re.ASCII):
        raise InputError("the INTERVAL of a rule is 1 or more, of six digits at most")
    for key, most in _CLOCK.items():
        if not all(one.isdecimal() and int(one) <= most for one in parts.get(key, "0").split(",")):
            raise InputError(f"the {key} of a rule are numbers from 0 to {most}")
    if "UNTIL" in parts:
        until = _UNTIL.fullmatch(parts["UNTIL"])
        if until is None:
            raise InputError("the UNTIL of a rule is a moment such as 20261231T235900")
        parts["UNTIL"] = until[1]
    parts = _by_days(parts, start)
    written = ";".join(f"{key}={value}" for key, value in parts.items())
    if "BYHOUR" in parts and "BYMINUTE" not in parts and parts["FREQ"] != "MINUTELY":
        written += ";BYMINUTE=0"
    if "BYSECOND" not in parts:
        written += ";BYSECOND=0"
    if "BYSETPOS" in parts and parts["FREQ"] in ("HOURLY", "MINUTELY"):
        raise InputError("BYSETPOS goes with days, weeks, months or years")
    if parts["FREQ"] == "SECONDLY":
        raise InputError("a rule may not go by seconds; take hours, days, weeks, months or years")
    try:
        return rrulestr(written, dtstart=start.replace(second=0, microsecond=0))
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(f"the rule is no RRULE that could be read: {error}") from error


def _parts_of(text: str) -> dict[str, str]:
    wanted = RULE.fullmatch(text.strip().upper().replace(" ", ""))
    return dict(part.split("=", 1) for part in wanted[1].split(";")) if wanted else {}


def _by_days(parts: dict[str, str], start: datetime) -> dict[str, str]:
    """A rule by hours or minutes of certain days as the same by days.

    dateutil steps through each hour and minute of all other days, years of them for some dates.
    """
    key, at, span = {
        "HOURLY": ("BYHOUR", start.hour, 24),
        "MINUTELY": ("BYMINUTE", start.minute, 60),
    }.get(parts["FREQ"], ("", 0, 1))
    every = parts.get("INTERVAL", "1")
    if not key or not (_DATES | {"BYDAY"}) & parts.keys() or not every.isdecimal():
        return parts
    if span % int(every):
        if _DATES & parts.keys():
            raise InputError(f"on certain dates, the INTERVAL of a rule divides {span}")
        return parts
    steps = {str((at + step) % span) for step in range(0, span, int(every))}
    given = {str(int(one)) if one.isdecimal() else one for one in parts.get(key, "").split(",")}
    left = sorted(steps & given if key in parts else steps, key=int)
    if not left:
        raise InputError(f"the INTERVAL of the rule meets none of its {key}")
    if key == "BYHOUR":
        whole = {"BYMINUTE": "0" if key in parts else str(start.minute)}
    else:
        whole = {"BYHOUR": ",".join(map(str, range(24)))}
    kept = {name: value for name, value in parts.items() if name != "INTERVAL"}
    return whole | kept | {"FREQ": "DAILY", key: ",".join(left)}


def rule_start(text: str, now: datetime) -> datetime:
    """From when on a rule without a beginning goes: "every other Tuesday" from the next one on.

    Raises InputError.
    """
    plain = re.sub(r"INTERVAL=\d+;?", "", text.upper()).rstrip(";")
    if plain == text.upper().rstrip(";") or re.search(r"FREQ=(?:HOURLY|MINUTELY)", plain):
        return now
    first = rule_moments(rule_of(plain, now), now, 1)
    return first[0] if first else now


def rule_moments(rule: Any, after: datetime, most: int = LOOKED) -> list[datetime]:
    """The next local moments of a rule; none where it has none within reach."""
    return list(islice(_rings(rule, after), most))


def _never(rule: Any) -> bool:
    """Whether a rule rings on no day at all: looked at where little of the calendar is left.

    From its own beginning on it would be looked for until the year 9999, for a minute.
    """
    begins = rule._dtstart  # noqa: SLF001  (it has no public name)
    later = begins.replace(year=begins.year + (9999 - begins.year) // _CALENDAR * _CALENDAR)
    return next(iter(rule.replace(dtstart=later, until=None, count=1)), None) is None


def _rings(rule: Any, after: datetime) -> Iterator[datetime]:
    end = after + FARTHEST * 2
    try:
        if _never(rule):
            return
        for found in rule.xafter(after):
            if found > end:
                return
            yield found
    except (OverflowError, ValueError, IndexError):  # the 99th Monday of a month, too
        return


def localize_moment(local: datetime, zone: ZoneInfo) -> datetime:
    """A local moment as it really is there: put forward where the clocks leave it out."""
    return local.replace(tzinfo=zone).astimezone(UTC).astimezone(zone)


def dst_oddity(local: datetime, zone: ZoneInfo) -> str:
    """What is odd about a moment: it is "skipped", or comes "twice"; "" for nothing."""
    if localize_moment(local, zone).replace(tzinfo=None) != local.replace(fold=0):
        return "skipped"
    first, second = (local.replace(tzinfo=zone, fold=fold).utcoffset() for fold in (0, 1))
    return "" if first == second else "twice"


def next_ring(text: str, start: datetime, after: datetime, zone: ZoneInfo) -> datetime | None:
    """The first moment of a rule that is later than `after`; None where it is over.

    `start` is local, `after` and what is given are aware. By real time: a ring of the hour that
    comes twice is not rung again.
    """
    local = after.astimezone(zone).replace(tzinfo=None, fold=0) - timedelta(hours=3)
    rule = rule_of(text, nearer_start(text, start, local))
    first: datetime | None = None
    for found in islice(_rings(rule, local), _MOST_STEPS):
        if first is not None and found >= first.replace(tzinfo=None):
            break
        moment = localize_moment(found, zone)
        if moment > after:
            first = moment if first is None else min(first, moment)
            if moment.replace(tzinfo=None, fold=0) == found:
                break  # only where that was put forward may a later one ring before it
    return None if first is None else first.astimezone(UTC)


def nearer_start(text: str, start: datetime, to: datetime) -> datetime:
    """A later beginning, not after `to`, of the same rings from there on: none is run through."""
    parts = _parts_of(text)
    step = _STEPS.get(parts.get("FREQ", ""))
    if step is None or "COUNT" in parts or to <= start:
        return start
    step *= max(int(parts.get("INTERVAL", "1")), 1)
    whole = (to - start) // step - 1  # a set of which BYSETPOS takes one is whole from the next on
    return start + max(whole, 0) * step


def check_start(text: str, start: datetime, now: datetime) -> None:
    """Raises InputError for a rule that began too long ago to be run through."""
    if "COUNT" in _parts_of(text) and start < now - COUNTED:
        raise InputError("a rule with a COUNT begins now, or later")
    if start < now - FARTHEST:
        raise InputError("the start of a rule is not more than ten years ago")
