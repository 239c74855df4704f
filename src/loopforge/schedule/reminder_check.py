"""Checking a reminder's form against the person's own words: does it fit, is it clear, can it be?

    check(form, now, zone, language) -> Fits | AsksBack | Refused

The mind that fills the form may be wrong, and the words may be unclear. So the words are read here
as well, by tables (phrases/), and what they say is compared with what the form says, moment by
moment. Where the two differ nothing is set. Where the words leave something open, or are not
understood well enough to tell, the person is asked, however sure the form is.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise
from typing import NamedTuple
from zoneinfo import ZoneInfo, available_timezones

import msgspec
from msgspec.structs import replace

from loopforge.errors import InputError
from loopforge.schedule.phrases.phrase_patterns import normalize_phrase
from loopforge.schedule.phrases.phrase_reading import SpokenWhen, read_spoken_when
from loopforge.schedule.reminder_form import AsksBack, Checked, Fits, Refused, ReminderForm
from loopforge.schedule.rule_expansion import (
    FARTHEST,
    check_start,
    dst_oddity,
    localize_moment,
    nearer_start,
    next_ring,
    rule_moments,
    rule_of,
    rule_start,
)
from loopforge.schedule.rule_wording import told_rule
from loopforge.schedule.spoken_moments import EXACT_UNITS, SpokenMoments, add_span, possible_moments
from loopforge.schedule.spoken_rules import (
    SpokenRules,
    bounded_rule,
    possible_rules,
    rings_as_spoken,
)
from loopforge.schedule.time_wording import (
    localized_list,
    localized_sentence,
    told_ahead,
    told_moment,
)

LEAST_GAP = timedelta(minutes=5)
"""Between two rings of one rule; what is closer is no reminder but a pest."""
DURATION = re.compile(
    r"P(?:(?P<y>\d+)Y)?(?:(?P<mo>\d+)M)?(?:(?P<w>\d+)W)?(?:(?P<d>\d+)D)?"
    r"(?:T(?:(?P<h>\d+(?:\.\d+)?)H)?(?:(?P<min>\d+(?:\.\d+)?)M)?(?:(?P<s>\d+(?:\.\d+)?)S)?)?"
)
_ON_CALENDAR = {"y": "Y", "mo": "M", "w": "W", "d": "D"}
NEAR = timedelta(seconds=90)
"""By how much a moment may miss a span that is counted from now, which goes on meanwhile."""
_ABBREVIATED = {
    "utc": "UTC",
    "gmt": "UTC",
    "est": "America/New_York",
    "edt": "America/New_York",
    "eastern": "America/New_York",
    "pst": "America/Los_Angeles",
    "pdt": "America/Los_Angeles",
    "pacific": "America/Los_Angeles",
    "cet": "Europe/Berlin",
    "cest": "Europe/Berlin",
    "mez": "Europe/Berlin",
    "mesz": "Europe/Berlin",
    "bst": "Europe/London",
    "tokio": "Asia/Tokyo",
    "londres": "Europe/London",
    "nueva york": "America/New_York",
    "moskau": "Europe/Moscow",
    "parigi": "Europe/Paris",
}


def check(
    form: ReminderForm | Mapping[str, object],
    now: datetime,
    zone: str,
    language: str = "en",
    said: datetime | None = None,
) -> Checked:
    """Whether a form may be set, for somebody in this zone who speaks this language.

    `now` is aware. `zone` is an IANA name; a zone in the form goes before it. `language` is that of
    the words ("en", "de", "fr", "es"; others are tried too). `said` is when they were said, where
    that was before now: they are read by that.
    """
    try:
        asked = form if isinstance(form, ReminderForm) else msgspec.convert(form, ReminderForm)
    except msgspec.ValidationError as error:
        return Refused(
            reason="form", why=localized_sentence(language, "written", problem=str(error))
        )
    try:
        here = ZoneInfo(asked.zone or zone)
    except (KeyError, ValueError, OSError, RecursionError):
        why = localized_sentence(language, "zone", zone=asked.zone or zone)
        return Refused(reason="zone", why=why)
    moments = _Moments((said or now).astimezone(here), now.astimezone(here))
    return _Check(asked, moments, here, ZoneInfo(zone), language).result()


def duration(text: str) -> list[tuple[float, str]]:
    """An ISO 8601 duration as numbers and units. Raises InputError."""
    found = DURATION.fullmatch(text.strip().upper())
    parts = [(float(number), unit) for unit, number in (found.groupdict().items() if found else ())
             if number]  # fmt: skip
    if not parts:
        raise InputError(f"{text[:40]!r} is no ISO 8601 duration such as PT2H or P3D")
    return parts


def parse_local_time(text: str, zone: ZoneInfo) -> datetime:
    """A date with a time of day, as it is in the zone, whatever offset is written. InputError."""
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise InputError(f"{text[:40]!r} is no moment such as 2026-03-27T09:00") from error
    if found.tzinfo is not None:
        try:
            found = found.astimezone(zone).replace(tzinfo=None, fold=0)
        except OverflowError as error:
            raise InputError(f"{text[:40]!r} is beyond the calendar") from error
    return found.replace(second=0, microsecond=0)


class _Moments(NamedTuple):
    """When the words were said, and when that is checked."""

    said: datetime
    checked: datetime


class _Check:
    """One checking, in order: how the form is written, what the words say, whether both agree."""

    def __init__(
        self, form: ReminderForm, moments: _Moments, zone: ZoneInfo, own: ZoneInfo, language: str
    ) -> None:
        self._form, self._zone, self._own, self._language = form, zone, own, language
        self._now, self._checked = moments
        self._local = self._now.replace(tzinfo=None, fold=0)
        self._here = self._checked.replace(tzinfo=None, fold=0)

    def result(self) -> Checked:
        """What comes of it."""
        form = self._form
        if not form.said.strip():
            return Refused(reason="form", why=self._sentence("unsaid"))
        said, elsewhere = _without_zone(form.said)
        spoken = read_spoken_when(said, self._language)
        if (odd := self._check_zone(elsewhere)) is not None:
            return odd
        if form.rule or (spoken.recurring and not (form.at or form.after)):
            return self._check_repeating(spoken)
        if spoken.recurring:
            meant = possible_rules(spoken)
            if meant.open or not meant.likely:
                return self._ask_back(meant.open, [])
            return self._refuse_as_different(self._rule_words(meant.likely[0]), self._given_once())
        return self._check_once(spoken)

    # ------------------------------------------------------------ saying

    def _sentence(self, name: str, **values: str) -> str:
        return localized_sentence(self._language, name, said=self._form.said, **values)

    def _ask_back(self, what: str, choices: Sequence[str]) -> Checked:
        if what == "past":
            return Refused(reason="past", why=self._sentence("past"))
        if choices and what in ("", "which"):
            told = localized_list(choices, self._language, either=True)
            name = "which" if len(choices) > 1 else "confirm"
            return AsksBack(question=self._sentence(name, choices=told), choices=tuple(choices))
        return AsksBack(question=self._sentence(what if what and what != "which" else "unclear"))

    def _refuse_as_different(self, wanted: str, given: str) -> Refused:
        return Refused(reason="differs", why=self._sentence("differs", wanted=wanted, given=given))

    def _moment_words(self, at: datetime) -> str:
        return told_moment(at, self._here, self._language)

    def _rule_words(self, rule: str) -> str:
        found = rule_moments(rule_of(rule, self._local.replace(minute=0)), self._local)
        return told_rule(rule, found, self._local, self._language) if found else rule

    def _given_once(self) -> str:
        try:
            return self._moment_words(self._given_moment())
        except InputError:
            return self._form.at or self._form.after

    # ------------------------------------------------------------ where

    def _check_zone(self, named: str) -> Checked | None:
        """Whether the form's zone is the one that was named, or nobody's but the person's."""
        offset = self._zone.utcoffset(self._local)
        if named:
            there = ZoneInfo(named)
            if there.utcoffset(self._local) != offset:
                return self._refuse_as_different(named, str(self._zone))
            return None
        if offset != self._own.utcoffset(self._local):
            return AsksBack(question=self._sentence("elsewhere", zone=str(self._zone)))
        return None

    # ------------------------------------------------------------ once

    def _given_moment(self) -> datetime:
        """The moment of a form that rings once, local. Raises InputError."""
        if not self._form.after:
            return parse_local_time(self._form.at, self._zone)
        found = self._now
        for number, unit in duration(self._form.after):
            if unit in EXACT_UNITS:
                found = add_span(found.astimezone(UTC), number, unit).astimezone(self._zone)
            else:
                found = add_span(found, number, unit)
        return found.replace(tzinfo=None, fold=0)

    def _check_once(self, spoken: SpokenWhen) -> Checked:
        form = self._form
        meant = self._align_to_real_time(possible_moments(spoken, self._local), spoken)
        ambiguous = self._question_first(spoken, meant)
        if ambiguous is not None:
            return ambiguous
        if bool(form.after) == bool(form.at):
            return Refused(reason="form", why=self._sentence("one"))
        try:
            given = self._given_moment()
        except InputError as error:
            return Refused(reason="form", why=self._sentence("written", problem=str(error)))
        if given - self._local > FARTHEST:
            far = form.at or form.after if given.year > 9000 else self._moment_words(given)
            return Refused(reason="far", why=self._sentence("far", moment=far))
        if not self._is_meant(given, meant, spoken):
            if spoken.strange and not spoken.days:
                return self._ask_back("", [self._moment_words(meant.likely[0])])
            return self._refuse_as_different(
                self._moment_words(meant.likely[0]), self._moment_words(given)
            )
        first = localize_moment(given, self._zone)
        if form.after and all(unit in EXACT_UNITS for _, unit in duration(form.after)):
            first = (self._now.astimezone(UTC) + self._exact_span()).astimezone(self._zone)
        if first <= self._checked:
            return Refused(
                reason="past", why=self._sentence("over", moment=self._moment_words(given))
            )
        exact = bool(form.after)
        return self._fitting_form(
            first, told_ahead(first, self._checked, self._language), given, exact=exact
        )

    def _exact_span(self) -> timedelta:
        """A span of hours, minutes and seconds, by the clock that is never changed."""
        parts = duration(self._form.after)
        return timedelta(seconds=sum(number * EXACT_UNITS[unit] for number, unit in parts))

    def _align_to_real_time(self, meant: SpokenMoments, spoken: SpokenWhen) -> SpokenMoments:
        """Hours from now are counted by real time, over a change of the clocks too."""
        exact = [(n, unit) for n, unit in spoken.offset if unit in EXACT_UNITS]
        if not exact or not meant.likely:
            return meant
        there = self._now
        for number, unit in spoken.offset:
            if unit not in EXACT_UNITS:
                there = add_span(there, number, unit)
        real = there.astimezone(UTC)
        for number, unit in exact:
            real = add_span(real, number, unit)
        there = real.astimezone(self._zone).replace(tzinfo=None, fold=0)
        return SpokenMoments(all=(there,), likely=(there,))

    def _question_first(self, spoken: SpokenWhen, meant: SpokenMoments) -> Checked | None:
        """The question that has to be asked first, if there is one."""
        if meant.open:
            return self._ask_back(meant.open, [])
        if spoken.unread or not meant.all:
            return self._ask_back("unclear", [])
        if len(meant.likely) != 1:
            several = meant.likely or meant.all
            return self._ask_back("which", [self._moment_words(one) for one in several[:4]])
        if meant.likely[0] - self._local > FARTHEST:
            why = self._sentence("far", moment=self._moment_words(meant.likely[0]))
            return Refused(reason="far", why=why)
        return None

    def _is_meant(self, given: datetime, meant: SpokenMoments, spoken: SpokenWhen) -> bool:
        wanted = meant.likely[0]
        if spoken.offset and not spoken.hours:
            return abs(given - wanted) <= NEAR
        return given == wanted

    def _fitting_form(
        self, first: datetime, words: str, given: datetime, *, exact: bool = False
    ) -> Fits:
        odd, note = "" if exact else dst_oddity(given, self._zone), ""
        if odd:
            real = f"{localize_moment(given, self._zone):%H:%M}"
            note = localized_sentence(self._language, odd, time=f"{given:%H:%M}", real=real)
        return Fits(first=first, words=words, zone=str(self._zone), note=note)

    # ------------------------------------------------------------ again and again

    def _check_repeating(self, spoken: SpokenWhen) -> Checked:
        form, now = self._form, self._local
        if not spoken.recurring:
            meant = possible_moments(spoken, now)
            if (unclear := self._question_first(spoken, meant)) is not None:
                return unclear
            return self._refuse_as_different(
                self._moment_words(meant.likely[0]), self._sentence("again")
            )
        wanted = possible_rules(spoken)
        if wanted.open:
            return self._ask_back(wanted.open, [])
        if spoken.unread:
            return self._ask_back("unclear", [])
        if len(wanted.likely) == 0 or (len(wanted.likely) > 1 and not spoken.window):
            return self._ask_back("which", [self._rule_words(one) for one in wanted.all[:4]])
        if not form.rule or form.at or form.after:
            return Refused(reason="form", why=self._sentence("one"))
        return self._check_rule(spoken, wanted)

    def _check_rule(self, spoken: SpokenWhen, wanted: SpokenRules) -> Checked:
        """Whether the rule can be kept, and is what the words say."""
        form, now = self._form, self._local
        try:
            start = (
                parse_local_time(form.start, self._zone)
                if form.start
                else rule_start(form.rule, now)
            )
            rule = rule_of(form.rule, start)
            check_start(form.rule, start, now)
            rule = rule_of(form.rule, nearer_start(form.rule, start, min(now, self._here)))
        except InputError as error:
            return Refused(reason="form", why=self._sentence("written", problem=str(error)))
        due = rule_moments(rule, self._here)
        if not due:
            return Refused(reason="empty", why=self._sentence("empty"))
        if due[0] - now > FARTHEST:
            return Refused(
                reason="far", why=self._sentence("far", moment=self._moment_words(due[0]))
            )
        if any(later - one < LEAST_GAP for one, later in pairwise(due)):
            return Refused(reason="dense", why=self._sentence("dense"))
        if not any(rings_as_spoken(one, rule, spoken, now) for one in wanted.likely):
            given = told_rule(form.rule, due, now, self._language)
            meant = self._rule_words(wanted.likely[0])
            if given == meant:
                given = f"{given}, {self._moment_words(due[0])}"
            return self._refuse_as_different(meant, given)
        ring = next_ring(form.rule, start, self._checked, self._zone) or localize_moment(
            due[0], self._zone
        )
        first = ring.astimezone(self._zone)
        told = told_rule(form.rule, due, now, self._language)
        ahead = told_ahead(first, self._checked, self._language)
        words = localized_sentence(self._language, "next", rule=told, first=ahead)
        return self._fitting_form(first, words, due[0])


