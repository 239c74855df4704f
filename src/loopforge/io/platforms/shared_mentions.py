"""Whom the mention of a bot that several mates share calls: the mate that the line names first.

Pure. Does not know platforms, nor who answers where nobody is named.
"""

import re
from collections.abc import Mapping


def first_named(text: str, mates: Mapping[str, str]) -> str:
    """The mate that a text names first, by its handle or its name; "" where it names none."""
    plain = text.casefold()
    at: dict[int, str] = {}
    for mate, full in mates.items():
        for name in (mate, full.casefold()):
            if found := re.search(rf"(?<!\w){re.escape(name)}(?!\w)", plain):
                at.setdefault(found.start(), mate)
    return at[min(at)] if at else ""
