"""Graphemes: what a reader takes for one character, and how long a text is where platforms count.

Platforms count UTF-16 code units. A text is never cut where UAX 29 forbids it. Knows no markup, no
words.
"""

import unicodedata
from functools import cache
from typing import Any

_JOINER = "\u200d"
_VIRAMA = 9
"""The combining class of marks that join two consonants of one syllable; `regex` parts them."""
_NEAR = 64
"""Characters before a cut that are looked at, and flags before those, which go by twos."""


def utf16_length(text: str) -> int:
    """How long a text is, in UTF-16 code units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def is_inside_grapheme(text: str, at: int, since: int = 0) -> bool:
    """Whether a cut before the character at `at` would part what is one for a reader.

    What is read begins at `since`.
    """
    if not since < at < len(text):
        return False
    left, right = text[at - 1], text[at]
    if left < "\u0300" and right < "\u0300":
        return left == "\r" and right == "\n"
    if "\ud800" <= left <= "\udbff" and "\udc00" <= right <= "\udfff":
        return True
    if left == _JOINER:
        return True
    if unicodedata.combining(left) == _VIRAMA and unicodedata.category(right) == "Lo":
        return True
    start = at - 1
    while start > since and text[start] >= "\u0300":
        if start <= at - _NEAR and not _flag(text[start - 1]):
            break
        start -= 1
    while start < at:
        start = _grapheme().match(text, start, at + 1).end()
    return start > at


def clip(text: str, limit: int) -> str:
    """The longest beginning within `limit` units that parts no grapheme, unless the first is."""
    end = end_within_units(text, 0, limit)
    at = end
    while is_inside_grapheme(text, at):
        at -= 1
    return text[: at or end]


def end_within_units(text: str, start: int, room: int) -> int:
    """The farthest index such that what stands between `start` and it has at most `room` units."""
    end = min(len(text), start + max(room, 0))
    while (over := utf16_length(text[start:end]) - room) > 0 and end > start:
        end -= (over + 1) // 2
    return end


def _flag(letter: str) -> bool:
    """Whether it is one of the two letters that make a flag."""
    return "\U0001f1e6" <= letter <= "\U0001f1ff"


@cache
def _grapheme() -> Any:
    import regex  # takes a while, and only what stands beyond Latin letters needs it

    return regex.compile(r"\X")
