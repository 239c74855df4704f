"""Room energy: what bounds everything mates do without people.

A room holds energy up to a capacity. Each line of a person gives some back, each line of a mate
costs one, as does each time that it has itself woken later; and nothing else does anything: above
all, time gives nothing back, so a slow loop ends as surely as a fast one, however many mates take
part. After k lines of people, mates can have said at most `capacity + k * refill` lines.

Pure. Knows nothing of who speaks; the room charges every mate to the same account.
"""

from msgspec import Struct
from msgspec.structs import replace

CAPACITY = 6
REFILL = 4
MOST_ENERGY = 1000
"""What a room may be given of either at most."""
COST = 1
"""Energy that one line of a mate costs, or one waking of itself."""
SPENT = (
    "{name} stays quiet: this room has no energy left for mates to speak. /energy shows how much "
    "there is, and sets it."
)
"""What people are told who called a mate that can say nothing more."""


class Energy(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A room's energy: how much is left, how much it can hold, what a person's line gives."""

    left: int = CAPACITY
    capacity: int = CAPACITY
    refill: int = REFILL


def heard(energy: Energy) -> Energy:
    """A person said a line."""
    return replace(energy, left=min(energy.capacity, energy.left + energy.refill))


def said(energy: Energy) -> Energy:
    """A mate said a line."""
    return replace(energy, left=max(0, energy.left - COST))


def reset(energy: Energy, capacity: int, refill: int) -> Energy:
    """The room was given other bounds. A full room stays full; else what is there stays."""
    capacity, refill = max(0, capacity), max(0, refill)
    full = energy.left == energy.capacity
    left = capacity if full else min(energy.left, capacity)
    return Energy(left=left, capacity=capacity, refill=refill)
