"""Designs: which cells of an experiment are run, and which are left out.

A full design runs every cell. A fraction of factors with two levels each is the regular one: half
by the one word of all factors, I = ABC...; a quarter by the two words that leave out every third
factor in turn, which is of least aberration (Chen and Wu 1991, Annals of Statistics 19). Where
a factor has more levels, cells are kept whose level numbers add up to a multiple: along each line
of the grid every second, or every fourth. Effects are told as differences of pooled runs, which are
those of a factor only where the levels compared have the levels of all other factors equally often
(Plackett 1946: proportional frequencies): any other fraction, or hypothesis about one, is refused.

Knows nothing of runs.
"""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from hashlib import sha256
from itertools import product
from typing import Any

import msgspec
from msgspec import Struct

from loopforge.errors import BadScenario
from loopforge.lab.sweeps.experiment_file import (
    Experiment,
    Level,
    Levels,
    choice_for_levels,
    policy_of,
)
from loopforge.lab.world.scenario_checks import Scenario


class DesignCell(Struct, frozen=True):
    """One cell. `cell` is its number in the full design, from 0, kept whichever are left out."""

    cell: int
    levels: Levels


class ExperimentDesign(Struct, frozen=True):
    """An experiment laid out: its scenarios, the cells to run, those left out, and why these."""

    experiment: Experiment
    scenarios: dict[str, Scenario]
    cells: tuple[DesignCell, ...]
    left_out: tuple[DesignCell, ...]
    relation: str

    @property
    def runs(self) -> int:
        """How many runs it has."""
        return len(self.cells) * self.experiment.seeds

    def scenario(self, levels: Mapping[str, Level], seed: int) -> Scenario:
        """The scenario of one run. Raises BadScenario."""
        return choice_for_levels(levels, seed).apply(self.scenarios[str(levels["scenario"])])

    @property
    def digest(self) -> str:
        """SHA-256 of what results follow from: scenarios, and the experiment without its cap."""
        said = {**self.to_dict(), "scenarios": {n: s.digest for n, s in self.scenarios.items()}}
        for name in ("cost_cap", "keep_logs"):
            said["experiment"].pop(name)
        return sha256(msgspec.json.encode(said, order="sorted")).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """Plain values; `from_dict` lays the same out without any other file."""
        plain: dict[str, Any] = {"experiment": msgspec.to_builtins(self.experiment)}
        plain["scenarios"] = {name: each.to_dict() for name, each in self.scenarios.items()}
        return plain

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> ExperimentDesign:
        """What `to_dict` wrote, checked again. Raises BadScenario."""
        scenarios = {n: Scenario.from_dict(each) for n, each in fields["scenarios"].items()}
        return lay_out(Experiment.from_dict(fields["experiment"]), scenarios)

    def check(self) -> None:
        """Raises BadScenario for a cell that its scenario cannot have."""
        for cell in self.cells:
            self.scenario(cell.levels, self.experiment.first_seed)


def lay_out(experiment: Experiment, scenarios: Mapping[str, Scenario]) -> ExperimentDesign:
    """Choose the cells. Raises BadScenario for a fraction that says too little."""
    factors = experiment.all_factors
    names = list(factors)
    grid = list(product(*(range(len(levels)) for levels in factors.values())))
    every = [
        DesignCell(nth, {name: factors[name][at] for name, at in zip(names, point, strict=True)})
        for nth, point in enumerate(grid)
    ]
    relation, chosen = "all cells", set(range(len(grid)))
    if experiment.design == "fraction":
        sizes = [len(levels) for levels in factors.values()]
        relation, chosen = _fraction(names, sizes, grid, experiment.fraction)
    cells = tuple(cell for cell in every if cell.cell in chosen)
    if experiment.design == "fraction":
        _refuse_what_it_mixes_up(experiment, cells)
    left_out = tuple(cell for cell in every if cell.cell not in chosen)
    return ExperimentDesign(experiment, dict(scenarios), cells, left_out, relation)


def alone_between(cells: Iterable[DesignCell], factor: str, levels: Iterable[Level]) -> bool:
    """Whether these cells have all these levels of a factor, and between them differ in no other.

    That is, at each of them every level of each other factor has the same share of the cells.
    """
    held = {level: [cell for cell in cells if cell.levels[factor] == level] for level in levels}
    shares = [
        {
            other: Fraction(count, len(some))
            for other, count in Counter(
                pair for cell in some for pair in cell.levels.items() if pair[0] != factor
            ).items()
        }
        for some in held.values()
    ]
    return all(held.values()) and all(each == shares[0] for each in shares)


# ---------------------------------------------------------------- fractions


def _fraction(
    names: Sequence[str], sizes: Sequence[int], grid: Sequence[tuple[int, ...]], part: int
) -> tuple[str, set[int]]:
    """How a fraction is chosen, in words, and the numbers of its cells."""
    varied = [at for at, size in enumerate(sizes) if size > 1]
    if varied and all(sizes[at] == 2 for at in varied):
        words = _words(varied, part)
        letters = dict(zip(varied, string.ascii_uppercase, strict=False))
        chosen = {
            nth
            for nth, point in enumerate(grid)
            if all(sum(1 - point[at] for at in word) % 2 == 0 for word in words)
        }
        told = " = ".join("".join(letters[at] for at in word) for word in words)
        named = ", ".join(f"{letters[at]} is {names[at]}" for at in varied)
        relation = f"one in {part} by the defining relation I = {told} ({named})"
    else:
        chosen = {nth for nth, point in enumerate(grid) if sum(point) % part == 0}
        relation = f"the cells whose level numbers, from 0, add up to a multiple of {part}"
    return relation, chosen


def _words(varied: Sequence[int], part: int) -> tuple[tuple[int, ...], ...]:
    """The words of the defining relation, as places of factors."""
    if part == 2:
        return (tuple(varied),)
    thirds = [[at for nth, at in enumerate(varied) if nth % 3 != left] for left in (2, 1)]
    return tuple(tuple(word) for word in thirds)


def _refuse_what_it_mixes_up(experiment: Experiment, cells: Sequence[DesignCell]) -> None:
    """Raises BadScenario where what these cells say of a factor would be another's doing."""
    out = 'Take fraction = 2, more factors or levels in even numbers, or design = "full".'
    for factor, levels in experiment.all_factors.items():
        if len(levels) > 1 and not alone_between(cells, factor, levels):
            raise BadScenario(
                f"One in {experiment.fraction} of its cells does not tell its factors apart: "
                f"between the levels of {factor!r} others would change, too. {out}"
            )
    for each in experiment.hypotheses:
        some = [cell for cell in cells if each.where.items() <= cell.levels.items()]
        if not alone_between(some, each.factor, (each.a, each.b)):
            raise BadScenario(
                f"Hypothesis {each.name!r}: in one of {experiment.fraction} of the cells its arms "
                "have other factors at other levels, too, and it could not be told whose doing a "
                'difference is. Take levels out of its `where`, or design = "full".'
            )


def policies_of(layout: ExperimentDesign) -> tuple[str, ...]:
    """The policies that its cells name, each once."""
    return tuple(dict.fromkeys(policy_of(cell.levels) for cell in layout.cells))
