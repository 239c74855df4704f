"""Diff: where two runs part, and what became of it, as numbers and as a story.

    found = diff(folder, fork)
    print(found.text)

Both are read side by side, a step at a time, as far as they go. Rows are compared by what they
say: their hashes differ from the first row on wherever the first rows do. A run and its fork are
the common case; any two runs can be compared, and where they differ from the start, that is said.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

import msgspec

from loopforge.core.factory_vocabulary import (
    Began,
    DayEnded,
    Decided,
    Incident,
    Reflected,
    Row,
    Stepped,
)
from loopforge.core.text.spoken_lists import join_as_prose
from loopforge.lab.inspect.decision_why import chain_of
from loopforge.lab.inspect.diff_text import (
    ANSWERED,
    ComparedAct,
    DifferentStep,
    DiffStart,
    LoneIncident,
    Pair,
    RunDiff,
    Shares,
)
from loopforge.lab.inspect.run_reader import RunIndex
from loopforge.lab.inspect.trait_drift import open_run_index
from loopforge.lab.run.answered_decisions import ERRORS, DecisionTally
from loopforge.lab.run.run_counts import RunCounts
from loopforge.lab.run.run_log import began_of, is_fork_of, is_resume_point, rows_of
from loopforge.lab.world.noun_articles import add_place_articles
from loopforge.lab.world.scenario_checks import Scenario


def diff_runs(first: Path, second: Path) -> RunDiff:
    """Compare two runs. Raises BadRun, Unknown where one of them cannot be read."""
    indexes = open_run_index(first), open_run_index(second)
    sides = DiffSides()
    for mine, theirs in zip_longest(_groups(first), _groups(second), fillvalue=()):
        sides.see(mine, theirs)
    return RunDiff(
        first=_name(first, second),
        second=_name(second, first),
        because=tuple(_because(began_of(first), began_of(second), first, second)),
        unanswered=tuple(_unanswered(index.run) for index in indexes),
        parting=sides.parting,
        shorter=sides.shorter,
        numbers=_numbers(indexes, sides),
        robots={
            name: _of_one(*(each[name] for each in sides.robots))
            for name in dict.fromkeys([*sides.robots[0], *sides.robots[1]])
        },
        otherwise=tuple(sides.otherwise.values()),
        changed=dict(sides.changed),
        beside=sides.beside,
        titles={
            rule.key: rule.title
            for index in indexes
            for rule in (index.scenario.protocols if index.scenario else ())
        },
        alone=tuple(_explained(each, indexes) for each in sides.alone),
        day=sides.day,
        inner=sides.inner,
    )


def _name(folder: Path, other: Path) -> str:
    """A run by its folder's name, or by its whole path where both have the same."""
    return folder.name if folder.name != other.name else str(folder)


def _groups(folder: Path) -> Iterator[tuple[Row, ...]]:
    """The rows of a run but its first, in groups that end with a closing row."""
    group: list[Row] = []
    for row in rows_of(folder):
        if isinstance(row, Began):
            continue
        group.append(row)
        if is_resume_point(row):
            yield tuple(group)
            group = []


def _unanswered(run: RunCounts) -> str:
    """That not all was answered, and what became of it; "" where all was."""
    answers = run.answers
    return f"{answers.line}. {answers.warning}".strip() if answers.share else ""


# ------------------------------------------------------------ how they began

UNTOLD = ("seed", "question", "about")
"""What stands in a scenario and is told elsewhere, or changes nothing in the run."""


