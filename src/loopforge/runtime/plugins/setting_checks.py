"""What a setting may hold beyond its type and bounds, so that no home is kept from starting."""

from __future__ import annotations

import re

from loopforge.errors import BadSettings

SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
"""The names of rooms: small letters, digits and dashes."""


def keep_rule(text: str, source: str = "the setting") -> dict[str, int]:
    """How many of each period are kept of backups. Raises BadSettings."""
    found = {}
    for part in text.split(","):
        said = re.fullmatch(r"\s*(\d+) (day|week|month|year)s?\s*", part)
        if said is None:
            raise BadSettings(
                f"`backup_keep` ({source}) is {text[:80]!r}; it must be such as 7 days, 4 weeks."
            )
        found[said[2]] = int(said[1])
    return found


def checked_keep(text: str, source: str) -> str:
    """The rule as it is written, if it is one. Raises BadSettings."""
    keep_rule(text, source)
    return text


def checked_room(text: str, source: str) -> str:
    """The name of a room, if it can be one. Raises BadSettings."""
    if not SLUG.fullmatch(text):
        raise BadSettings(
            f"`room` ({source}) is {text[:80]!r}; it must be small letters, digits and dashes."
        )
    return text
