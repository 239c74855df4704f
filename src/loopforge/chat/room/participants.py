"""Participants: whom and what a room consists of, as its state holds it: people, places, mates.

Values; how people and mates come and go is room_state.py's.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from loopforge.core.events import Event
from loopforge.core.room_vocabulary import PersonJoined, PlaceJoined, PlaceLeft, PlaceRenamed
from loopforge.core.text.erasable_text import Words
from loopforge.core.text.name_labels import row_name
from loopforge.people.identity.account_names import confusable_skeleton

OF_ROWS = ("you", "the room", "the house")
"""What rows call the mate that reads them, and the house; nobody else is called so unmarked."""
_ALIKE_ROWS = frozenset(map(confusable_skeleton, OF_ROWS))


class Participant(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A person who is here; `since` is where in the room's stream they first came in."""

    name: Words
    surface: str
    since: int = 0


class RoomPlace(Struct, frozen=True, kw_only=True):
    """A place of a platform that is part of the room; `met`: what it was called at first."""

    name: Words
    kind: str
    met: Words


class Unprompted(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Whether mates may speak up uncalled, where somebody decided that.

    `woken`: one was woken for that, and no person has spoken since.
    """

    allowed: bool | None = None
    woken: bool = False


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


CAME = ("room.person_joined",)
"""The kind of event by which a person comes in."""


def came_after(joined: Iterable[Event], person: str, event: str) -> bool:
    """Whether one of these events let a person in, after another event of any stream."""
    return any(
        one.id > event and isinstance(one.body, PersonJoined) and one.body.person == person
        for one in joined
    )


def namesake_labels(people: Mapping[str, Participant], mates: Mapping[str, str]) -> dict[str, str]:
    """What tells people and mates from others of the same name, by id or handle; mostly nothing.

    `mates` are the names of mates by handle. People of one name, or of names that look alike, are
    numbered as they first came in, so that who comes later takes nothing from who was here.
    """
    which: dict[str, str] = {}
    bearers: dict[str, list[str]] = {}
    for handle, name in sorted(mates.items()):
        bearers.setdefault(confusable_skeleton(row_name(name)), []).append(handle)
    for handles in bearers.values():
        which |= {handle: f"the mate {handle}" for handle in handles[1:]}
    taken = {*bearers, *map(confusable_skeleton, mates), *_ALIKE_ROWS}
    called: dict[str, list[str]] = {}
    for id, person in sorted(people.items(), key=lambda one: (one[1].since, one[0])):
        called.setdefault(confusable_skeleton(row_name(str(person.name))), []).append(id)
    for name, ids in called.items():
        if name in taken:
            which |= dict.fromkeys(ids[:1], "a person, no mate")
        which |= {id: f"number {nth} of this name" for nth, id in enumerate(ids[1:], 2)}
    return which


def update_places(
    places: dict[str, RoomPlace], body: PlaceJoined | PlaceRenamed | PlaceLeft
) -> bool:
    """Take in what became of a place; whether it came in, and with it who is there."""
    match body:
        case PlaceJoined():
            places[body.place] = RoomPlace(name=body.name, kind=body.kind, met=body.name)
        case PlaceRenamed():
            if place := places.get(body.place):
                places[body.place] = replace(place, name=body.name)
        case PlaceLeft():
            places.pop(body.place, None)
        case _:
            assert_never(body)
    return isinstance(body, PlaceJoined)
