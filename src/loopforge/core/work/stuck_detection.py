"""Whether a task goes in circles: the same done and seen again, or two things in turn.

Waiting is no circle: a command that only looks how far something is may be given as often as need
be, and so may one whose outcome changes. Says only what it sees; what follows is others' to say.
Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

SAME = 4
"""So often the same action with the same observation is a circle."""
ALTERNATING = 6
"""So many steps of two actions in turn, each seen the same, are one."""
BROKEN = 3
"""Turns in a row that broke off or gave no answer, after which a task stands still."""
POLLING = re.compile(
    r"^\s*(?:sleep|wait|ps|pgrep|jobs|top|tail|watch|date"
    r"|docker (?:ps|logs)|kubectl (?:get|describe|logs|rollout status|wait)"
    r"|systemctl status|journalctl|curl .*(?:health|ready|status)|gh run|squeue)\b",
    re.IGNORECASE,
)
"""Commands by which one waits for something that takes long."""

TOOK = re.compile(r", \d+\.\d s(?=[;\]])")
"""How long a command took, which makes it no other."""


class SeenStep(NamedTuple):
    """What was done and what was seen of it, as texts to compare."""

    action: str
    observation: str

    @classmethod
    def of(cls, action: str, observation: str) -> SeenStep:
        """What was done and seen, without how long it took."""
        return cls(action, TOOK.sub("", observation))

    @property
    def waits(self) -> bool:
        """Whether it only looks how far something is."""
        return bool(POLLING.match(self.action.partition(" ")[2] or self.action))


def circle_of(steps: Sequence[SeenStep]) -> str:
    """In which circle the last steps go, as a sentence to the mind; "" for none."""
    if len(steps) >= SAME:
        last = steps[-SAME:]
        if len(set(last)) == 1 and not last[0].waits:
            return (
                f"You did the same {SAME} times and saw the same each time: "
                f"{last[0].action[:120]}. Look at it from another side, or ask."
            )
    if len(steps) >= ALTERNATING:
        last = steps[-ALTERNATING:]
        odd, even = set(last[::2]), set(last[1::2])
        if len(odd) == len(even) == 1 and odd != even and not any(one.waits for one in last):
            return (
                f"You go back and forth between two things, {ALTERNATING} times now: "
                f"{last[0].action[:80]}; {last[1].action[:80]}. Neither changed anything."
            )
    return ""


def idleness_of(turns: int) -> str:
    """The same for turns in a row in which it went on and used no tool."""
    if turns < SAME:
        return ""
    return (
        f"You used no tool in {turns} turns, so nothing came of them. Use one, say that it is done "
        "where it is, or ask."
    )
