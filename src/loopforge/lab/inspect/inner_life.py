"""A robot's inner life: what it began with, and every change since, each with its cause.

Knows no file; the changes come from run_reader.py. What nobody in the city did (a fork that set a
value by hand) is a change too, so that causes always add up to what became of somebody.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec import Struct

from loopforge.core.factory_vocabulary import Began, Change
from loopforge.lab.world.scenario_checks import RobotSpec

PARTS = ("emotions", "traits", "scars", "bonds")
BY_HAND = "set by the fork"


class LifeTurn(Struct, frozen=True, array_like=True):
    """One change: [step, row, what, before, after, why]. Row 0: no row caused it."""

    step: int
    row: int
    what: str
    before: int
    after: int
    why: str


class LifeMark(Struct, frozen=True, array_like=True):
    """One decision: [step, row, square, failing]."""

    step: int
    row: int
    square: str
    failing: str


class ChangeCause(Struct, frozen=True):
    """All changes of one value by one rule of the trait ledger: how often, by how much in all."""

    rule: str
    times: int
    delta: int


def rank_causes(causes: Mapping[str, tuple[int, int]]) -> tuple[ChangeCause, ...]:
    """The causes, each with (how often, by how much in all), the strongest first."""
    found = [ChangeCause(rule, times, delta) for rule, (times, delta) in causes.items()]
    return tuple(sorted(found, key=lambda each: (-abs(each.delta), each.rule)))


@dataclass
class Life:
    """A robot's life, written row after row, in thousandths; `battery` is that after each step."""

    spec: RobotSpec
    began: Began
    turns: list[LifeTurn] = field(default_factory=list)
    deeds: list[LifeMark] = field(default_factory=list)
    battery: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.who, self.role = self.spec.name, self.spec.role
        self.first: dict[str, int] = {
            f"{part}.{name}": value
            for part in PARTS
            for name, value in getattr(self.spec, part).items()
        }
        self._forced = values_set_by_fork(self.began, self.who)
        self._now = dict(self.first)

    def came(self, step: int) -> None:
        """Come to this step; what a fork set there by hand is noted."""
        if self._forced and step >= self._forced[0][0]:
            for at, what, value in self._forced:
                if self._now[what] != value:
                    self.turns.append(LifeTurn(at, 0, what, self._now[what], value, BY_HAND))
                self._now[what] = value
            self._forced = []

    def change(self, step: int, row: int, change: Change) -> None:
        """One entry of the trait ledger, of whomever."""
        if change.who == self.who:
            self.turns.append(
                LifeTurn(step, row, change.what, change.before, change.after, change.rule)
            )
            self._now[change.what] = change.after

    @property
    def whats(self) -> list[str]:
        """All that can be followed: emotions, traits and scars, and the bonds that came up."""
        return list(dict.fromkeys([*self.first, *(turn.what for turn in self.turns)]))

    def start(self, what: str) -> int:
        """Where it began."""
        if what in self.first:
            return self.first[what]
        return next((turn.before for turn in self.turns if turn.what == what), 0)

    def points(self, what: str) -> list[tuple[int, int]]:
        """(step, value after it) for each step that changed it, from (-1, where it began) on."""
        points = [(-1, self.start(what))]
        for turn in self.turns:
            if turn.what == what:
                if points[-1][0] == turn.step:
                    points.pop()
                points.append((turn.step, turn.after))
        return points

    def value(self, what: str, step: int) -> int:
        """What it was after this step."""
        found = self.start(what)
        for turn in self.turns:
            if turn.step > step:
                break
            if turn.what == what:
                found = turn.after
        return found

    def because(self, what: str, step: int) -> tuple[ChangeCause, ...]:
        """What moved it up to this step, the strongest first.

        The amounts add up exactly to what it is now less what it was at first.
        """
        sums: dict[str, tuple[int, int]] = {}
        for turn in self.turns:
            if turn.what == what and turn.step <= step:
                times, amount = sums.get(turn.why, (0, 0))
                sums[turn.why] = (times + 1, amount + turn.after - turn.before)
        return rank_causes(sums)

    def greatest(self, count: int, step: int) -> list[LifeTurn]:
        """The greatest single changes up to this step, but for those that a night makes."""
        awake = [turn for turn in self.turns if turn.step <= step and turn.why != "slept"]
        return sorted(awake, key=lambda turn: (-abs(turn.after - turn.before), -turn.step))[:count]


def values_set_by_fork(began: Began, who: str) -> list[tuple[int, str, int]]:
    """What a fork set in somebody's inner life by hand: (step, what, value)."""
    if not began.forked:
        return []
    start = f"robot.{who}."
    step = int(began.forked["at"])
    return [
        (step, key.removeprefix(start), int(value))
        for key, value in began.forked["set"].items()
        if key.startswith(start) and key.removeprefix(start).partition(".")[0] in PARTS
    ]
