"""What a language's table of words is made of: its words for numbers and days, and its patterns."""

import re
import unicodedata
from collections.abc import Iterable, Mapping

from msgspec import Struct

from loopforge.core.text.topics import normal_form

Part = str
"""A part of the day: morning, afternoon, evening, night."""

PATTERN = re.compile(r"(?<!\?P)<([a-z]+)(\d?)>")
_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "´": "'", "–": "-", "—": "-"})
_HYPHEN = re.compile(r"(?<=[^\W\d_])-(?=[^\W\d_])")
_POINTED = re.compile(r"\b([ap])\.\s?m\b\.?")
_MARKS = re.compile(r"(?<!\d),|,(?!\d{1,2}(?!\d))|[;!?¿¡\"()«»„“”]|\.(?=\s|$)(?<!\d\.)|(?<=\d)\.$")


class PhraseTable(Struct, frozen=True, kw_only=True):
    """The words of one language, all as `normalize_phrase` gives them.

    `patterns` are kinds and regular expressions, tried in order; what one of them takes, no later
    one sees. In them <n> is a number, <h> an hour, <m> minutes, <wd> a day of the week, <wds>
    several, <mon> a month, <unit> a span, <ord> a day of the month, <part> a part of the day.
    `inclusive` are numbers of days in which people may count today ("in acht Tagen": in a week).
    `idle` are words without a meaning of their own; `heavy` those that change what others mean.
    """

    numbers: Mapping[str, float]
    ordinals: Mapping[str, int]
    weekdays: Mapping[str, int]
    months: Mapping[str, int]
    units: Mapping[str, str]
    parts: Mapping[str, Part]
    holidays: Mapping[str, str]
    patterns: tuple[tuple[str, str], ...]
    idle: frozenset[str]
    heavy: frozenset[str]
    joins: str
    inclusive: frozenset[int] = frozenset()


def normalize_phrase(text: str) -> str:
    """Small letters without accents, hyphens between words and marks: as tables are written."""
    text = normal_form(text.casefold().translate(_APOSTROPHES), "NFKD")
    text = "".join(sign for sign in text if not unicodedata.combining(sign))
    text = _POINTED.sub(r"\1m", _HYPHEN.sub(" ", text))
    return " ".join(_MARKS.sub(" ", text).split())


def alternatives(words: Iterable[str]) -> str:
    """A regular expression of any of these words, longer ones first."""
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


def compile_table(table: PhraseTable) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The patterns of a table, with its words put in."""
    hours = {word for word, value in table.numbers.items() if value in range(25)}
    minutes = {word for word, value in table.numbers.items() if value in range(1, 60)}
    day = alternatives(table.weekdays)
    kinds = {
        "n": rf"\d{{1,4}}(?:[.,]\d{{1,2}})?|{alternatives(table.numbers)}",
        "h": rf"[01]?\d|2[0-4]|{alternatives(hours)}",
        "m": rf"[0-5]?\d|{alternatives(minutes)}",
        "mm": r"[0-5]\d",
        "wd": day,
        "wds": rf"(?:{day})(?:(?: (?:{table.joins}))* (?:{day}))*",
        "mon": alternatives(table.months),
        "unit": alternatives(table.units),
        "ord": rf"\d{{1,2}}(?:st|nd|rd|th|er|e|\.|º|o|ª|a)?(?![\w:])|{alternatives(table.ordinals)}",
        "part": alternatives(table.parts),
        "hol": alternatives(table.holidays),
        "y": r"20\d\d|2[1-9]\d\d",
        "ap": r"am|pm",
    }
    found = []
    for kind, pattern in table.patterns:
        found.append((kind, re.compile(rf"(?<![\w:])(?:{_filled(pattern, kinds)})(?![\w:])")))
    return tuple(found)


def _filled(pattern: str, kinds: Mapping[str, str]) -> str:
    """A pattern with its words put in; a name that comes again is told apart by underscores."""
    used: set[str] = set()

    def group(match: re.Match[str]) -> str:
        name = match[1] + match[2]
        while name in used:
            name += "_"
        used.add(name)
        return f"(?P<{name}>{kinds[match[1]]})"

    return PATTERN.sub(group, pattern)
