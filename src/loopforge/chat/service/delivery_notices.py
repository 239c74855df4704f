"""What was late or not delivered, told to those who should know: the mate, the people of the room.

The place is told too, as soon as it can be: else people there would wait, or take an old answer for
a new one. Where much is lost one after the other, one word tells it. A platform's place that cannot
be reached any more (the bot was sent away, the channel is gone) is no part of the room from then
on, so that nothing else is tried there. What is owed to a place that has another key now is owed
there.
"""

from collections.abc import Mapping, Sequence

from loopforge.chat.room.room_state import RoomState
from loopforge.chat.room.room_store import PREFIX, RoomStore
from loopforge.chat.turns.apply_acts import delivery_facts
from loopforge.core.delivery_states import Queued, What
from loopforge.core.events import Event, Fact
from loopforge.core.mates.mate_file import Mate, mate_name
from loopforge.core.room_vocabulary import Heard, LineDeleted, LineEdited, PlaceLeft, Said, Told
from loopforge.core.text.erasable_text import Words
from loopforge.core.text.spoken_lists import join_as_prose, seconds_in_words
from loopforge.runtime.delivery_worker import DelayedDeliveries, Undelivered
from loopforge.runtime.system_clock import Stamp

WHAT: Mapping[What, str] = {
    "line": "said",
    "reaction": "put on a line",
    "file": "gave",
    "reminder": "was to be reminded of",
    "approval": "asked leave for",
    "edit": "changed",
    "deletion": "deleted",
}


FOLLOWS: Sequence[What] = ("line", "reminder")
"""What is of use also where nothing else of its room stands yet."""


class DeliveryNotices:
    """Says what follows from something that was late or not delivered."""

    def __init__(self, house: RoomStore, mates: Mapping[str, Mate]) -> None:
        self._house, self._mates = house, mates

    async def __call__(self, what: Undelivered | DelayedDeliveries, stamp: Stamp) -> Sequence[Fact]:
        """The facts to be added together with the failure, or with what arrived late."""
        pending = what.pending
        known = pending.stream.startswith(PREFIX)
        state = await self._house.state(pending.stream) if known else None
        moved = what.moved if isinstance(what, Undelivered) else ""
        if moved and pending.what in FOLLOWS:
            owed = Queued(surface=moved, of=pending.of, what=pending.what)  # type: ignore[arg-type]
            return [stamp.fact(owed, actor="runtime", cause=pending.delivery)]
        place = state.places.get(moved or pending.surface) if state else None
        where = str(place.name) if place else pending.surface.partition(":")[0]
        if isinstance(what, DelayedDeliveries):
            said, told = self._late(what, state, where), True
        else:
            said = self._lost(what, state, where)
            told = pending.what in FOLLOWS and not (what.gone or what.told)
        found: list[Fact] = []
        if said:
            word = Told(text=Words(said))
            found.append(stamp.fact(word, actor="runtime", cause=pending.delivery))
            if told and place is not None:
                found += delivery_facts(found[0], (pending.surface,), stamp)
        if isinstance(what, Undelivered) and what.gone and place is not None:
            left = PlaceLeft(place=pending.surface, why=Words(what.why))
            found.append(stamp.fact(left, actor="runtime", cause=pending.delivery))
        return found

    def _lost(self, lost: Undelivered, state: RoomState | None, where: str) -> str:
        if isinstance(lost.event.body, Told) and lost.pending.what == "reminder":
            whose = _name(state, lost.event.body.person)
            return f"A reminder of {whose} did not reach {where}: {lost.why}"
        if isinstance(lost.event.body, Told) or lost.pending.what == "approval":
            return ""  # of a word that is lost, and of an answer that was told, nothing is said
        did = WHAT.get(lost.pending.what, "said")  # type: ignore[call-overload]
        return f"What {self._who(lost.event, state)} {did} did not reach {where}: {lost.why}"

    def _late(self, late: DelayedDeliveries, state: RoomState | None, where: str) -> str:
        rang = [each.body for each in late.events if isinstance(each.body, Told)]
        lines = [each for each in late.events if not isinstance(each.body, Told)]
        who = join_as_prose(dict.fromkeys(self._who(event, state) for event in lines))
        whose = join_as_prose(dict.fromkeys(_name(state, one.person) for one in rang))
        what = [f"what {who} said"] * bool(lines) + [f"a reminder of {whose}"] * bool(rang)
        most = "up to " if len(late.events) > 1 else ""
        by = seconds_in_words(late.by.total_seconds())
        told = f"{join_as_prose(what)} reached {where} {most}{by} late: {late.why}"
        return told[0].upper() + told[1:]

    def _who(self, event: Event, state: RoomState | None) -> str:
        match event.body:
            case Said(mate=mate):
                who = f"mate:{mate}"
            case Heard(person=person):
                who = f"person:{person}"
            case LineEdited(by=by) | LineDeleted(by=by):
                who = by
            case _:
                who = ""
        kind, _, name = who.partition(":")
        if kind == "mate":
            return mate_name(self._mates, name)
        return _name(state, name)


def _name(state: RoomState | None, person: str) -> str:
    """What somebody is called who is in the room, or was."""
    known = (state.people | state.former).get(person) if state else None
    return str(known.name) if known else "somebody"
