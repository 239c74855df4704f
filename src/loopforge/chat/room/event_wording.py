"""How a room's events read, on whichever surface: the sentences that are the same for everybody.

Pure. Does not cover what each surface says in its own way (titles, edits, reactions), nor markup:
a surface that shortens or escapes other people's words gives `quote`, which is put over them.
"""

from __future__ import annotations

from collections.abc import Callable

from loopforge.chat.room.permissions import WHOM, Grant, wording
from loopforge.chat.room.room_snapshot import Scene
from loopforge.core.events import Body, Event
from loopforge.core.line_revision import Revised
from loopforge.core.room_vocabulary import (
    DefaultMateSet,
    Heard,
    MateJoined,
    MateLeft,
    PersonLeft,
    PlaceJoined,
    PlaceLeft,
    RightsSet,
    Stopped,
    TalkSet,
)


def reads(body: Body, scene: Scene, quote: Callable[[str], str] = str) -> str | None:
    """What an event reads like; None for those that have no sentence here."""
    match body:
        case PersonLeft(person=person):
            return f"{scene.person(person)} left."
        case MateJoined(mate=mate):
            return f"{scene.mate(mate).name} is here."
        case MateLeft(mate=mate):
            return f"{scene.mate(mate).name} left."
        case Stopped(person=person):
            who = scene.person(person)
            return f"{who} said stop. Mates stay still until somebody speaks to them."
        case PlaceJoined(place=place, name=name):
            where = f"“{quote(str(name))}” on {platform(place)}"
            return f"{where} is part of this room now: what is said in one is said in all."
        case PlaceLeft(place=place, why=why):
            gone = f"A place on {platform(place)} is part of this room no longer"
            return f"{gone}: {quote(str(why))}"
        case TalkSet(free=free):
            how = "without being called" if free else "only when they are called"
            return f"Mates may speak here {how} now."
        case RightsSet(who=who, rights=rights, tools=tools):
            whom = WHOM.get(who) or scene.person(who)
            return wording(whom, Grant(rights=rights, tools=tools))
        case DefaultMateSet(mate=mate):
            named = scene.mate(mate).name if mate else "Nobody"
            return f"{named} answers now what is said to mates and names none."
        case _:
            return None


def asides(event: Event) -> list[str]:
    """What is said quietly beside a line: where and who they are, and whether it was changed."""
    body, found = event.body, []
    if isinstance(body, Heard):
        known = {"a bot": body.bot, "not known here": body.untrusted, "came late": body.late}
        found = [f"on {platform(body.surface)}"] if ":" in body.surface else []
        found += [told for told, holds in known.items() if holds]
    if isinstance(event, Revised) and not event.revision.deleted:
        found.append("edited")
    return found


def platform(place: str) -> str:
    """What people call the surface of a place: platforms bear names, a terminal is just one."""
    name, colon, _ = place.partition(":")
    return name.capitalize() if colon else name
