"""Ids and dice: never the same twice, never out of order."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime

from loopforge.runtime.clock import DRAWN, SeededDice, SimClock, Stamp, SystemClock, SystemDice


def test_the_machines_dice_are_whole_and_never_repeat() -> None:
    """However many bytes are wanted, they come whole, and none of them again."""
    dice = SystemDice()
    counts = (1, 8, 32, DRAWN - 1, DRAWN, DRAWN + 1, *([8] * DRAWN))
    drawn = [dice.bytes(count) for count in counts]
    assert [len(each) for each in drawn] == list(counts)
    eights = [each for each in drawn if len(each) == 8]
    assert len(set(eights)) == len(eights)


def test_ids_are_uuids_of_version_7_in_order() -> None:
    """Each id is a UUIDv7 with the clock's milliseconds, greater than the one before."""
    stamp = Stamp(SystemClock(), SystemDice())
    ids = [stamp.id() for _ in range(1000)]
    assert ids == sorted(set(ids))
    assert all(uuid.UUID(id).version == 7 and uuid.UUID(id).hex == id for id in ids)


def test_ids_are_in_order_while_the_clock_stands_still() -> None:
    """A clock that does not move gives no two equal ids; early ones keep their zeros."""
    stamp = Stamp(SimClock(datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)), SeededDice(1))
    ids = [stamp.id() for _ in range(1000)]
    assert ids == sorted(set(ids))
    assert ids[0].startswith("0000000003e8")
