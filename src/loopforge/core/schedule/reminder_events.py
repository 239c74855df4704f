"""Reminders: everything that happens to them, in the stream of the room they were set in.

What is told to people when one rings is an ordinary line of a room (Told); a routine wakes a mate
by it. Nothing here says when a rule rings: that is worked out where rules are known.
"""

from datetime import datetime

from msgspec import Struct

from loopforge.core.limits.line_origin import LineOrigin
from loopforge.core.text.erasable_text import Words, public_words

LONGEST_WHAT = 500
"""Characters of what somebody is reminded of."""


class ReminderSet(Struct, frozen=True, tag="reminder.set", kw_only=True, omit_defaults=True):
    """Something is to be told to somebody at `due`; the event's id is the reminder's.

    `what` is of what, `said` the person's own words of when. `person` set it, by a mate's turn or a
    command. `whom`: "me" (wherever they are then), "room", or the id of a person of this room. With
    a `rule` (RRULE) it comes again, from `start` on (local, in the zone). `wakes` is the handle of
    a mate that is to do something about it, "" where it is only told. What a mate set by itself
    nobody `asked` for: it costs the room's energy. `origin` is as what the person said so: what a
    routine does for them is what they might have had done then.
    """

    number: int
    what: Words
    said: Words
    person: str
    due: datetime
    zone: str
    whom: str = "me"
    rule: str = ""
    start: str = ""
    language: str = "en"
    mate: str = ""
    wakes: str = ""
    asked: bool = True
    origin: LineOrigin | None = None


class ReminderMoved(Struct, frozen=True, tag="reminder.moved", kw_only=True, omit_defaults=True):
    """It rings at another moment; `snoozed`: once more then, and else as before."""

    reminder: str
    by: str
    due: datetime
    said: Words = public_words("")
    zone: str = ""
    rule: str = ""
    start: str = ""
    snoozed: bool = False


class ReminderCancelled(Struct, frozen=True, tag="reminder.cancelled", kw_only=True):
    """It will not ring any more; `by` is a person, or "room" where it could not."""

    reminder: str
    by: str


class ReminderFired(Struct, frozen=True, tag="reminder.fired", kw_only=True, omit_defaults=True):
    """It rang: it was `due` then, and comes `next` where it comes again.

    `to` is the stream of another room where it is told; "" for this one. `held` says that quiet
    hours held it back.
    """

    reminder: str
    due: datetime
    next: datetime | None = None
    to: str = ""
    held: bool = False


class ReminderPassed(Struct, frozen=True, tag="reminder.passed", kw_only=True):
    """What rang (`fired`) stands in the other room now."""

    fired: str


class TimeChosen(Struct, frozen=True, tag="people.time_chosen", kw_only=True, omit_defaults=True):
    """A person said in which time zone they live, and in which hours reminders wait.

    `quiet` is such as "22:00-07:00" by their own clock, "" for none of their own.
    """

    person: str
    zone: str = ""
    quiet: str = ""


ReminderEvent = ReminderSet | ReminderMoved | ReminderCancelled | ReminderFired | ReminderPassed
