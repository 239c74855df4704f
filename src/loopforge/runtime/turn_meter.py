"""What a turn has taken of its bounds so far, counted by the driver as it goes.

Each result says what is left, and is recorded with that: so a turn that is taken up after a crash
shows its mind the same words again, and goes on counting where it was.
"""

import re
from collections.abc import Sequence
from itertools import takewhile
from math import inf

from msgspec.structs import replace

from loopforge.core.effect_states import EffectProposed
from loopforge.core.events import Event
from loopforge.core.limits import turn_bounds
from loopforge.core.limits.turn_bounds import TurnBounds, TurnSpending
from loopforge.core.policy import ResultOutcome
from loopforge.core.turn_events import Answered, Returned, Usage
from loopforge.runtime.ports import Clock

HANDLE = re.compile(r"\[[^\n]*\]")
"""A row at the end of a result that names what was kept."""


class TurnMeter:
    """Counts one turn. `spent` is what it took before, where it was broken off."""

    def __init__(self, bounds: TurnBounds, spent: TurnSpending, clock: Clock) -> None:
        self._bounds, self._spent, self._clock = bounds, spent, clock
        self._began = clock.ticks() - spent.seconds

    @property
    def _now(self) -> TurnSpending:
        return replace(self._spent, seconds=self._clock.ticks() - self._began)

    @property
    def bound(self) -> str:
        """Which bound is met, so that no tool is used any more; "" for none."""
        return turn_bounds.met(self._bounds, self._now)

    @property
    def left(self) -> str:
        """What is left, in words."""
        return turn_bounds.left(self._bounds, self._now)

    @property
    def seconds(self) -> float:
        """How long a tool may still be waited for."""
        most = self._bounds.seconds
        return inf if most is None else max(0.0, most - self._now.seconds)

    def asked(self, *usages: Usage) -> None:
        """A model answered, at the last of some tries."""
        self._add(money=sum(map(_dollars, usages)))

    def called(self) -> None:
        """A tool is wanted."""
        self._add(calls=1)

    def ended(self, outcome: ResultOutcome, value: str, cost: float, calls: int) -> str:
        """A tool came to this, by so many calls of its own; as much of its text as may be told.

        What names kept files stays.
        """
        self._add(calls=calls, money=cost)
        most = self._bounds.output
        if outcome != "returned":
            return value
        room = len(value) if most is None else max(0, most - self._spent.output)
        if len(value) > room:
            rows = list(takewhile(HANDLE.fullmatch, reversed(value.split("\n")[1:])))
            tail = "".join(f"\n{row}" for row in reversed(rows))
            cut = f"\n[cut here: this turn may be told no more of what tools give]{tail}"
            value = value[: min(room, len(value) - len(tail))] + cut
        self._add(output=len(value))
        return value

    def _add(self, calls: int = 0, output: int = 0, money: float = 0.0) -> None:
        now = self._spent
        self._spent = replace(
            now, calls=now.calls + calls, output=now.output + output, money=now.money + money
        )


def spent_before(began: Event, events: Sequence[Event]) -> TurnSpending:
    """What a turn has taken so far, by what is recorded of it since it began."""
    calls, output, money, last = 0, 0, 0.0, began.at
    for event in events:
        last = max(last, event.at)
        match event.body:
            case EffectProposed():
                calls += 1
            case Answered() as answered:
                money += sum(map(_dollars, answered.usages))
            case Returned(outcome=outcome, value=value, cost=cost):
                told = len(value.text or "") if outcome == "returned" else 0
                output, money = output + told, money + cost
    seconds = (last - began.at).total_seconds()
    return TurnSpending(calls=calls, seconds=seconds, output=output, money=money)


def spent_when_resumed(began: Event, events: Sequence[Event]) -> TurnSpending:
    """The same for the meter of a turn that was broken off.

    That counts the calls of a program when the turn is told how it ended.
    """
    spent, bodies = spent_before(began, events), [event.body for event in events]
    told = {one.nth for one in bodies if isinstance(one, Returned) and one.outcome != "deferred"}
    wanted = [(event.id, event.body) for event in events if isinstance(event.body, EffectProposed)]
    going = {id for id, body in wanted if not body.within and body.nth not in told}
    return replace(spent, calls=spent.calls - sum(body.within in going for _, body in wanted))


def _dollars(usage: Usage) -> float:
    return float(usage.cost or 0)
