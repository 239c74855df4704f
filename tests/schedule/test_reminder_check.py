"""Reminders are set when words and form agree, asked about when words are open, else refused."""

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, strategies

from loopforge.schedule.reminder_check import check, filled_form
from loopforge.schedule.reminder_form import AsksBack, Checked, Fits, Refused
from tests.every_row import every_row
from tests.schedule.outside_english import ENGLISH
from tests.schedule.outside_french import FRENCH
from tests.schedule.outside_german import GERMAN
from tests.schedule.outside_spanish import SPANISH
from tests.schedule.phrase_rows import FITTING, ROWS, at, rule, span
from tests.schedule.phrases_spoken import MORE
from tests.schedule.twisted_phrases import TWISTS

ZONE = "Europe/Berlin"
BERLIN = ZoneInfo(ZONE)
NOW = datetime(2026, 3, 25, 14, 0, tzinfo=BERLIN)


def outcome(checked: Checked) -> str:
    """What came of it, in a word."""
    match checked:
        case Fits():
            return "fits"
        case AsksBack():
            return "asks"
        case Refused(reason=reason):
            return reason


def checked(said: str, form: dict[str, str], now: datetime = NOW, language: str = "en") -> Checked:
    """What comes of a form with these words."""
    return check({"said": said, **form}, now, ZONE, language)


@pytest.mark.parametrize(
    ("said", "form", "later", "wanted"),
    [
        (
            "tomorrow at nine",
            {"at": "2026-03-26T09:00"},
            12,
            "Thursday 26 March, 09:00, in 7 hours",
        ),
        ("tomorrow at nine", {"at": "2026-03-27T09:00"}, 12, "differs"),
        ("tomorrow at nine", {"at": "2026-03-26T09:00"}, 20, "past"),
        ("in two hours", {"in": "PT2H"}, 1, "Wednesday 25 March, 16:00, in 1 hour"),
        ("in two hours", {"in": "PT2H"}, 3, "past"),
        (
            "every day at nine until Friday",
            {"rule": "FREQ=DAILY;BYHOUR=9;BYMINUTE=0;UNTIL=20260327T235959"},
            24,
            "every day, 09:00, until Friday 27 March; first Friday 27 March, 09:00, in 19 hours",
        ),
        (
            "every day at nine until Friday",
            {"rule": "FREQ=DAILY;BYHOUR=9;BYMINUTE=0;UNTIL=20260327T235959"},
            72,
            "empty",
        ),
    ],
)
def test_words_that_were_said_hours_before(
    said: str, form: dict[str, str], later: int, wanted: str
) -> None:
    """They are read by when they were said, and told by now; what is over by now is not set."""
    now = NOW + timedelta(hours=later)
    found = check({"said": said, **form}, now, ZONE, said=NOW)
    assert wanted == (found.words if isinstance(found, Fits) else outcome(found))


@every_row([*ROWS, *MORE])
def test_phrases(language: str, said: str, form: dict[str, str], wanted: str) -> None:
    """Each phrase of the tables comes out as it says, and in words of its language."""
    found = checked(said, form, language=language)
    assert outcome(found) in wanted.split(" or "), found


MOVES = [timedelta(hours=h) for h in (-12, -1, 1, 12)] + [timedelta(days=d) for d in (-7, -1, 1, 7)]


def _moved(form: dict[str, str], by: timedelta) -> dict[str, str]:
    then = datetime.fromisoformat(form["at"]) + by
    return {"at": then.isoformat(timespec="minutes")}


AUTUMN = datetime(2026, 10, 13, 10, 20, tzinfo=BERLIN)
OUTSIDE = [*ENGLISH, *GERMAN, *FRENCH, *SPANISH]


@every_row(OUTSIDE)
def test_phrases_of_strangers(
    language: str, said: str, forms: list[dict[str, str]], wanted: str
) -> None:
    """Each phrase that was written without a look at the tables comes out as it says."""
    for form in forms:
        found = checked(said, form, AUTUMN, language)
        assert outcome(found) in wanted.split(" or "), (form, found)


