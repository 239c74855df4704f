"""Reading what somebody said of when: which days, hours, spans and repetitions it names.

Does not know what day it is: "on Friday" is read as a claim about a day, and which day that is
stands in spoken_moments.py. What it does not understand it keeps, so that people can be asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from msgspec import Struct

from loopforge.schedule.phrases.english import ENGLISH
from loopforge.schedule.phrases.french import FRENCH
from loopforge.schedule.phrases.german import GERMAN
from loopforge.schedule.phrases.phrase_patterns import PhraseTable, compile_table, normalize_phrase
from loopforge.schedule.phrases.spanish import SPANISH

LONGEST = 300
"""Characters of words that may say when; more than these are about something else."""
TABLES = {"en": ENGLISH, "de": GERMAN, "fr": FRENCH, "es": SPANISH}
Style = Literal["exact", "clock", "bare"]
_FREQUENT = {
    "hourly": "h",
    "stundlich": "h",
    "daily": "d",
    "taglich": "d",
    "quotidiennement": "d",
    "diariamente": "d",
    "weekly": "w",
    "fortnightly": "f",
    "wochentlich": "w",
    "hebdomadairement": "w",
    "semanalmente": "w",
    "monthly": "mo",
    "monatlich": "mo",
    "mensuellement": "mo",
    "mensualmente": "mo",
    "yearly": "y",
    "annually": "y",
    "jahrlich": "y",
    "alljahrlich": "y",
    "annuellement": "y",
    "anualmente": "y",
    "minutlich": "min",
    "minute": "min",
}
_NTH = (
    (("first", "1", "erst", "prem", "prim"), 1),
    (("sec", "2", "zweit", "deux", "seg"), 2),
    (("third", "3", "dritt", "trois", "terc"), 3),
    (("fourth", "4", "viert", "quatr", "cuart"), 4),
    (("fifth", "5", "funft", "cinq", "quint"), 5),
    (("last", "letzt", "dern", "ult"), -1),
)
_DAY = re.compile(r"\d{1,2}(?:st|nd|rd|th|er|\.|º|o)?")
_ELIDED = re.compile(r"^(?:[dlnsjmt]|qu)'")
WORKING = -1
"""In place of a day of the week: any day on which people work."""
_WORD = re.compile(r"[^\s|]+")
_SIGNED = re.compile(r"(?:^|\s)([-−–]\d\S*)")
"""A number below nothing: no table has one, and without its sign it is another."""


class HourClaim(Struct, frozen=True, kw_only=True):
    """A time of day as it was said, hour 0 to 24.

    `style`: "exact" (15:00, 3 pm), as clocks show it ("8:30", "8 Uhr"), or "bare" ("at three").
    """

    hour: int
    minute: int = 0
    style: Style = "bare"


class DayClaim(Struct, frozen=True, kw_only=True):
    """Something said of a day; `kind` says which of the numbers count."""

    kind: Literal[
        "plus", "wd", "this", "next", "week", "weekday of week", "date", "either", "monthday",
        "monthend", "month", "holiday", "shifted", "weeks from", "nth of"
    ]  # fmt: skip
    n: int = 0
    weekday: int = -1
    day: int = 0
    month: int = 0
    year: int = 0
    name: str = ""


@dataclass
class SpokenWhen:
    """What was said of when. `vague` and `unread` are words that leave something open.

    `every` is a unit and how many of them; `strange` are words that may mean anything. `inclusive`:
    a number of days may count today ("in acht Tagen").
    """

    days: list[DayClaim] = field(default_factory=list)
    hours: list[HourClaim] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    offset: list[tuple[float, str]] = field(default_factory=list)
    every: tuple[float, str] | None = None
    weekdays: list[int] = field(default_factory=list)
    nth: tuple[int, int] | None = None
    monthdays: list[int] = field(default_factory=list)
    window: tuple[HourClaim, HourClaim] | None = None
    begin: SpokenWhen | None = None
    until: SpokenWhen | None = None
    count: int = 0
    span: tuple[float, str] | None = None
    past: bool = False
    inclusive: bool = False
    vague: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)

    @property
    def recurring(self) -> bool:
        """Whether it is to ring again and again."""
        return bool(self.every or self.weekdays or self.nth or self.monthdays)

    @property
    def empty(self) -> bool:
        """Whether nothing of when was found in it."""
        said = self.days or self.hours or self.parts or self.offset or self.window
        return not (said or self.recurring or self.vague or self.past)


def read_spoken_when(said: str, language: str) -> SpokenWhen:
    """What these words say of when, in this language, or in whichever explains more of them."""
    if len(said) > LONGEST:
        return SpokenWhen(unread=[said])
    first = TABLES.get(language[:2].lower(), ENGLISH)
    best, left = _read(said, first)
    if not (best.empty or best.unread or best.strange):
        return best
    for table in TABLES.values():
        other, rest = _read(said, table)
        if not other.empty and (rest, best.empty) < (left, True) and rest < left:
            best, left = other, rest
    return best


def spoken_language(said: str) -> str:
    """The language that explains most of these words; English where none does better."""
    left = {name: _read(said[:LONGEST], table)[1] for name, table in TABLES.items()}
    return min(left, key=lambda name: left[name])


def is_time(said: str, language: str) -> bool:
    """Whether these words say when, and not one of them says anything else."""
    found = read_spoken_when(said, language)
    return not (found.empty or found.unread or found.strange)


@cache
def _patterns(language: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return compile_table(TABLES[language])


def _read(said: str, table: PhraseTable) -> tuple[SpokenWhen, int]:
    """What is read by one table, and how many letters of other words are left."""
    found, text = SpokenWhen(), normalize_phrase(said)
    language = next(name for name, one in TABLES.items() if one is table)
    reader = _Reader(found, table)
    for kind, pattern in _patterns(language):
        text = pattern.sub(lambda match, kind=kind: reader.take(kind, match), text)  # type: ignore[misc]
    known = {*table.weekdays, *table.months, *table.units, *table.parts, *table.ordinals} | {
        word for word, value in table.numbers.items() if value != 1 and " " not in word
    }
    if "midday" in found.parts and not found.hours:
        found.parts.remove("midday")
        found.hours.append(HourClaim(hour=12, style="exact"))
    for word in _WORD.findall(text):
        word = _ELIDED.sub("", word)
        if not word or word in table.idle:
            continue
        timely = word in known or word in table.heavy or any(sign.isdigit() for sign in word)
        (found.unread if timely else found.strange).append(word)
    found.unread += _SIGNED.findall(said)
    return found, sum(map(len, (*found.unread, *found.strange)))


class _Reader:
    """Writes down what patterns of one table took."""

    def __init__(self, found: SpokenWhen, table: PhraseTable) -> None:
        self._found, self._table = found, table

    def take(self, kind: str, match: re.Match[str]) -> str:
        """Write one match down; what is left in its place."""
        groups = {n.rstrip("_"): text for n, text in match.groupdict().items() if text}
        take: Callable[[dict[str, str], str], bool | None] | None = getattr(self, f"_{kind}", None)
        if take is None:
            take = self._simple(kind)
        return match[0] if take(groups, match[0]) is False else " | "

    def _simple(self, kind: str) -> Callable[[dict[str, str], str], None]:
        found = self._found
        match kind:
            case "plus0" | "plus1" | "plus2":
                claim = DayClaim(kind="plus", n=int(kind[-1]))
            case "week1" | "week2":
                claim = DayClaim(kind="week", n=int(kind[-1]))
            case _:
                assert kind == "month1", kind
                claim = DayClaim(kind="month", n=1)
        return lambda _groups, _text: found.days.append(claim)

    # ------------------------------------------------------------ numbers

    def _number(self, text: str | None, default: float = 1) -> float:
        if not text:
            return default
        if text[0].isdigit():
            return float(text.replace(",", "."))
        return self._table.numbers.get(text, default)

    def _ordinal(self, text: str) -> int:
        if digits := re.match(r"\d+", text):
            return int(digits[0])
        return self._table.ordinals.get(text, 0)

    def _units(self, text: str) -> tuple[float, str]:
        """A unit as one that is counted in, and how many of those it is."""
        unit = self._table.units.get(text) or _FREQUENT.get(text, "d")
        return {"q": (15, "min"), "f": (2, "w"), "f15": (15, "d")}.get(unit, (1, unit))

    def _spanned(self, groups: dict[str, str], tail: str = "") -> tuple[float, str]:
        each, unit = self._units(groups.get(f"unit{tail}", ""))
        return self._number(groups.get(f"n{tail}")) * each, unit

    # ------------------------------------------------------------ open ends

    def _past(self, _groups: dict[str, str], _text: str) -> None:
        self._found.past = True

    def _vague(self, _groups: dict[str, str], text: str) -> None:
        self._found.vague.append(text.strip())

    def _inner(self, text: str) -> SpokenWhen:
        if text in self._table.months:
            claim = DayClaim(kind="date", day=1, month=self._table.months[text])
            return SpokenWhen(days=[claim])
        if _DAY.fullmatch(text) or text in self._table.ordinals:
            return SpokenWhen(days=[DayClaim(kind="monthday", day=self._ordinal(text))])
        return _read(text, self._table)[0]

    def _until(self, groups: dict[str, str], text: str) -> None:
        if groups["rest"].strip() in self._table.months:
            self._found.vague.append(text)  # to its beginning, or to its end?
        self._found.until = self._inner(groups["rest"].strip())

    def _from(self, groups: dict[str, str], _text: str) -> None:
        self._found.begin = self._inner(groups["rest"].strip())

    def _count(self, groups: dict[str, str], _text: str) -> None:
        word = groups.get("n") or groups.get("n2", "")
        self._found.count = {"once": 1, "twice": 2}.get(word) or int(self._number(word))

    def _span(self, groups: dict[str, str], _text: str) -> None:
        self._found.span = self._spanned(groups)

    # ------------------------------------------------------------ again and again

    def _days_in(self, text: str) -> list[int]:
        words = re.findall("|".join(sorted(self._table.weekdays, key=len, reverse=True)), text)
        return [self._table.weekdays[word] for word in words]

    def _weekly(self, days: list[int], interval: float = 1) -> None:
        self._found.weekdays += [day for day in days if day not in self._found.weekdays]
        if interval != 1 or self._found.every is None:
            self._found.every = (interval, "w")

    def _range(self, groups: dict[str, str], _text: str) -> None:
        first, last = (self._table.weekdays[groups[each]] for each in ("wd", "wd2"))
        self._weekly([day % 7 for day in range(first, last + 1 + 7 * (last < first))])

    def _weekdays(self, _groups: dict[str, str], _text: str) -> None:
        self._weekly([0, 1, 2, 3, 4])

    def _except(self, groups: dict[str, str], text: str) -> None:
        left = set(range(5 if "week" in text else 7)) - set(self._days_in(groups["wds"]))
        self._weekly(sorted(left))

    def _nthwork(self, groups: dict[str, str], _text: str) -> None:
        self._found.nth = (_nth_of(groups["ord"]), WORKING)
        self._found.every = (1, "mo")

    def _weekends(self, _groups: dict[str, str], _text: str) -> None:
        self._weekly([5, 6])

    def _plurals(self, groups: dict[str, str], _text: str) -> None:
        self._weekly(self._days_in(groups.get("wds") or groups["wds2"]))

    def _every1(self, groups: dict[str, str], _text: str) -> None:
        self._weekly(self._days_in(groups["wds"]))

    def _everyday(self, groups: dict[str, str], _text: str) -> None:
        third = _nth_of(groups["nth"]) if "nth" in groups else 2
        self._weekly(self._days_in(groups.get("wds") or groups["wd"]), third)

    def _every(self, groups: dict[str, str], text: str) -> None:
        half = groups.get("n", groups.get("n2", "")).startswith(("half", "halb"))
        unit = groups.get("unit") or groups.get("unit2") or ("hour" if half else "")
        if half or "half" in text:
            self._found.every = (30, "min")
            return
        each, counted = self._units(unit)
        number = self._number(groups.get("n"))
        if "other" in groups or "other2" in groups:
            number = 2
        if "nth" in groups:
            number = _nth_of(groups["nth"])
        self._found.every = (number * each, counted)
        self._inclusive(*self._found.every)

    def _inclusive(self, number: float, unit: str) -> None:
        self._found.inclusive |= unit == "d" and number in self._table.inclusive

    def _yearly(self, _groups: dict[str, str], _text: str) -> None:
        self._found.every = (1, "y")

    def _everypart(self, groups: dict[str, str], _text: str) -> None:
        self._found.every = (1, "d")
        self._found.parts.append(self._table.parts[groups["part"]])

    def _nth(self, groups: dict[str, str], text: str) -> None:
        if re.search(r"of the month$", text) and not text.startswith("every"):
            self._found.vague.append(text)
        self._found.nth = (_nth_of(groups["ord"]), self._table.weekdays[groups["wd"]])
        self._found.every = (1, "mo")

    def _nthof(self, groups: dict[str, str], _text: str) -> None:
        self._found.days.append(
            DayClaim(
                kind="nth of",
                n=_nth_of(groups["ord"]),
                weekday=self._table.weekdays[groups["wd"]],
                month=self._table.months.get(groups["mon"], 0),
                name="this" if re.match("this|ce |este ", groups["mon"]) else "",
            )
        )

    def _monthdays(self, groups: dict[str, str], _text: str) -> None:
        days = [self._ordinal(groups[name]) for name in ("ord", "ord2") if name in groups]
        self._found.monthdays += days
        self._found.every = (1, "mo")

    def _monthend(self, groups: dict[str, str], _text: str) -> None:
        if re.search(r"every|each|jede|chaque|cada|eines", groups["mo"]):
            self._found.monthdays.append(-1)
            self._found.every = (1, "mo")
            return
        later = re.search(r"next|nachste|prochain|proximo", groups["mo"])
        self._found.days.append(DayClaim(kind="monthend", n=1 if later else 0))

    # ------------------------------------------------------------ spans

    def _offset(self, groups: dict[str, str], _text: str) -> None:
        number, unit = self._spanned(groups)
        if "quarters" in groups:
            number, unit = 45, "min"
        elif "unit" not in groups:
            unit = "h"
        if "half" in groups:
            number += 0.5
        if "quarter" in groups:
            number += 0.25
        self._found.offset.append((number, unit))
        self._inclusive(number, unit)
        if "n2" in groups:
            self._found.offset.append(self._spanned(groups, "2"))
        if "m" in groups:
            self._found.offset.append((self._number(groups["m"]), "min"))

    def _shifted(self, groups: dict[str, str], _text: str) -> None:
        number, unit = self._spanned(groups)
        days = int(number * {"d": 1, "w": 7}.get(unit, 1))
        before = groups["dir"].startswith(("before", "vor", "avant", "antes", "veille", "vispera"))
        name = self._table.holidays[groups["hol"]]
        self._found.days.append(DayClaim(kind="shifted", n=-days if before else days, name=name))

    def _weekon(self, _groups: dict[str, str], text: str) -> None:
        self._found.days.append(DayClaim(kind="weeks from", n=7, weekday=self._days_in(text)[0]))

    def _weekoff(self, groups: dict[str, str], text: str) -> None:
        fort = groups.get("fort") or groups.get("fort2")
        number, unit = self._spanned(groups)
        days = int(number * (7 if unit == "w" else 1))
        if unit == "d" and days in self._table.inclusive:
            self._found.vague.append(text)
        if fort:
            days = 7 if fort in ("huit", "ocho") else 14
        if weekdays := self._days_in(text):
            claim = DayClaim(kind="weeks from", n=days, weekday=weekdays[0])
        else:
            morrow = re.search(r"tomorrow|morgen|demain|manana", text)
            claim = DayClaim(kind="plus", n=days + bool(morrow))
        self._found.days.append(claim)

    # ------------------------------------------------------------ days

    def _tonight(self, groups: dict[str, str], _text: str) -> None:
        self._found.days.append(DayClaim(kind="plus", n=0))
        self._found.parts.append(
            "evening" if groups.get("part") in ("soir", "evening", "noche") else "night"
        )

    def _part0(self, groups: dict[str, str], _text: str) -> None:
        self._found.days.append(DayClaim(kind="plus", n=0))
        self._found.parts.append(self._table.parts[groups["part"]])

    def _midday0(self, _groups: dict[str, str], _text: str) -> None:
        self._found.days.append(DayClaim(kind="plus", n=0))
        self._midday({}, "")

    def _wdpart(self, groups: dict[str, str], text: str) -> None:
        self._wds(groups, text)
        self._found.parts.append(self._table.parts[groups["part"]])

    def _nextwdpart(self, groups: dict[str, str], text: str) -> None:
        self._nextwd(groups, text)
        self._found.parts.append(self._table.parts[groups["part"]])

    def _wdmidday(self, groups: dict[str, str], text: str) -> None:
        self._wds(groups, text)
        self._midday({}, "")

    def _wdday(self, groups: dict[str, str], text: str) -> bool | None:
        if self._day0(groups, text) is False:
            return False
        self._wds(groups, text)
        return None

    def _wdweek(self, groups: dict[str, str], _text: str, weeks: int = 1) -> None:
        weekday = self._table.weekdays[groups.get("wd") or groups["wd2"]]
        self._found.days.append(DayClaim(kind="weekday of week", n=weeks, weekday=weekday))

    def _wdweek0(self, groups: dict[str, str], text: str) -> None:
        self._wdweek(groups, text, 0)

    def _nextwd(self, groups: dict[str, str], text: str) -> None:
        after = 1 if "after" in text or text.startswith("uber") or "ubernachste" in text else 0
        weekday = self._table.weekdays[groups["wd"]]
        self._found.days.append(DayClaim(kind="next", n=after, weekday=weekday))

    def _thiswd(self, groups: dict[str, str], _text: str) -> None:
        weekday = self._table.weekdays[groups["wd"]]
        self._found.days.append(DayClaim(kind="this", weekday=weekday))

    def _wds(self, groups: dict[str, str], _text: str) -> None:
        for weekday in self._days_in(groups.get("wds") or groups["wd"]):
            self._found.days.append(DayClaim(kind="wd", weekday=weekday))

    def _date(self, groups: dict[str, str], _text: str) -> bool | None:
        day = int(groups["day"]) if "day" in groups else self._ordinal(groups["ord"])
        month = int(groups["month"]) if "month" in groups else self._table.months[groups["mon"]]
        if not (1 <= day <= 31 and 1 <= month <= 12):
            return False
        year = int(groups.get("y", "0"))
        self._found.days.append(DayClaim(kind="date", day=day, month=month, year=year))
        return None

    def _slash(self, groups: dict[str, str], _text: str) -> bool | None:
        one, two, year = int(groups["a"]), int(groups["b"]), int(groups.get("y", "0"))
        if not (min(one, two) in range(1, 13) and max(one, two) <= 31):
            return False
        year += 2000 if 0 < year < 100 else 0
        claim = DayClaim(kind="either", day=one, month=two, year=year)
        if max(one, two) > 12 or one == two:
            claim = DayClaim(kind="date", day=max(one, two), month=min(one, two), year=year)
        self._found.days.append(claim)
        return None

    def _day0(self, groups: dict[str, str], _text: str) -> bool | None:
        day = self._ordinal(groups["ord"])
        if not 1 <= day <= 31:
            return False
        self._found.days.append(DayClaim(kind="monthday", day=day))
        return None

    def _holiday(self, groups: dict[str, str], _text: str) -> None:
        name, year = self._table.holidays[groups["hol"]], int(groups.get("y", "0"))
        self._found.days.append(DayClaim(kind="holiday", name=name, year=year))

    # ------------------------------------------------------------ hours

    def _part(self, groups: dict[str, str], _text: str) -> None:
        self._found.parts.append(self._table.parts[groups["part"]])

    def _ampm(self, groups: dict[str, str], _text: str) -> None:
        self._found.parts.append(groups["ap"])

    def _add(self, hour: int, minute: int, style: Style = "bare", half: str = "") -> None:
        if half == "am" and hour > 12:
            self._found.unread.append(f"{hour} am")
        if half:
            hour, style = hour % 12 + 12 * (half == "pm"), "exact"
        if hour > 12 or hour == 0:
            style = "exact"
        self._found.hours.append(HourClaim(hour=hour, minute=minute, style=style))

    def _clock(self, groups: dict[str, str], text: str, style: Style | None = None) -> None:
        hour = int(self._number(groups["h"]))
        minute = int(self._number(groups.get("mm") or groups.get("m"), 0))
        if style is None:
            style = "clock" if "mm" in groups and groups["mm"][0].isdigit() else "bare"
        if groups["h"].startswith("0") and len(groups["h"]) == 2:
            style = "exact"
        if "half" in groups:
            minute = 30
        if "quarter" in groups:
            minute = 15
        if "less" in groups or re.search(r" (?:moins|menos) ", text):
            hour, minute = hour - 1, 45 if "less" in groups else 60 - minute
        self._add(hour, minute, style, groups.get("ap", "") or groups.get("ap2", ""))
        if "h2" in groups:
            second = int(self._number(groups["h2"]))
            self._add(second, int(groups.get("mm2", "0")), style, groups.get("ap2", ""))

    def _hourclock(self, groups: dict[str, str], text: str) -> None:
        self._clock(groups, text, "clock")

    def _time(self, groups: dict[str, str], _text: str) -> None:
        self._add(int(self._number(groups["h"])), 30, half=groups.get("ap", ""))

    def _relative(self, groups: dict[str, str], minutes: int) -> None:
        hour = int(self._number(groups["h"]))
        if minutes < 0:
            hour = hour - 1 or 12 if hour <= 12 else hour - 1
        self._add(hour, minutes % 60, half=groups.get("ap", ""))

    def _quarterpast(self, groups: dict[str, str], _text: str) -> None:
        self._relative(groups, 15)

    def _quarterto(self, groups: dict[str, str], _text: str) -> None:
        self._relative(groups, -15)

    _threequarter = _quarterto

    def _minhalf(self, groups: dict[str, str], _text: str) -> None:
        minutes = int(self._number(groups["m"]))
        self._relative(groups, -30 + (-minutes if groups["dir"] == "vor" else minutes))

    def _hhmm(self, groups: dict[str, str], _text: str) -> None:
        self._add(int(groups["h"]), int(groups.get("mm", "0")), "exact")

    def _aroundnoon(self, groups: dict[str, str], _text: str) -> None:
        minutes = 24 * 60 if groups["noon"] == "minuit" else 12 * 60
        if "quarter" in groups or "half" in groups:
            minutes += 15 if "quarter" in groups else 30
        else:
            minutes -= 15 if "less" in groups else int(self._number(groups["m"]))
        self._add(minutes // 60, minutes % 60, "exact")

    def _halfto(self, groups: dict[str, str], _text: str) -> None:
        self._relative(groups, -30)

    def _minpast(self, groups: dict[str, str], _text: str) -> None:
        self._relative(groups, int(self._number(groups["m"])))

    def _minto(self, groups: dict[str, str], _text: str) -> None:
        self._relative(groups, -int(self._number(groups["m"])))

    def _midday(self, _groups: dict[str, str], _text: str) -> None:
        self._found.parts.append("midday")  # noon, unless an hour is named beside it

    def _noon(self, _groups: dict[str, str], _text: str) -> None:
        self._add(12, 0, "exact")

    def _noonhalf(self, _groups: dict[str, str], _text: str) -> None:
        self._add(12, 30, "exact")

    def _midnight(self, _groups: dict[str, str], _text: str) -> None:
        self._add(24, 0, "exact")

    def _window(self, groups: dict[str, str], _text: str) -> None:
        late = groups.get("ap2", "")
        ends = []
        for name, half in (("h", groups.get("ap", "")), ("h2", late)):
            hour = int(self._number(groups[name]))
            minute = int(groups.get("mm", "0")) if name == "h" else 0
            hour = hour % 12 + 12 * (half == "pm") if half else hour
            ends.append(HourClaim(hour=hour, minute=minute))
        if ends[1].hour <= ends[0].hour and not late:
            ends[1] = HourClaim(hour=ends[1].hour + 12)
        self._found.window = (ends[0], ends[1])


def _nth_of(text: str) -> int:
    """Which of several: "third" is 3, "last" -1."""
    return next((n for starts, n in _NTH if text.startswith(starts)), 0)
