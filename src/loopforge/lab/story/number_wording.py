"""How a story says numbers, times and lists: the small words that phrases are filled with.

Knows no claim and no row.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from loopforge.core.text.name_labels import clipped

UNDER_TWENTY = """none one two three four five six seven eight nine ten eleven twelve thirteen
fourteen fifteen sixteen seventeen eighteen nineteen"""
SMALL = UNDER_TWENTY.split()
TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
ENDED = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}

LONGEST_QUOTE = 160
BEFORE = """about across along around at behind between beyond by down for from in inside into near
of off on onto out outside over past through to toward towards under up with without and or
as because if then when while bell held kept left opened reached stopped"""
"""Words that a place's name follows with its article; after any other it stays as it stands."""
ITS_OWN = frozenset({"the", "a", "an", "this", "that", "my", "our", "your", "its", "their", "no"})
"""Words that a name may begin with instead of an article."""


def number(count: int) -> str:
    """A count in words up to a hundred ("none" for 0); beyond that, digits: 4,000."""
    if not 0 <= count <= 100:
        return f"{count:,}"
    if count == 100:
        return "one hundred"
    if count < len(SMALL):
        return SMALL[count]
    ten, one = divmod(count, 10)
    return TENS[ten] + (f"-{SMALL[one]}" if one else "")


def ordinal(count: int) -> str:
    """Which one: twelfth, 101st."""
    if count > 100:
        teen = count % 100 in (11, 12, 13)
        return f"{count:,}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(count % 10, 'th')}"
    said = number(count)
    last = re.split("[ -]", said)[-1]
    head = said.removesuffix(last)
    if last in ENDED:
        return head + ENDED[last]
    return head + (last[:-1] + "ieth" if last.endswith("y") else last + "th")


def times(count: int) -> str:
    """How often."""
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{number(count)} times")


def were(count: int) -> str:
    """What goes with so many."""
    return "was" if count == 1 else "were"


def plural(count: int, one: str) -> str:
    """So many of something."""
    return f"{number(count) if count else 'no'} {one if count == 1 else one + 's'}"


def cap(text: str) -> str:
    """With its first letter large."""
    return text[:1].upper() + text[1:]


def an(kind: str) -> str:
    """A kind of thing with its article."""
    return f"{'an' if kind[:1].lower() in 'aeiou' else 'a'} {kind}"


def signed(delta: int) -> str:
    """A change, as it is read aloud."""
    if not delta:
        return "in sum nothing"
    return f"{'plus' if delta > 0 else 'minus'} {abs(delta)}"


def lowered(text: str, names: Sequence[str]) -> str:
    """A sentence as it stands in the middle of another: its first letter small, names left."""
    if text.startswith(("I ", "I'")) or any(text.startswith(name) for name in names if name):
        return text
    return text[:1].lower() + text[1:]


def common(name: str) -> bool:
    """Whether a place is called by a common noun: "lens room" is; "Line nine", "bay 3" are not."""
    words = name.split()
    if not words or not name[0].islower() or words[0] in ITS_OWN or words[0].endswith("'s"):
        return False
    return len(words[-1]) > 1 and words[-1].isalpha()


@cache
def _places(names: tuple[str, ...]) -> re.Pattern[str]:
    """A quote, or a common name where an article belongs: after a word or a stop."""
    known = sorted(filter(common, names), key=lambda name: (-len(name), name))
    if not known:
        return re.compile("“[^”]*”")
    first = "|".join(re.escape(cap(name)) for name in known)
    later = "|".join(re.escape(name) for name in known)
    words = "|".join(BEFORE.split())
    return re.compile(
        rf"“[^”]*”|(?P<opens>(?:^|(?<=[.:?!”] ))(?:{first})(?![\w-]))"
        rf"|(?P<before>\b(?i:{words})|[,;:]) (?P<name>(?:{later})(?![\w-]))"
    )


def articled(text: str, places: tuple[str, ...]) -> str:
    """A sentence with articles before common names of places; what is quoted in it stays."""

    def put(found: re.Match[str]) -> str:
        parts = found.groupdict()
        if name := parts.get("name"):
            return f"{parts['before']} the {name}"
        if name := parts.get("opens"):
            return f"The {name[0].lower()}{name[1:]}"
        return found[0]

    return _places(places).sub(put, text)


def quote(text: object) -> str:
    """Somebody's words as a story quotes them: one line, not too long, quotes in it made plain."""
    if not isinstance(text, str):
        return ""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    line = re.sub("[“”]", '"', line)
    return clipped(line, LONGEST_QUOTE)


def direction(voice: str) -> str:
    """A robot's voice as a stage direction: one phrase, with small letters after its stops."""
    parts = [part.strip() for part in re.split(r"[.!?]\s+", voice.strip().rstrip(".!?"))]
    return "; ".join(
        each if each.startswith("I ") else each[:1].lower() + each[1:] for each in parts
    )