@every_row((row[0], row[1], row[2][0]) for row in OUTSIDE if row[3] == "fits" and "at" in row[2][0])
def test_no_other_moment_is_set_for_strangers(
    language: str, said: str, form: dict[str, str]
) -> None:
    """Nor is one of theirs set by a form that misses by an hour, half a day, a day or a week."""
    for by in MOVES:
        found = checked(said, _moved(form, by), AUTUMN, language)
        assert outcome(found) != "fits", (by, found)


@every_row(TWISTS)
def test_what_is_twisted_sets_nothing(language: str, said: str, form: dict[str, str]) -> None:
    """A form that goes by a part of the words alone is asked about, or refused."""
    assert outcome(checked(said, form, AUTUMN, language)) != "fits"


@pytest.mark.parametrize(
    ("language", "said", "form"),
    [
        ("en", "every 30 minutes until 5pm", rule("MINUTELY;INTERVAL=30;UNTIL=20261013T170000")),
        ("en", "every day at 9am until the 20th", rule("DAILY;BYHOUR=9;UNTIL=20261020T235900")),
        ("fr", "le lendemain de Noël à 9h", at(12, 26, 9)),
        ("es", "la víspera de Navidad a las 9:00", at(12, 24, 9)),
    ],
)
def test_an_end_and_a_feast_are_followed(language: str, said: str, form: dict[str, str]) -> None:
    """An hour at which it ends, and the days around a feast, are read."""
    assert outcome(checked(said, form, AUTUMN, language)) == "fits"


def test_an_offset_in_a_form_is_taken_into_the_zone() -> None:
    """A moment with an offset is the local one there, and is held against the words like others."""
    there = {"at": "2026-03-27T09:00+01:00"}
    assert outcome(checked("on Friday at nine", there)) == "fits"
    assert outcome(checked("on Friday at nine", {"at": "2026-03-27T09:00Z"})) == "differs"


def test_a_moment_is_said_back() -> None:
    """The day, the date, the hour and how long it is until then are told."""
    found = checked("on Friday at nine", at(3, 27, 9))
    assert isinstance(found, Fits)
    assert found.words == "Friday 27 March, 09:00, in 1 day 19 hours"
    assert found.first == datetime(2026, 3, 27, 9, tzinfo=BERLIN)


@pytest.mark.parametrize(
    ("said", "year", "words"),
    [
        ("in one year", "2027", "Thursday 25 March 2027, 14:00, in 1 year"),
        ("in two years", "2028", "Saturday 25 March 2028, 14:00, in 2 years"),
        ("in ten years", "2036", "Tuesday 25 March 2036, 14:00, in 10 years"),
    ],
)
def test_years_are_those_of_the_calendar(said: str, year: str, words: str) -> None:
    """A leap day among them makes a span no day longer than it was asked for."""
    for late in (0, 20):
        now = NOW.replace(second=late)
        found = checked(said, {"at": f"{year}-03-25T14:00"}, now)
        assert isinstance(found, Fits)
        assert found.words == words


@pytest.mark.parametrize(
    ("language", "said", "words"),
    [
        ("de", "am Freitag um neun", "Freitag, 27. März, 09:00 Uhr, in 1 Tag 19 Stunden"),
        ("fr", "vendredi à neuf heures", "vendredi 27 mars, 09:00, dans 1 jour 19 heures"),
        (
            "es",
            "el viernes a las nueve",
            "viernes 27 de marzo, 09:00, dentro de 1 día 19 horas",
        ),
    ],
)
def test_it_is_said_in_the_language_of_the_words(language: str, said: str, words: str) -> None:
    """German, French and Spanish people are told in their own."""
    found = checked(said, at(3, 27, 9), language=language)
    assert isinstance(found, Fits)
    assert found.words == words


