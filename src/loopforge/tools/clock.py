"""The clock, as a tool: what time it is, what day it will be, how long it is until then.

Days, weeks, months and years are counted on the calendar of the time zone, so that nine o'clock is
nine o'clock after the clocks were changed; hours and minutes by the clock that does not change.
"""

import re
from datetime import MAXYEAR, MINYEAR, UTC, datetime, timedelta
from difflib import get_close_matches
from zoneinfo import ZoneInfo, available_timezones

from loopforge.errors import InputError
from loopforge.runtime.ports import Tool, ToolCall, ToolHome, arguments_schema, tool_work

WHEN = "2026-03-05 or 2026-03-05T14:00; left out: now"
CLOCK = Tool(
    name="clock",
    summary="Tells the date and time, here or in another time zone; adds days; how long until.",
    schema=arguments_schema(
        [],
        zone={"type": "string", "description": "such as Europe/Madrid"},
        into={"type": "string", "description": "tell it in this time zone instead"},
        at={"type": "string", "description": WHEN},
        add={"type": "string", "description": "such as 3 weeks 2 days, or -90 minutes"},
        until={"type": "string", "description": "tell how long it is until then"},
    ),
    idempotent=True,
    harmless=True,
    trusted=True,
)
UNITS = ("years", "months", "weeks", "days", "hours", "minutes")
_SPAN = re.compile(r"([+-]?\d{1,6})\s*(year|month|week|day|hour|minute)s?")


@tool_work(CLOCK)
async def clock_tool(home: ToolHome, call: ToolCall) -> str:
    """The clock as a plugin."""
    arguments = call.arguments
    here = zone_of(str(arguments.get("zone") or home.zone))
    into = zone_of(str(arguments.get("into") or here))
    at, until = arguments.get("at"), arguments.get("until")
    start = parse_local_time(str(at), here) if at else home.clock.now().astimezone(here)
    then = later(start, str(arguments.get("add") or ""))
    if not until:
        return said(then.astimezone(into))
    end = parse_local_time(str(until), here)
    told = f"From {said(then.astimezone(into))} to {said(end.astimezone(into))}"
    return f"{told}: {span(then, end)}"


def zone_of(name: str) -> ZoneInfo:
    """The time zone of this name. Raises InputError, which names those like it."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError, RecursionError) as error:
        known = sorted(available_timezones())
        city = name.strip().replace(" ", "_").lower()
        near = [each for each in known if city and each.lower().endswith(f"/{city}")]
        near = near or get_close_matches(name[:40], known, n=3)
        like = " or ".join(near[:3]) or "Europe/Paris"
        raise InputError(f"no time zone is called {name[:40]!r}; use one like {like}") from error


def said(at: datetime) -> str:
    """A time as a mind is told it: "Saturday 21 November 2026, 14:05 (Europe/Paris)"."""
    return f"{at:%A} {at.day} {at:%B %Y, %H:%M} ({at.tzinfo})"


def parse_local_time(text: str, zone: ZoneInfo) -> datetime:
    """A date or a time in a zone, unless it names its own. Raises InputError."""
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise InputError(f"{text[:40]!r} is no date such as 2026-03-05T14:00") from error
    _within(found)
    return found.astimezone(zone) if found.tzinfo else _real(found.replace(tzinfo=zone))


def later(start: datetime, add: str) -> datetime:
    """So much later, such as "3 weeks 2 days"; "-" before a number: earlier. Raises InputError."""
    from dateutil.relativedelta import relativedelta

    if _SPAN.sub("", add).replace("and", "").strip(" ,"):
        raise InputError(f"{add[:40]!r} is no span such as 3 weeks 2 days, or -90 minutes")
    counts = dict.fromkeys(UNITS, 0)
    for number, unit in _SPAN.findall(add):
        counts[f"{unit}s"] += int(number)
    exact = timedelta(hours=counts.pop("hours"), minutes=counts.pop("minutes"))
    try:
        day = _real(start + relativedelta(**counts)) if any(counts.values()) else start
        return _within((day.astimezone(UTC) + exact).astimezone(start.tzinfo))
    except (OverflowError, ValueError) as error:
        raise InputError("that is beyond the calendar") from error


def span(start: datetime, end: datetime) -> str:
    """How long it is from one to the other: "3 days, 2 hours", and whether that is over."""
    exact = end.astimezone(UTC) - start.astimezone(UTC)
    days, rest = divmod(abs(exact), timedelta(days=1))
    hours, rest = divmod(rest, timedelta(hours=1))
    counts = ((days, "day"), (hours, "hour"), (rest // timedelta(minutes=1), "minute"))
    told = [f"{count:,} {unit}{'s' * (count != 1)}" for count, unit in counts if count]
    return (", ".join(told) or "no time") + (" ago" if exact < timedelta() else "")


def _within(at: datetime) -> datetime:
    """The same, if it can be told in any zone: not in the calendar's first or last year."""
    if not MINYEAR < at.year < MAXYEAR:
        raise InputError("that is beyond the calendar")
    return at


def _real(at: datetime) -> datetime:
    """The same, or later where clocks were put forward over it: there is no 02:30 that night."""
    return at.astimezone(UTC).astimezone(at.tzinfo)
