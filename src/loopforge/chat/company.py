"""Company: whom and what a room consists of, as its state holds it: people, places, mates.

Values alone; how they come and go is state.py's.
"""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from loopforge.core.words import Words


class Person(Struct, frozen=True, kw_only=True):
    """A person who is here."""

    name: Words
    surface: str


class Place(Struct, frozen=True, kw_only=True):
    """A place of a platform that is part of the room."""

    name: Words
    kind: str


class StandIn(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The mate that answers for another one that cannot run; a `guest` is here for that alone."""

    mate: str
    guest: bool = False


class Member(Struct, kw_only=True, omit_defaults=True):
    """What the room knows of one mate in it.

    `streak` counts its lines since a person spoke, `declined` how often in a row it was asked and
    had nothing to say. `took_in` are lines, not yet weighed, that it needs no further turn for.
    """

    spoke_seq: int = 0
    spoke_at: datetime | None = None
    streak: int = 0
    declined: int = 0
    took_in: dict[str, int] = {}
