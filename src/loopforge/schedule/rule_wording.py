"""Rules in words: "every weekday, 09:00", as far as there are such words; else by their moments."""

from collections.abc import Sequence
from datetime import datetime

from loopforge.schedule.time_wording import (
    localized_list,
    localized_sentence,
    told_moment,
    words_of,
)

_EACH = {
    "en": ("every minute", "every hour", "every day", "every week", "every month", "every year"),
    "de": ("jede Minute", "jede Stunde", "jeden Tag", "jede Woche", "jeden Monat", "jedes Jahr"),
    "fr": (
        "toutes les minutes",
        "toutes les heures",
        "tous les jours",
        "toutes les semaines",
        "tous les mois",
        "tous les ans",
    ),
    "es": ("cada minuto", "cada hora", "todos los días", "cada semana", "cada mes", "cada año"),
}
_SOME = {
    "en": tuple(f"every {{n}} {unit}s" for unit in "minute hour day week month year".split()),
    "de": tuple(
        f"alle {{n}} {unit}" for unit in "Minuten Stunden Tage Wochen Monate Jahre".split()
    ),
    "fr": (
        "toutes les {n} minutes",
        "toutes les {n} heures",
        "tous les {n} jours",
        "toutes les {n} semaines",
        "tous les {n} mois",
        "tous les {n} ans",
    ),
    "es": tuple(f"cada {{n}} {unit}" for unit in "minutos horas días semanas meses años".split()),
}
_FREQ = ("MINUTELY", "HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY")
_DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_NTH = {
    "en": {"1": "first", "2": "second", "3": "third", "4": "fourth", "5": "fifth", "-1": "last"},
    "de": {"1": "ersten", "2": "zweiten", "3": "dritten", "4": "vierten", "5": "fünften"},
    "fr": {"1": "premier", "2": "deuxième", "3": "troisième", "4": "quatrième", "-1": "dernier"},
    "es": {"1": "primer", "2": "segundo", "3": "tercer", "4": "cuarto", "-1": "último"},
}
_NTH["de"]["-1"] = "letzten"
_NTH_OF = {
    "en": "on the {nth} {day} of every month",
    "de": "am {nth} {day} jedes Monats",
    "fr": "le {nth} {day} de chaque mois",
    "es": "el {nth} {day} de cada mes",
}


def told_rule(rule: str, rings: Sequence[datetime], now: datetime, language: str) -> str:
    """Such as "every weekday, 09:00"; `rings` are its first moments, local."""
    parts = dict(
        part.split("=", 1) for part in rule.upper().removeprefix("RRULE:").split(";") if part
    )
    language = language[:2].lower() if language[:2].lower() in _EACH else "en"
    told = _days(parts, language)
    if not told:
        return _by_rings(rings, now, language)
    often = parts["FREQ"] in ("HOURLY", "MINUTELY")
    times = sorted({f"{one:%H:%M}" for one in rings})
    if often and "BYHOUR" in parts:
        return _by_rings(rings, now, language)
    if not often:
        if len(times) > 4:
            return _by_rings(rings, now, language)
        told += f", {localized_list(times, language)}"
    if "COUNT" in parts:
        told += f", {localized_sentence(language, 'ends', n=parts['COUNT'])}"
    elif "UNTIL" in parts:
        last = datetime.fromisoformat(parts["UNTIL"].rstrip("Z"))
        day = told_moment(last, now, language)
        if parts["FREQ"] not in ("HOURLY", "MINUTELY"):
            day = day.rpartition(",")[0]
        told += f", {localized_sentence(language, 'last', day=day)}"
    return told


def _days(parts: dict[str, str], language: str) -> str:
    """On which days, in words; "" where there are none for it."""
    if {"BYMONTH", "BYMONTHDAY"} <= parts.keys():
        return _yearly(parts, language)
    known = {"FREQ", "INTERVAL", "BYDAY", "BYMONTHDAY", "BYHOUR", "BYMINUTE", "BYSECOND"}
    if set(parts) - known - {"COUNT", "UNTIL", "WKST"} or parts.get("FREQ") not in _FREQ:
        return ""
    nth, number = _FREQ.index(parts["FREQ"]), parts.get("INTERVAL", "1")
    names = words_of(language).days
    days = parts["BYDAY"].split(",") if "BYDAY" in parts else []
    if parts["FREQ"] == "MONTHLY" and number == "1":
        return _monthly(parts, days, names, language)
    if any(day not in _DAYS for day in days) or "BYMONTHDAY" in parts:
        return ""
    told = [names[_DAYS.index(day)] for day in days]
    if days and parts["FREQ"] in ("WEEKLY", "DAILY") and number == "1":
        if days == list(_DAYS[:5]):
            return localized_sentence(language, "weekdays")
        return localized_sentence(language, "on", days=localized_list(told, language))
    each = _EACH[language][nth] if number == "1" else _SOME[language][nth].format(n=number)
    return f"{each}, {localized_list(told, language)}" if told else each


def _monthly(parts: dict[str, str], days: list[str], names: Sequence[str], language: str) -> str:
    monthdays = parts.get("BYMONTHDAY", "")
    if monthdays == "-1" and not days:
        return localized_sentence(language, "lastday")
    if monthdays and not days and "-" not in monthdays:
        return localized_sentence(
            language, "monthday", days=localized_list(monthdays.split(","), language)
        )
    if len(days) == 1 and not monthdays and days[0][:-2].lstrip("+") in _NTH[language]:
        day, which = names[_DAYS.index(days[0][-2:])], _NTH[language][days[0][:-2].lstrip("+")]
        return _NTH_OF[language].format(nth=which, day=day)
    return "" if days or monthdays else _EACH[language][4]


def _yearly(parts: dict[str, str], language: str) -> str:
    """On one date of every year; "" for any other rule of months and their days."""
    month, day = parts["BYMONTH"], parts["BYMONTHDAY"]
    known = {"FREQ", "INTERVAL", "BYMONTH", "BYMONTHDAY", "BYHOUR", "BYMINUTE", "BYSECOND"}
    more = set(parts) - known - {"COUNT", "UNTIL", "WKST"}
    if more or parts.get("FREQ") != "YEARLY" or parts.get("INTERVAL", "1") != "1":
        return ""
    names = words_of(language).months
    if month not in map(str, range(1, len(names) + 1)) or not day.isdecimal():
        return ""
    return localized_sentence(language, "yearday", n=day, month=names[int(month) - 1])


def _by_rings(rings: Sequence[datetime], now: datetime, language: str) -> str:
    first, *more = (told_moment(one, now, language) for one in rings[:3])
    return (
        localized_sentence(language, "rings", first=first, then=localized_list(more, language))
        if more
        else first
    )
