"""Mates that come into a room late: what called them a moment ago is answered all the same.

A bot may connect after a line was heard by another one, which opened the room without its mate.
The line was weighed for those who were there. Does not know how anybody comes in.
"""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from itertools import takewhile

from loopforge.chat.room.permissions import is_answerable
from loopforge.chat.room.room_state import RoomState
from loopforge.chat.room.turn_queue import CALLED
from loopforge.chat.speaking.room_rules import RoomRules
from loopforge.chat.speaking.triggers import TriggerListener, weigh_triggers
from loopforge.core.room_vocabulary import Weight

FRESH = timedelta(minutes=15)
"""So long after a line a mate that comes in still answers it."""


def calls_of_late(
    state: RoomState,
    came: Collection[str],
    mates: Mapping[str, TriggerListener],
    now: datetime,
    rules: RoomRules,
) -> tuple[Weight, ...]:
    """How lines that were weighed without the mates that `came` call them, in their order."""
    newest = takewhile(lambda entry: now - entry.at < FRESH, reversed(state.lines.values()))
    lines = [
        entry
        for entry in newest
        if entry.kind == "heard" and entry.seq <= state.weighed and is_answerable(state, entry)
    ]
    found = (
        rules.guests.weighed(state, [entry], weight)
        for entry in reversed(lines)
        for weight in weigh_triggers(state, [entry], mates, now, rules.thresholds)
    )
    return tuple(
        weight
        for weight in found
        if weight.mate in came and weight.verdict == "speak" and weight.summons in CALLED
    )
