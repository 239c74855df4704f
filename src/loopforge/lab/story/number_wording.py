"""How a story says numbers, times and lists: the small words that phrases are filled with.

Knows no claim and no row.
"""

import re
from collections.abc import Sequence

from loopforge.core.text.name_labels import truncate_text

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


def number_in_words(count: int) -> str:
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
    said = number_in_words(count)
    last = re.split("[ -]", said)[-1]
    head = said.removesuffix(last)
    if last in ENDED:
        return head + ENDED[last]
    return head + (last[:-1] + "ieth" if last.endswith("y") else last + "th")


def how_often_in_words(count: int) -> str:
    """How often."""
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{number_in_words(count)} times")


def was_or_were(count: int) -> str:
    """What goes with so many."""
    return "was" if count == 1 else "were"


def number_with_noun(count: int, one: str) -> str:
    """So many of something."""
    return f"{number_in_words(count) if count else 'no'} {one if count == 1 else one + 's'}"


def capitalize_first(text: str) -> str:
    """With its first letter large."""
    return text[:1].upper() + text[1:]


def change_in_words(delta: int) -> str:
    """A change, as it is read aloud."""
    if not delta:
        return "in sum nothing"
    return f"{'plus' if delta > 0 else 'minus'} {abs(delta)}"


def lower_first(text: str, names: Sequence[str]) -> str:
    """A sentence as it stands in the middle of another: its first letter small, names left."""
    if text.startswith(("I ", "I'")) or any(text.startswith(name) for name in names if name):
        return text
    return text[:1].lower() + text[1:]


def story_quote(text: object) -> str:
    """Somebody's words as a story quotes them: one line, not too long, quotes in it made plain."""
    if not isinstance(text, str):
        return ""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    line = re.sub("[“”]", '"', line)
    return truncate_text(line, LONGEST_QUOTE)


def stage_direction(voice: str) -> str:
    """A robot's voice as a stage direction: one phrase, with small letters after its stops."""
    parts = [part.strip() for part in re.split(r"[.!?]\s+", voice.strip().rstrip(".!?"))]
    return "; ".join(
        each if each.startswith("I ") else each[:1].lower() + each[1:] for each in parts
    )
