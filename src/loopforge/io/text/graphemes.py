"""Graphemes: what a reader takes for one character, and how long a text is where platforms count.

Platforms count UTF-16 code units. The rules of where a text may be cut follow UAX 29 closely and
err on the side of keeping together; a text is never cut where the standard forbids it. Knows no
markup, no words.
"""

from __future__ import annotations

import unicodedata

_JOINER = "\u200d"
_BOUND_LATER = {"\u200c", _JOINER, "\uff9e", "\uff9f"}
_BOUND_EARLIER = frozenset(
    map(chr, [*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0xD4E, 0x110BD, 0x110CD])
)
"""Marks that belong to the character after them: number signs of Arabic, and their like."""
_VIRAMA = 9
"""The combining class of marks that join two consonants of one syllable."""


def measure(text: str) -> int:
    """How long a text is, in UTF-16 code units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def within(text: str, at: int) -> bool:
    """Whether a cut before the character at `at` would part what is one for a reader."""
    if not 0 < at < len(text):
        return False
    left, right = text[at - 1], text[at]
    if left < "\u0300" and right < "\u0300":
        return left == "\r" and right == "\n"
    if "\ud800" <= left <= "\udbff" and "\udc00" <= right <= "\udfff":
        return True
    if unicodedata.category(left) == "Cc":
        return False
    return _bound(left, right) or _syllable(left, right) or (_flag(left, right, text, at))


def clip(text: str, limit: int) -> str:
    """The longest beginning within `limit` units that parts no grapheme, unless the first is."""
    end = reach(text, 0, limit)
    at = end
    while within(text, at):
        at -= 1
    return text[: at or end]


def reach(text: str, start: int, room: int) -> int:
    """The farthest index such that what stands between `start` and it has at most `room` units."""
    end = min(len(text), start + max(room, 0))
    while (over := measure(text[start:end]) - room) > 0 and end > start:
        end -= (over + 1) // 2
    return end


def _bound(left: str, right: str) -> bool:
    """Marks, variation selectors, skin tones, tags, joiners."""
    if right in _BOUND_LATER or left == _JOINER or left in _BOUND_EARLIER:
        return True
    if unicodedata.category(right) in ("Mn", "Me", "Mc"):
        return True
    if "\U0001f3fb" <= right <= "\U0001f3ff" or "\U000e0020" <= right <= "\U000e007f":
        return True
    return unicodedata.combining(left) == _VIRAMA and unicodedata.category(right) == "Lo"


def _syllable(left: str, right: str) -> bool:
    """Korean letters of one syllable."""
    before, after = _hangul(left), _hangul(right)
    return (before, after) in {
        ("L", "L"), ("L", "V"), ("L", "LV"), ("L", "LVT"), ("LV", "V"), ("LV", "T"),
        ("V", "V"), ("V", "T"), ("LVT", "T"), ("T", "T"),
    }  # fmt: skip


def _hangul(letter: str) -> str:
    if "\u1100" <= letter <= "\u115f" or "\ua960" <= letter <= "\ua97c":
        return "L"
    if "\u1160" <= letter <= "\u11a7" or "\ud7b0" <= letter <= "\ud7c6":
        return "V"
    if "\u11a8" <= letter <= "\u11ff" or "\ud7cb" <= letter <= "\ud7fb":
        return "T"
    if "\uac00" <= letter <= "\ud7a3":
        return "LVT" if (ord(letter) - 0xAC00) % 28 else "LV"
    return ""


def _flag(left: str, right: str, text: str, at: int) -> bool:
    """The two letters that make a flag; in a row of them, by twos."""
    if not (_indicator(left) and _indicator(right)):
        return False
    first = at - 1
    while first > 0 and _indicator(text[first - 1]):
        first -= 1
    return (at - first) % 2 == 1


def _indicator(letter: str) -> bool:
    return "\U0001f1e6" <= letter <= "\U0001f1ff"