# ---------------------------------------------------------------- zones in words


@cache
def _zones_of_cities() -> dict[str, str]:
    """Time zones by what people call them."""
    zones = {name for name in available_timezones() if "/" in name and not name.startswith("Etc")}
    found = {
        normalize_phrase(name.rpartition("/")[2].replace("_", " ")): name for name in sorted(zones)
    }
    return {**found, **_ABBREVIATED}


_CITY = re.compile(
    r"\b(?P<city>[a-z]+(?: [a-z]+)?) time\b|"
    r"\b(?P<short>utc|gmt|est|edt|pst|pdt|cet|cest|mez|mesz|bst)\b|"
    r"\b(?:in|of|hora de|heure de|zeit in|uhrzeit) (?P<place>[a-z]+(?: [a-z]+)?)(?: zeit)?$"
)


def zone_called(name: str) -> str:
    """The time zone of this name, in any letters, or of a city that is called so; "" for none."""
    called = normalize_phrase(name.replace("_", " "))
    own = (
        zone for zone in available_timezones() if normalize_phrase(zone.replace("_", " ")) == called
    )
    return min(own, default="") or _zones_of_cities().get(called, "")


def _without_zone(said: str) -> tuple[str, str]:
    """The words without the place whose clock they name, and its zone; "" for none."""
    text = normalize_phrase(said)
    for found in _CITY.finditer(text):
        name = found["city"] or found["short"] or found["place"]
        for city in (name, name.rpartition(" ")[2]):
            if zone := _zones_of_cities().get(city):
                start = found.start() + (found[0].index(city) if found["city"] else 0)
                return f"{text[:start]} {text[found.end() :]}".strip(), zone
    return said, ""