@pytest.mark.parametrize(
    ("language", "said", "words"),
    [
        ("en", "every year on 3 May at 9am", "every year on 3 May, 09:00; first Sunday 3 May"),
        ("de", "jedes Jahr am 3. Mai um 9 Uhr", "jedes Jahr am 3. Mai, 09:00; zuerst Sonntag"),
        ("fr", "tous les ans le 3 mai à 9h", "tous les ans le 3 mai, 09:00 ; d'abord"),
        ("es", "cada año el 3 de mayo a las 9:00", "todos los años el 3 de mayo, 09:00; primero"),
    ],
)
def test_a_date_of_every_year_is_said_as_that(language: str, said: str, words: str) -> None:
    """A birthday is no row of its next three dates."""
    yearly = {"rule": "FREQ=YEARLY;BYMONTH=5;BYMONTHDAY=3;BYHOUR=9;BYMINUTE=0"}
    found = checked(said, yearly, language=language)
    assert isinstance(found, Fits), found
    assert found.words.startswith(words)


def test_both_ways_are_offered() -> None:
    """Who says "at 3" is asked which half of the day it is."""
    found = checked("at 3", at(3, 25, 15))
    assert isinstance(found, AsksBack)
    assert found.choices == ("Wednesday 25 March, 15:00", "Thursday 26 March, 03:00")


@every_row(row[:3] for row in [*FITTING, *MORE] if "at" in row[2])
def test_no_other_moment_is_set(language: str, said: str, form: dict[str, str]) -> None:
    """A form that misses by an hour, half a day, a day or a week is never set."""
    for by in MOVES:
        assert outcome(checked(said, _moved(form, by), language=language)) != "fits", by


@pytest.mark.patient
@every_row(row[:3] for row in [*FITTING, *MORE] if "rule" in row[2] and row[3] == "fits")
def test_no_other_rule_is_set(language: str, said: str, form: dict[str, str]) -> None:
    """A rule with another step, another hour, other days or an end is never set."""
    text = form["rule"]
    other = [f"{text};COUNT=1", text.replace("INTERVAL=2", "INTERVAL=3")]
    other += [text.replace("BYDAY=", "BYDAY=SA,"), text.replace("BYHOUR=", "BYHOUR=5,")]
    other += [text.replace("DAILY", "WEEKLY"), text.replace("WEEKLY", "DAILY", 1)]
    for each in other:
        if each == text or sorted(each.split(";")) == sorted(text.split(";")):
            continue
        found = checked(said, {**form, "rule": each}, language=language)
        if "DAILY" in each and "WEEKLY" in text:
            continue  # the same days, written another way
        assert outcome(found) != "fits" or "SA,SA" in each, each


def test_an_hour_that_the_clocks_leave_out_is_put_forward() -> None:
    """02:30 on the night when there is none rings at 03:30, and people are told."""
    found = checked("on Sunday at 2:30 am", at(3, 29, 2, 30))
    assert isinstance(found, Fits)
    assert found.first.astimezone(UTC) == datetime(2026, 3, 29, 1, 30, tzinfo=UTC)
    assert "03:30" in found.note


def test_an_hour_that_comes_twice_rings_the_first_time() -> None:
    """02:30 on the night when clocks go back is the one before they do."""
    autumn = datetime(2026, 10, 23, 12, 0, tzinfo=BERLIN)
    found = checked("on Sunday at 2:30 am", at(10, 25, 2, 30), autumn)
    assert isinstance(found, Fits)
    assert found.first.astimezone(UTC) == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    assert "first" in found.note


def test_hours_are_counted_by_real_time() -> None:
    """Twelve hours over a change of the clocks are twelve hours."""
    eve = datetime(2026, 3, 28, 20, 0, tzinfo=BERLIN)
    found = checked("in twelve hours", span("PT12H"), eve)
    assert isinstance(found, Fits)
    assert found.first.astimezone(UTC) - eve.astimezone(UTC) == timedelta(hours=12)


