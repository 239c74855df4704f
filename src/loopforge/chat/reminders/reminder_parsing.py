"""A wish to be reminded, as people say it: of what, and the words of when.

    on Friday at nine: call Anna         me to call Anna on Friday
    please remind me in an hour of tea   in ten minutes, remind me to stretch

Nobody thinks about it: what is a time is known by tables (schedule/phrases/), and what the words
leave open is asked by whoever checks the form.
"""

import re
from datetime import datetime

from msgspec.structs import replace

from loopforge.schedule.phrases.phrase_reading import is_time, spoken_language
from loopforge.schedule.reminder_check import filled_form
from loopforge.schedule.reminder_form import ReminderForm

MOST_WORDS = 16
"""Words of when, where nothing parts them from what one is reminded of."""
_PARTS = re.compile(r"\s*(?P<when>.+?)(?::\s+|\s+[-\u2013]\s+)(?P<what>.+)", re.DOTALL)
_BEGIN = "on|at|in|every|tomorrow|tonight|today|next|this|by"
_SPOKEN = tuple(
    re.compile(rf"(?:me|mich)?\s*{form}", re.DOTALL | re.IGNORECASE)
    for form in (
        r"\b(?P<when>\w.*?),?\s+(?:to|daran,?|dass)\s+(?P<what>.+)",
        rf"\bto\s+(?P<what>.+?)\s+(?P<when>(?:{_BEGIN})\b.+)",
    )
)
"""How people say it without a colon: on Friday to call Anna, to call Anna on Friday."""
_ME = re.compile(r"^(?:me|mich)\s+", re.IGNORECASE)
_WISH = re.compile(
    r"\b(?:remind\s+me|set\s+(?:me\s+)?(?:a|another)\s+reminder(?:\s+for)?)\b[\s,:]*", re.IGNORECASE
)
_THANKS = re.compile(r",? (?:please|thanks|thank you)\Z", re.IGNORECASE)
_LINK = re.compile(r"^(?:about|of|to|that)\s+", re.IGNORECASE)
_LOOSE = frozenset(("about", "of", "to", "that", "the", "a", "an", "my", "our"))
"""Words with which no words of when end."""


def spoken_reminder(said: str, now: datetime, zone: str) -> tuple[ReminderForm, str] | None:
    """The form that these words fill, with of what, and their language; None where it is unclear.

    `zone` (IANA) holds unless they name another.
    """
    said = " ".join(said.split())
    for way in (_PARTS, *_SPOKEN):
        if (parts := way.fullmatch(said)) is None:
            continue
        language = spoken_language(parts["when"])
        form = filled_form(parts["when"], now, zone, language)
        if way is _PARTS or form.at or form.after or form.rule:
            return replace(form, what=parts["what"]), language
    words = _ME.sub("", said).split()
    if is_time(plain := " ".join(words), spoken_language(plain)):
        return None  # else "in 5 minutes" were to be reminded of "in"
    for most in range(min(len(words) - 1, MOST_WORDS), 0, -1):
        rest = len(words) - most
        for when, what in ((words[:most], words[most:]), (words[rest:], words[:rest])):
            spoken = " ".join(when)
            language = spoken_language(spoken)
            if when[-1].casefold() not in _LOOSE and is_time(spoken, language):
                form = filled_form(spoken, now, zone, language)
                return replace(form, what=_LINK.sub("", " ".join(what))), language
    return None


def wished_reminder(line: str, now: datetime, zone: str) -> tuple[ReminderForm, str] | None:
    """The same of a whole line in which a mate is asked for it; English alone."""
    found = _WISH.search(line := " ".join(line.split()))
    if found is None:
        return None
    before = line[: found.start()].strip(" ,")
    wish = _THANKS.sub("", line[found.end() :].rstrip(" .!?"))
    if is_time(before, spoken_language(before)):  # "in ten minutes, remind me to stretch"
        wish = f"{wish} {before}"
    return spoken_reminder(wish, now, zone)
