"""The form of a reminder, which a mind fills in, and the three things that checking it may come to.

    {"in": "PT2H"}  or  {"at": "2026-03-27T09:00"}  or  {"rule": "FREQ=WEEKLY;BYDAY=MO;BYHOUR=9"}

with `said`, the person's own words of when. Pure values; what they mean is reminder_check.py's.
"""

from datetime import datetime
from typing import Literal

from msgspec import Struct, field

Reason = Literal["form", "zone", "past", "far", "dense", "empty", "differs"]
"""Why a form is refused: how it is written, an unknown zone, a moment that is over, one that is
too far off, a rule that rings too often or never, words that say otherwise."""


class ReminderForm(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """When and of what somebody is to be reminded; one of `after`, `at` and `rule` is given.

    `said` are the person's own words of when. `after` (written "in") is an ISO 8601 duration, `at`
    a date with a time of day in the zone, `rule` an RRULE of RFC 5545, from `start` on (a date with
    a time). `whom`: "me", "room", or a person's name. `zone` is an IANA name, "" for the person's
    own.
    """

    said: str = ""
    after: str = field(name="in", default="")
    at: str = ""
    rule: str = ""
    start: str = ""
    what: str = ""
    whom: str = "me"
    zone: str = ""


class Fits(Struct, frozen=True, kw_only=True):
    """The words and the form agree. `first` is when it rings first, `words` say that to people.

    `zone` is the one that holds. `note` says what is odd about the moment, such as an hour that the
    clocks leave out.
    """

    first: datetime
    words: str
    zone: str
    note: str = ""


class AsksBack(Struct, frozen=True, kw_only=True):
    """The words may mean several things, or leave one open: the person is asked `question`.

    `choices` are what they may mean, in words, where that is a handful.
    """

    question: str
    choices: tuple[str, ...] = ()


class Refused(Struct, frozen=True, kw_only=True):
    """Nothing is set. `why` says what is wrong and what to do instead."""

    reason: Reason
    why: str


Checked = Fits | AsksBack | Refused