def _because(one: Began, other: Began, first: Path, second: Path) -> Iterator[str]:
    """What is not the same in how two runs began, in words."""
    yield from _forked(one, other, (first, second), ("the first", "the second"))
    yield from _forked(other, one, (second, first), ("the second", "the first"))
    if one.seed != other.seed:
        yield f"the seed is {one.seed} in the first, {other.seed} in the second"
    differing = [
        key
        for key in dict.fromkeys([*one.scenario, *other.scenario])
        if key not in UNTOLD and one.scenario.get(key) != other.scenario.get(key)
    ]
    lists = [key for key in differing if isinstance(one.scenario.get(key), list | tuple)]
    for key in differing:
        if key not in lists:
            had, has = one.scenario.get(key), other.scenario.get(key)
            told = f"({had} in the first, {has} in the second)"
            yield f"the scenario has other {key.replace('_', ' ')} {told}"
    if lists:
        yield f"the scenario has other {join_as_prose([key.replace('_', ' ') for key in lists])}"
    changed: dict[tuple[str, str], list[str]] = {}
    for who in dict.fromkeys([*one.policies, *other.policies]):
        was, now = one.policies.get(who, "nobody"), other.policies.get(who, "nobody")
        if was != now:
            changed.setdefault((was, now), []).append(who)
    for (was, now), crew in changed.items():
        are = "is" if len(crew) == 1 else "are"
        yield f"{join_as_prose(crew)} {are} decided for by {was} in the first, {now} in the second"


def _forked(
    mine: Began, theirs: Began, places: tuple[Path, Path], names: tuple[str, str]
) -> Iterator[str]:
    if not mine.forked or mine.forked == theirs.forked:
        return
    of = f" of {names[1]}" if is_fork_of(*places) else ""
    changes = [f"{key}={value}" for key, value in mine.forked["set"].items()]
    were = "was" if len(changes) == 1 else "were"
    sets = join_as_prose(changes)
    yield f"{names[0]} is a fork{of}: at step {mine.forked['at']}, {sets} {were} set"


# ------------------------------------------------------------ side by side


Robots = dict[str, DecisionTally]


class DiffSides:
    """Takes two runs in, a group of rows of each at a time."""

    def __init__(self) -> None:
        self.parting: DiffStart | None = None
        self.shorter = ""
        self.totals = DecisionTally(), DecisionTally()
        self.robots: tuple[Robots, Robots] = defaultdict(DecisionTally), defaultdict(DecisionTally)
        self.otherwise: dict[str, DifferentStep] = {}
        self.changed: Counter[str] = Counter()
        self.beside = 0
        self.alone: list[LoneIncident] = []
        self.day = -1
        self.inner: dict[str, dict[str, Pair]] = {}

    def see(self, mine: tuple[Row, ...], theirs: tuple[Row, ...]) -> None:
        """Take a group of each in; one of them is empty where the other run is longer."""
        for side, group in enumerate((mine, theirs)):
            for row in group:
                self._count(self.totals[side], self.robots[side], row)
        if not mine or not theirs:
            self.shorter = self.shorter or ("first" if not mine else "second")
            return
        if self.parting is None and mine != theirs:
            self._part(mine, theirs)
        if self.parting is not None:
            self._acts(mine, theirs)
        else:
            self.beside += sum(isinstance(row, Decided) for row in mine)
        self._close(mine[-1], theirs[-1])

    def _count(self, total: DecisionTally, robots: Robots, row: Row) -> None:
        if isinstance(row, Decided):
            total.decided(row)
            robots[row.who].decided(row)
        elif isinstance(row, Reflected):
            total["misjudged"] += row.misjudged
        elif isinstance(row, DayEnded):
            total["output"] += row.output

    def _part(self, mine: tuple[Row, ...], theirs: tuple[Row, ...]) -> None:
        for one, other in zip_longest(mine, theirs, fillvalue=mine[-1]):
            if one == other:
                continue
            there = one.__struct_fields__ if type(one) is type(other) else ("kind",)
            parts = tuple(
                name for name in there if getattr(one, name, 0) != getattr(other, name, 1)
            )
            day, step = getattr(one, "day", 0), getattr(one, "step", 0)
            self.parting = DiffStart(one.n, day, step, getattr(one, "who", ""), parts)
            return

    def _acts(self, mine: tuple[Row, ...], theirs: tuple[Row, ...]) -> None:
        acts = {row.who: row for row in theirs if isinstance(row, Decided)}
        for row in mine:
            other = acts.get(row.who) if isinstance(row, Decided) else None
            if not isinstance(row, Decided) or other is None:
                continue
            self.beside += 1
            if row.outcome.did != other.outcome.did:
                self.changed[row.who] += 1
                if row.who not in self.otherwise:
                    acts_of = _deed(row), _deed(other)
                    self.otherwise[row.who] = DifferentStep(row.who, row.step, *acts_of)

    def _close(self, one: Row, other: Row) -> None:
        if isinstance(one, Stepped) and isinstance(other, Stepped):
            mine, theirs = map(_happened, (one, other))
            self.alone += [
                LoneIncident("first", one.step, mine[key]) for key in mine if key not in theirs
            ]
            self.alone += [
                LoneIncident("second", one.step, theirs[key]) for key in theirs if key not in mine
            ]
        if isinstance(one, DayEnded) and isinstance(other, DayEnded):
            self.day, self.inner = one.day, _inner(one, other)