def completed_form(form: ReminderForm, now: datetime, zone: str, language: str) -> ReminderForm:
    """The form, filled in by its words alone where it says nothing of when beside them."""
    if form.after or form.at or form.rule or not form.said:
        return form
    try:
        filled = filled_form(form.said, now, form.zone or zone, language)
    except (KeyError, ValueError, OSError, RecursionError):
        return form  # an unknown zone, which `check` names
    start, zone = form.start or filled.start, filled.zone or form.zone
    return replace(filled, what=form.what, whom=form.whom, start=start, zone=zone)


def filled_form(said: str, now: datetime, zone: str, language: str) -> ReminderForm:
    """The form as the words alone fill it, for who has no mind to do so.

    What they leave open stays open, so that `check` asks about it. `zone` holds unless they name
    another, which then stands in the form.
    """
    when, there = _without_zone(said)
    here = now.astimezone(ZoneInfo(there or zone)).replace(tzinfo=None, fold=0)
    spoken = read_spoken_when(when, language)
    if spoken.recurring:
        rule, start = bounded_rule(spoken, here)
        return ReminderForm(said=said, rule=rule, start=start, zone=there)
    spans: dict[str, float] = {}
    for number, unit in spoken.offset:
        spans[unit] = spans.get(unit, 0) + number
    if exact := [spans[unit] * seconds for unit, seconds in EXACT_UNITS.items() if unit in spans]:
        days = "".join(
            f"{spans[unit]:.0f}{sign}" for unit, sign in _ON_CALENDAR.items() if unit in spans
        )
        return ReminderForm(said=said, after=f"P{days}T{sum(exact):.0f}S", zone=there)
    likely = possible_moments(spoken, here).likely
    at = likely[0].isoformat(timespec="minutes") if likely else ""
    return ReminderForm(said=said, at=at, zone=there)
