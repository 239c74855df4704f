"""Times in a question: does it ask when, and which time does it name?

"last spring", "in May 2023", "three weeks ago", "yesterday", in English and German. A cue only
favours lines of that time; it rules none out, since people say "last spring" in summer of what was
said in winter. Times are UTC. What is not understood gives no cue.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from loopforge.core.events import epoch_micros

_TWELVE = "january february march april may june july august september october november december"
MONTHS = tuple(_TWELVE.split())
DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
SAYS_WHEN = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|week(?:end)?s?|months?|years?|since|"
    r"recently|morning|evening|gestern|heute|morgen|letzte[nsr]?|vor|jahre?n?|wochen?|monate?n?|"
    + "|".join((*MONTHS, *DAYS))
    + r"|(?:19|20)\d\d)\b",
    re.IGNORECASE,
)
"""Words by which a passage speaks of a time."""


class TimeSpan(NamedTuple):
    """From `since` up to `until`, in microseconds since 1970."""

    since: int
    until: int


_WHEN = re.compile(
    r"\b(?:when|how long|(?:what|which) (?:date|day|month|year|time)|wann|wie lange)\b",
    re.IGNORECASE,
)
_GERMAN = {
    "januar": 1,
    "februar": 2,
    "märz": 3,
    "mai": 5,
    "juni": 6,
    "juli": 7,
    "oktober": 10,
    "dezember": 12,
}
_MONTHS = {name: nth for nth, name in enumerate(MONTHS, 1)} | _GERMAN
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12} | {
    "frühling": 3,
    "sommer": 6,
    "herbst": 9,
}
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6} | {
    "einem": 1,
    "einer": 1,
    "zwei": 2,
    "drei": 3,
    "vier": 4,
}
_UNITS = {"day": 1, "tag": 1, "week": 7, "woche": 7, "month": 30, "monat": 30, "year": 365} | {
    "jahr": 365
}
_AGO = re.compile(
    rf"\b(?:vor )?(\d{{1,3}}|{'|'.join(_NUMBERS)}) ({'|'.join(_UNITS)})(?:s|n|e|en)?( ago)?\b"
)
_LAST = re.compile(rf"\b(?:last|letzte[nsrm]?) ({'|'.join((*_UNITS, *_SEASONS, *_MONTHS))})\b")
_MONTH = re.compile(
    rf"\b(?:in|im|during|since|of|late|early) ({'|'.join((*_MONTHS, *_SEASONS))})"
    r"(?:,? ((?:19|20)\d\d))?\b"
)
_YEAR = re.compile(r"\b(?:in|during|of) ((?:19|20)\d\d)\b")


def asks_when(question: str) -> bool:
    """Whether the answer is a time."""
    return bool(_WHEN.search(question))


def time_named(question: str, now: datetime) -> TimeSpan | None:
    """The time that a question names, if it does, as seen from `now` (aware)."""
    text, day = question.lower(), now.astimezone(UTC)
    if re.search(r"\b(?:yesterday|gestern)\b", text):
        return _days(day, 2, 0)
    if (ago := _AGO.search(text)) and (ago[3] or ago[0].startswith("vor ")):
        length = _UNITS[ago[2]]
        many = int(ago[1]) if ago[1].isdigit() else _NUMBERS[ago[1]]
        back = min(many * length, 36_500)
        return _days(day, back + length, max(back - length, 0))
    if last := _LAST.search(text):
        if last[1] in _UNITS:
            return _days(day, 2 * _UNITS[last[1]], 0)
        return _span(_latest(last[1], day), last[1])
    if month := _MONTH.search(text):
        year = int(month[2]) if month[2] else _latest(month[1], day)
        return _span(year, month[1])
    if whole := _YEAR.search(text):
        return TimeSpan(_first(int(whole[1]), 1), _first(int(whole[1]) + 1, 1))
    return None


def _days(day: datetime, since: int, until: int) -> TimeSpan:
    return TimeSpan(
        epoch_micros(day - timedelta(days=since)), epoch_micros(day - timedelta(days=until))
    )


def _latest(name: str, day: datetime) -> int:
    """The year in which a month or season last began."""
    begins = _MONTHS.get(name) or _SEASONS[name]
    return day.year if begins <= day.month else day.year - 1


def _span(year: int, name: str) -> TimeSpan:
    """A month or a season of a year."""
    begins, long = (_MONTHS[name], 1) if name in _MONTHS else (_SEASONS[name], 3)
    return TimeSpan(_first(year, begins), _first(year, begins + long))


def _first(year: int, month: int) -> int:
    """The first moment of a month; months go on into the next year."""
    return epoch_micros(datetime(year + (month - 1) // 12, (month - 1) % 12 + 1, 1, tzinfo=UTC))
