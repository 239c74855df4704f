"""What was not delivered, told to those who should know: the mate, and the people of the room.

Where a line alone was refused and its place takes others, the place is told too: else people there
would wait for it. A platform's place that cannot be reached any more (the bot was sent away, the
channel is gone) is no part of the room from then on, so that nothing else is tried there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from loopforge.chat.acts import queued
from loopforge.chat.state import RoomState
from loopforge.core.delivery import What
from loopforge.core.events import Body, Event, Fact
from loopforge.core.mate import Mate
from loopforge.core.room import Heard, PlaceLeft, Said, Told
from loopforge.core.words import Words
from loopforge.runtime.clock import Stamp
from loopforge.runtime.delivery import Undelivered

WHAT: Mapping[What, str] = {
    "line": "said",
    "reaction": "put on a line",
    "file": "gave",
    "reminder": "was to be reminded of",
    "approval": "asked leave for",
    "edit": "changed",
    "deletion": "deleted",
}


class Lost:
    """Says what follows from something that was not delivered."""

    def __init__(self, known: Callable[[str], RoomState | None], mates: Mapping[str, Mate]) -> None:
        self._known, self._mates = known, mates

    def __call__(self, lost: Undelivered, stamp: Stamp) -> Sequence[Fact]:
        """The facts to be added together with the failure."""
        pending, state = lost.pending, self._known(lost.pending.stream)
        place = state.places.get(pending.surface) if state else None
        found: list[Fact] = []

        def add(body: Body) -> Fact:
            found.append(stamp.fact(body, actor="runtime", cause=pending.delivery))
            return found[-1]

        if not isinstance(lost.event.body, Told):
            where = str(place.name) if place else pending.surface.partition(":")[0]
            did = WHAT.get(pending.what, "said")  # type: ignore[call-overload]
            text = f"What {self._who(lost.event, state)} {did} did not reach {where}: {lost.why}"
            told = add(Told(text=Words(text)))
            if lost.refused and place is not None and pending.what == "line":
                found += queued(told, (pending.surface,), stamp)
        if lost.gone and place is not None:
            add(PlaceLeft(place=pending.surface, why=Words(lost.why)))
        return found

    def _who(self, event: Event, state: RoomState | None) -> str:
        match event.body:
            case Said(mate=mate):
                return self._mates[mate].name if mate in self._mates else mate
            case Heard(person=person):
                known = state.people.get(person) if state else None
                return str(known.name) if known else "somebody"
            case _:
                return "somebody"