def test_days_are_counted_on_the_calendar() -> None:
    """A day over a change of the clocks is the same hour on the next day."""
    eve = datetime(2026, 3, 28, 20, 0, tzinfo=BERLIN)
    found = checked("in one day", span("P1D"), eve)
    assert isinstance(found, Fits)
    assert (found.first.day, found.first.hour) == (29, 20)


def test_hours_of_a_day_may_be_named_when_they_are_over() -> None:
    """At eight in the evening, every hour from nine to five is from tomorrow on."""
    hours = ",".join(map(str, range(9, 18)))
    form = {"rule": f"FREQ=DAILY;BYHOUR={hours};BYMINUTE=0"}
    found = checked("every hour from 9 to 5", form, NOW.replace(hour=20))
    assert isinstance(found, Fits)
    assert found.first == NOW.replace(day=26, hour=9)


def test_a_zone_that_nobody_named_is_asked_about() -> None:
    """A form may not move a person to another zone by itself."""
    assert outcome(checked("tomorrow at 9am", {**at(3, 26, 9), "zone": "Asia/Tokyo"})) == "asks"
    there = checked("tomorrow at 9am Tokyo time", {**at(3, 26, 9), "zone": "Asia/Tokyo"})
    assert isinstance(there, Fits)
    assert there.first.astimezone(UTC) == datetime(2026, 3, 26, 0, 0, tzinfo=UTC)


@every_row(
    [(*row, NOW) for row in [*ROWS, *MORE] if row[3] == "fits"]
    + [(row[0], row[1], row[2][0], row[3], AUTUMN) for row in OUTSIDE if row[3] == "fits"]
)
def test_words_alone_fill_a_form_that_fits(
    language: str, said: str, form: dict[str, str], wanted: str, now: datetime
) -> None:
    """Where a form fits its words, the words fill one that does: with its beginning and its end."""
    found = check(filled_form(said, now, ZONE, language), now, ZONE, language)
    assert outcome(found) == wanted, found


@every_row(
    [
        ("in 2 days 3 hours", "2026-03-27T17:00"),
        ("in 1 week and 2 hours", "2026-04-01T16:00"),
        ("at 15h", "2026-03-25T15:00"),
        ("at 8h30", "2026-03-26T08:30"),
        ("in 1h30", "2026-03-25T15:30"),
        ("in 45m", "2026-03-25T14:45"),
        ("every 30m", "2026-03-25T14:30"),
        ("once a week on monday at 9", "2026-03-30T09:00"),
        ("once a day at 9", "2026-03-26T09:00"),
        ("every day at 9 from monday", "2026-03-30T09:00"),
    ]
)
def test_first_rings_of_what_people_type(said: str, first: str) -> None:
    """What people type is set for that moment, and not for what a part of its words would say."""
    found = check(filled_form(said, NOW, ZONE, "en"), NOW, ZONE)
    assert isinstance(found, Fits), found
    assert f"{found.first.astimezone(BERLIN):%Y-%m-%dT%H:%M}" == first


@every_row(
    [
        ("en", "once an hour", "hourly"),
        ("de", "einmal pro Woche am Montag um 9 Uhr", "weekly"),
        ("de", "1x die Woche montags um 9 Uhr", "weekly"),
        ("de", "einmal täglich um 8 Uhr", "daily"),
        ("de", "einmal im Jahr 2027 am 3. März um 9 Uhr", ""),
        ("fr", "une fois par semaine le lundi à 9h", "weekly"),
        ("fr", "une fois la semaine, le vendredi à 10h", "weekly"),
        ("fr", "une fois par jour à 8h", "daily"),
        ("es", "una vez a la semana el lunes a las 9:00", "weekly"),
        ("es", "una vez al día a las 8:00", "daily"),
    ]
)
def test_once_in_a_span_is_each_of_them(language: str, said: str, how: str) -> None:
    """Once a week is every week, in each language, and without an end."""
    form = filled_form(said, NOW, ZONE, language)
    assert form.rule.startswith(f"FREQ={how.upper()}") == bool(how), form
    assert "COUNT" not in form.rule
    assert not how or isinstance(check(form, NOW, ZONE, language), Fits)


