"""Quiet hours: from when to when nothing rings, such as "22:00-07:00", by the clock of a zone."""

import re
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from loopforge.errors import BadSettings, InputError
from loopforge.schedule.rule_expansion import localize_moment

NONE = "none"
"""How people say that they want none, whatever the home's are."""
_HOURS = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)\s*-\s*([01]?\d|2[0-3]):([0-5]\d)")


def hours_in(text: str) -> tuple[time, time] | None:
    """The first and last moment of quiet; None for "" and "none". Raises InputError."""
    if text.strip().casefold() in ("", NONE):
        return None
    found = _HOURS.fullmatch(text.strip())
    if found is None:
        raise InputError(
            f"{text[:30]!r} is no span of hours such as 22:00-07:00; {NONE} for no hours"
        )
    first, last = time(int(found[1]), int(found[2])), time(int(found[3]), int(found[4]))
    if first == last:
        raise InputError(f"{text.strip()} begins and ends at the same time; {NONE} for no hours")
    return first, last


def checked_quiet(text: str, source: str) -> str:
    """The hours as they are written, if they are some. Raises BadSettings."""
    try:
        hours_in(text)
    except InputError as error:
        raise BadSettings(f"`quiet_hours` ({source}): {error}.") from error
    return text


def quiet_until(at: datetime, hours: tuple[time, time] | None, zone: ZoneInfo) -> datetime:
    """The same moment, or the end of the quiet hours that it lies in."""
    if hours is None:
        return at
    first, last = hours
    local = at.astimezone(zone)
    now = local.time().replace(fold=0)
    inside = first <= now < last if first < last else now >= first or now < last
    if not inside:
        return at
    day = local.date() + timedelta(days=1 if first > last and now >= first else 0)
    return max(at, localize_moment(datetime.combine(day, last), zone))
