"""Room energy: mates without people come to rest, however many, however slowly."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from loopforge.chat.room import energy_limit
from loopforge.chat.room.energy_limit import Energy
from loopforge.chat.room.room_state import RoomState, fold
from loopforge.chat.speaking.triggers import weigh
from loopforge.core.room_vocabulary import EnergySet
from tests.strategies import MATES, Chronicle, Listening

BOUNDS = st.integers(0, 20)


@given(BOUNDS, BOUNDS, st.lists(st.booleans(), max_size=200))
def test_mates_say_no_more_than_people_give(
    capacity: int, refill: int, persons: list[bool]
) -> None:
    """For any schedule with k lines of people: at most capacity + k * refill lines of mates."""
    room = energy_limit.reset(Energy(), capacity, refill)
    said = heard = 0
    for person in persons:
        if person:
            room, heard = energy_limit.heard(room), heard + 1
        elif room.left:
            room, said = energy_limit.said(room), said + 1
        assert 0 <= room.left <= capacity
    assert said <= capacity + heard * refill


@given(BOUNDS, BOUNDS, st.integers(0, 40))
def test_without_people_it_ends_after_the_capacity(capacity: int, refill: int, tries: int) -> None:
    """Nobody but a person gives anything back: after `capacity` lines there is nothing left."""
    room = energy_limit.reset(Energy(), capacity, refill)
    for _ in range(capacity + tries):
        room = energy_limit.said(room)
    assert room.left == 0


def test_a_persons_line_gives_the_refill() -> None:
    """Each line gives `refill`, never more than the room can hold."""
    empty = Energy(left=0, capacity=6, refill=4)
    assert energy_limit.heard(empty).left == 4
    assert energy_limit.heard(energy_limit.heard(empty)).left == 6


def test_other_bounds_keep_what_is_there() -> None:
    """A full room stays full; what is there stays otherwise, as far as it fits; none is negative."""
    assert energy_limit.reset(Energy(), 20, 5) == Energy(left=20, capacity=20, refill=5)
    assert energy_limit.reset(Energy(left=5), 20, 5).left == 5
    assert energy_limit.reset(Energy(left=5), 3, 5).left == 3
    assert energy_limit.reset(Energy(left=5), -3, -5) == Energy(left=0, capacity=0, refill=0)


def hour(capacity: int) -> int:
    """Lines of five mates in an hour without people, each speaking whenever it is called."""
    story = Chronicle(people=0, mates=5)
    story.add(EnergySet(capacity=capacity, refill=4))
    mates = {mate: Listening(mate.title(), ("talk",)) for mate in MATES}
    state = fold(story.events)
    said = 0

    def say(text: str, mate: str) -> None:
        nonlocal said
        state.apply(story.say(text, mate=mate))
        said += 1

    say("What shall we talk about, everybody?", MATES[0])
    for minute in range(60):
        story.now += timedelta(minutes=1)
        speakers = _called(state, story, mates) or list(MATES)  # silent too long: all want to
        for mate in speakers:
            if state.energy.left:
                say(f"@{MATES[minute % 5]} and all of you, do we talk of talk?", mate)
    return said


def _called(state: RoomState, story: Chronicle, mates: dict[str, Listening]) -> list[str]:
    pending = state.pending()
    weights = [w for entry in pending for w in weigh(state, [entry], mates, story.now)]
    state.apply(story.weigh())
    return [weight.mate for weight in weights if weight.verdict != "pass"]


def test_five_mates_alone_for_an_hour() -> None:
    """All triggers on, no people, everyone answers whenever it may: the capacity, then silence."""
    assert hour(6) == 6
    assert hour(13) == 13