@every_row(
    [
        ("de", "einmal pro Woche", "An welchem Tag soll das sein?"),
        ("fr", "une fois par semaine", "Quel jour ?"),
        ("es", "una vez a la semana", "¿Qué día?"),
    ]
)
def test_once_a_week_is_asked_for_its_day(language: str, said: str, question: str) -> None:
    """Where only the day is open, the day is what is asked for."""
    found = check(filled_form(said, NOW, ZONE, language), NOW, ZONE, language)
    assert isinstance(found, AsksBack)
    assert found.question == question


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago"])
@pytest.mark.parametrize(
    "form",
    [
        {},
        {"at": "9999-12-31T23:59-14:00"},
        {"in": "P9999Y"},
        {"in": "PT99999999999999H"},
        {"rule": "FREQ=DAILY;BYHOUR=9", "start": "9999-12-31T23:59-14:00"},
        {"rule": "FREQ=DAILY;BYHOUR=9;UNTIL=2030"},
        {"rule": f"FREQ=HOURLY;BYDAY=MO;INTERVAL={'9' * 5000}"},
        {"rule": "FREQ=MONTHLY;BYDAY=9999999999999MO;BYHOUR=9"},
    ],
)
@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "in 9999 years"),
        ("de", "in 9999 jahren"),
        ("en", "in 99999999999999 minutes"),
        ("en", "every day at 9 for 9999 years"),
        ("en", "every 9999 years on 1 january at 9"),
    ],
)
def test_beyond_the_calendar_nothing_breaks(
    language: str, said: str, form: dict[str, str], zone: str
) -> None:
    """What rings after the year 9999, or by numbers without end, comes to something too."""
    given = {"said": said, **form} if form else filled_form(said, NOW, zone, language)
    found = outcome(check(given, NOW, zone, language))
    assert found != "fits" or not form


def test_the_end_of_a_rule_is_said_as_its_last_ring() -> None:
    """Four weeks of Mondays end with the fourth of them, not on the fifth Monday."""
    found = check(filled_form("every monday at 9 for 4 weeks", NOW, ZONE, "en"), NOW, ZONE)
    assert isinstance(found, Fits)
    assert "until Monday 20 April" in found.words


@given(strategies.text(max_size=60), strategies.sampled_from(["en", "de", "fr", "es", "it"]))
def test_any_words_come_to_something(said: str, language: str) -> None:
    """Whatever the words and the form are, the checking ends with one of the three."""
    for form in (at(3, 27, 9), span("PT2H"), rule("DAILY;BYHOUR=9")):
        assert outcome(checked(said, form, language=language))


@pytest.mark.patient
@every_row(
    (row[0], row[1], row[2][0]["rule"])
    for row in OUTSIDE
    if row[3] == "fits" and "rule" in row[2][0]
)
def test_no_other_rule_is_set_for_strangers(language: str, said: str, rule_of: str) -> None:
    """Nor is a rule of theirs set that rings once, at another step, hour or minute."""
    step = re.search(r"INTERVAL=(\d+)", rule_of)
    other = [f"{rule_of};COUNT=1"] if "COUNT" not in rule_of and "UNTIL" not in rule_of else []
    other += [
        rule_of.replace(step[0], f"INTERVAL={int(step[1]) + 1}")
        if step
        else f"{rule_of};INTERVAL=2"
    ]
    if hour := re.search(r"BYHOUR=(\d+)", rule_of):
        other += [rule_of.replace(hour[0], f"BYHOUR={(int(hour[1]) + by) % 24}") for by in (1, 12)]
    for each in other:
        found = checked(said, {"rule": each}, AUTUMN, language)
        assert outcome(found) != "fits", (each, found)
