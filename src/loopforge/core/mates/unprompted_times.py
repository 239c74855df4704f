"""When a mate may speak up without having been called: after a silence, at times of day.

    after 3 hours, at 08:30   ->   UnpromptedTimes(after=180, at=("08:30",))

Pure. Whether a room lets it, and whether it has something to say, is decided elsewhere.
"""

import re
from datetime import datetime, time, timedelta, tzinfo

from msgspec import Struct

SHORTEST, LONGEST = 5, 7 * 24 * 60
"""Minutes of a silence."""
MOST_HOURS = 6
STILL = timedelta(minutes=30)
"""So long nobody has spoken when a mate speaks up at its hour: it interrupts nobody."""
LATE = timedelta(hours=1)
"""An hour that passed so long ago, the home not running, is let go."""
GONE = timedelta(days=1)
"""Where a silence is longer than meant by this much, nobody is there to be spoken to."""

_AFTER = re.compile(r"after (\d{1,5}) (minute|hour|day)s?")
_AT = re.compile(r"at ((?:[01]\d|2[0-3]):[0-5]\d)")
_MINUTES = {"minute": 1, "hour": 60, "day": 24 * 60}
FORM = (
    "such as `after 3 hours` (5 minutes to 7 days), `at 08:30` (6 at most), or both with a comma "
    "between"
)


class UnpromptedTimes(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`after` so many minutes of silence (0: never); `at` these times of day, by the home's."""

    after: int = 0
    at: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.after or self.at)


def read(text: str) -> UnpromptedTimes | None:
    """The times that are written so; None where they cannot be read."""
    after, at = 0, list[str]()
    for part in text.split(","):
        part = part.strip().lower()
        if found := _AFTER.fullmatch(part):
            minutes = int(found[1]) * _MINUTES[found[2]]
            if after or not SHORTEST <= minutes <= LONGEST:
                return None
            after = minutes
        elif found := _AT.fullmatch(part):
            at.append(found[1])
        else:
            return None
    return UnpromptedTimes(after=after, at=tuple(at)) if len(at) <= MOST_HOURS else None


def describe_unprompted_times(times: UnpromptedTimes) -> str:
    """The same in words."""
    parts = [f"after {spell(times.after)} of silence"] if times.after else []
    return ", ".join([*parts, *(f"at {at}" for at in times.at)])


def spell(minutes: int) -> str:
    """Such as "3 hours"."""
    for name, length in (("day", 24 * 60), ("hour", 60), ("minute", 1)):
        if minutes >= length and (minutes % length == 0 or minutes >= 2 * length):
            count = minutes // length
            return f"{count} {name}{'s' if count > 1 else ''}"
    return "a moment"


def next_moment(
    times: UnpromptedTimes, last: datetime, now: datetime, zone: tzinfo
) -> tuple[datetime, str] | None:
    """When it may speak up next, if nobody does before, and by which: "silence" or "hour".

    `last` is when somebody spoke last. The moment may lie in the past.
    """
    found = list[tuple[datetime, str]]()
    if times.after:
        moment = last + timedelta(minutes=times.after)
        if now <= moment + GONE:
            found.append((moment, "silence"))
    since = max(last + STILL, now - LATE)
    found += [(_next(at, since, zone), "hour") for at in times.at]
    return min(found, default=None)


def _next(at: str, since: datetime, zone: tzinfo) -> datetime:
    """The first moment from `since` on at which it is so late there."""
    local = since.astimezone(zone)
    moment = datetime.combine(local.date(), time.fromisoformat(at), zone)
    return moment if moment >= since else moment + timedelta(days=1)