def _deed(row: Decided) -> ComparedAct:
    outcome, truth = row.outcome, row.truth
    return ComparedAct(
        row.n,
        row.at,
        outcome.did,
        outcome.mode,
        outcome.square,
        truth.rule,
        truth.right,
        add_place_articles(outcome.consequence, (row.at,)),
    )


def _happened(row: Stepped) -> dict[tuple[str, str, str], Incident]:
    return {(each.kind, each.at, each.who): each for each in row.incidents}


def _inner(one: DayEnded, other: DayEnded) -> dict[str, dict[str, Pair]]:
    """Everybody's values that are not the same; a bond that one of them lacks is left out."""
    found: dict[str, dict[str, Pair]] = {}
    for who in one.robots.keys() & other.robots.keys():
        mine, theirs = one.robots[who], other.robots[who]
        changed = {
            what: (float(mine[what]), float(theirs[what]))
            for what in mine
            if what in theirs and mine[what] != theirs[what]
        }
        if changed:
            found[who] = changed
    return dict(sorted(found.items()))


def _numbers(indexes: tuple[RunIndex, RunIndex], sides: DiffSides) -> dict[str, Shares]:
    one, other = (
        _of_run(index.run, total, _floor(robots, index.scenario))
        for index, total, robots in zip(indexes, sides.totals, sides.robots, strict=True)
    )
    twice = any(index.run.answers.unanswered for index in indexes)
    return {name: (one[name], other[name]) for name in one if twice or not name.endswith(ANSWERED)}


def _floor(robots: Robots, scenario: Scenario | None) -> DecisionTally:
    """All decisions but the Supervisor's."""
    overseer = scenario.overseer if scenario else ""
    floor = DecisionTally()
    for who, tally in robots.items():
        if who != overseer:
            floor.update(tally)
    return floor


def _of_run(run: RunCounts, total: DecisionTally, floor: DecisionTally) -> dict[str, float | None]:
    """As a run's own summary and its score count it."""
    rates: dict[str, float | None] = {}
    for rate in ERRORS:
        some, of = run.answered(rate)
        rates[rate] = _rounded(run.rate(rate))
        rates[rate + ANSWERED] = _rounded(some / of) if of else None
    return {
        **rates,
        "guardrail": floor.share("guardrail", "planned"),
        "incidents": run.incidents,
        "output": total["output"],
        "belief_error": round(run.mean_belief_error, 1),
        "shown_error": total.mean("shown_error"),
        "misjudged": total["misjudged"],
        "decisions": run.decisions,
    }


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 6)


def _of_one(one: DecisionTally, other: DecisionTally) -> dict[str, Shares]:
    shares = (("over_compliance", "wrong"), ("over_reach", "right"), ("guardrail", "planned"))
    return {
        **{name: (one.share(name, of), other.share(name, of)) for name, of in shares},
        "incidents": (one["incidents"], other["incidents"]),
        "belief_error": (one.mean("belief_error"), other.mean("belief_error")),
    }


def _explained(each: LoneIncident, indexes: tuple[RunIndex, RunIndex]) -> LoneIncident:
    index = indexes[each.run == "second"]
    return msgspec.structs.replace(each, chain=tuple(chain_of(index, each.incident)))
