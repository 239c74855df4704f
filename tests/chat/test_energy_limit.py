"""Room energy: mates without people come to rest, however many, however slowly."""

from hypothesis import given
from hypothesis import strategies as st

from loopforge.chat.room import energy_limit
from loopforge.chat.room.energy_limit import Energy

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


def test_other_bounds_keep_what_is_there() -> None:
    """A full room stays full; what is there stays otherwise, as far as it fits; none is negative."""
    assert energy_limit.reset(Energy(), 20, 5) == Energy(left=20, capacity=20, refill=5)
    assert energy_limit.reset(Energy(left=5), 20, 5).left == 5
    assert energy_limit.reset(Energy(left=5), 3, 5).left == 3
    assert energy_limit.reset(Energy(left=5), -3, -5) == Energy(left=0, capacity=0, refill=0)
