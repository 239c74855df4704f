"""The templates that phrases are made of, and the names that things have in a story.

They stand in shipped/phrases.toml, for people to read and to change; a blank in braces is filled
once, and what it is filled with is not looked at again. Knows no row.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from loopforge.lab.story.claims import EVENING
from loopforge.lab.story.number_wording import cap, number, ordinal

Fields = Mapping[str, str | int]


@cache
def templates() -> dict[str, Any]:
    """The templates by claim and case, and the tables of words."""
    text = resources.files("loopforge.lab").joinpath("shipped/phrases.toml").read_text("utf-8")
    return tomllib.loads(text)


def filled(template: str, fields: Fields) -> str:
    """A template with its blanks filled, once; a large first letter asks for one."""

    def blank(found: re.Match[str]) -> str:
        name = found[1]
        if name[0].isupper():
            return cap(str(fields[name[0].lower() + name[1:]]))
        return str(fields[name])

    return re.sub(r"\{(\w+)\}", blank, template)


def word(table: str, key: str) -> str:
    """What something is called; what has no name of its own is called by its key."""
    found = templates()["words"][table].get(key, key.replace("_", " "))
    return str(found)


def day_of(day: int) -> str:
    """A day by its number, as a reader counts."""
    return f"day {number(day + 1)}"


def clock(bell: int) -> str:
    """Which bell of its day."""
    return f"the {ordinal(bell)} bell"


def hour_of(day: int, bell: int) -> str:
    """A bell, or the evening, of a day."""
    return f"{'the evening' if bell == EVENING else clock(bell)} of {day_of(day)}"


def what_of(key: str) -> str:
    """The name of something inner: "traits.obedience", "bonds.trust:Name"."""
    part, _, what = key.partition(".")
    if part == "bonds":
        kind, _, other = what.partition(":")
        return f"{word('bond', kind)} {other}"
    return word("inner", what)
