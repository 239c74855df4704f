"""People: the facts of who is known to this home.

A person's id means nothing outside the ledger; the name and the account are private words.
"""

from __future__ import annotations

from msgspec import Struct

from loopforge.core.words import Words


class PersonMet(Struct, frozen=True, tag="people.met", kw_only=True):
    """A person became known, by an account on a surface (for a terminal, the name given)."""

    person: str
    name: Words
    surface: str
    account: Words


PeopleEvent = PersonMet
