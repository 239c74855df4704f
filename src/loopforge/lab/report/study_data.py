"""A study: what a report is about, a sweep's results or one run's rows, in the same shape.

Of a sweep it holds the lines of its results; of a run one such line, scored from its rows, and what
can be said of single robots and rules besides. Groups are the levels of the factor that tells most
apart; counts are summed by seed, which is what pairs and resamples are made of.

Knows no chart and no page. Covers closed days alone: what a run that was cut off did after its last
night is not counted.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from msgspec import Struct

from loopforge.core.factory_vocabulary import (
    Began,
    DayEnded,
    Decided,
    Reflected,
    Row,
    RunLastRow,
)
from loopforge.core.statistics.rate_statistics import Count
from loopforge.errors import BadRun
from loopforge.lab.inspect.inner_life import values_set_by_fork
from loopforge.lab.run.answered_decisions import ERRORS, AnswerCounts, DecisionTally
from loopforge.lab.run.run_folder import EXPERIMENT, label_of
from loopforge.lab.run.run_log import LOG, began_of, head_of, rows_of
from loopforge.lab.sweeps.experiment_design import ExperimentDesign
from loopforge.lab.sweeps.experiment_file import TRAIT, Experiment, Level
from loopforge.lab.sweeps.run_score import RATES, RunResult, ScoringChain
from loopforge.lab.sweeps.sweep_results import (
    MANIFEST,
    RESULTS,
    answers_in,
    layout_of,
    manifest_of,
    results_of,
    worst_of,
)
from loopforge.lab.world.scenario_checks import Scenario

MOST_GROUPS, DOSES = 6, 3
"""Levels that can be told apart in one chart, and how many of a dose are enough."""
MOST_TELLING = 500
"""Rows of a run that went wrong by most, of which a few are told."""
MOST_LANES = 40
"""Robots or rules that are drawn below each other; a table has them all."""
CALLED = {
    "over_compliance": "over-compliance",
    "over_reach": "over-reach",
    "good": "the share of good acts",
    "guardrail": "the share of acts by the rule",
    "belief_error": "belief error",
    "shown_error": "the error of what is shown",
    "incidents": "incidents in a run",
    "switches": "switches of mode in a run",
    "output": "pieces made in a run",
    "tension": "tension",
    "misjudged": "acts misjudged in the evening, of 1000",
}
"""What a measure is called within a sentence."""
LEADING = ("policy", "ablate", "supervisor", "perception", "scenario")
"""Factors that may tell groups apart, the first that has levels."""


Results: TypeAlias = Sequence[RunResult]


class StudyGroup(Struct, frozen=True):
    """Runs that are looked at together: their label, and how they are drawn."""

    label: str
    role: str
    nth: int
    results: tuple[RunResult, ...]


@dataclass
class WatchedRun:
    """What one run's rows say of its robots, rules and days. `cut` says where it breaks off."""

    began: Began
    scenario: Scenario
    head: str = ""
    cut: str = ""
    robots: dict[str, DecisionTally] = field(default_factory=dict)
    rules: dict[str, DecisionTally] = field(default_factory=dict)
    days: dict[int, DecisionTally] = field(default_factory=dict)
    edits: Counter[str] = field(default_factory=Counter)
    nights: int = 0
    models: Counter[str] = field(default_factory=Counter)
    cost: float = 0.0
    answers: AnswerCounts = field(default_factory=AnswerCounts)

    def add(self, row: Decided) -> None:
        """One more act of the floor."""
        self.robots.setdefault(row.who, DecisionTally()).decided(row)
        self.rules.setdefault(row.truth.rule, DecisionTally()).decided(row)
        self.days.setdefault(row.day, DecisionTally()).decided(row)


@dataclass(frozen=True)
class Study:
    """What a report is about. Of a sweep there are `layout` and `manifest`, of a run `watched`."""

    folder: Path
    results: tuple[RunResult, ...]
    layout: ExperimentDesign | None = None
    manifest: dict[str, Any] = field(default_factory=dict)
    watched: WatchedRun | None = None

    @property
    def subject(self) -> Experiment | Scenario:
        """What has a name, a question, and what else there is to say of it."""
        if self.watched is not None:
            return self.watched.scenario
        assert self.layout is not None
        return self.layout.experiment

    @cached_property
    def answers(self) -> AnswerCounts:
        """How many decisions were answered, refused, cut off, failed."""
        return self.watched.answers if self.watched else answers_in(self.results)

    @cached_property
    def worst(self) -> AnswerCounts:
        """The same of the cell that was answered least."""
        return self.watched.answers if self.watched else worst_of(self.results)

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds that have a result."""
        return tuple(sorted({result.seed for result in self.results}))

    @property
    def behind(self) -> tuple[int, int]:
        """The fewest and the most seeds that a cell of the design has a result of."""
        cells = self.layout.cells if self.layout else ()
        done = Counter(result.cell for result in self.results)
        counts = [done[cell.cell] for cell in cells] or [len(self.seeds)]
        return min(counts), max(counts)

    def scenario(self, result: RunResult) -> Scenario:
        """What a run of it was played in."""
        if self.watched is not None:
            return self.watched.scenario
        assert self.layout is not None
        return self.layout.scenario(result.levels, result.seed)

    def by_hand(self, what: str) -> bool:
        """Whether a fork set this in somebody."""
        watched = self.watched
        robots = watched.scenario.robots if watched else ()
        return watched is not None and any(
            what == each
            for robot in robots
            for _, each, _ in values_set_by_fork(watched.began, robot.name)
        )

    @property
    def varied(self) -> dict[str, tuple[Level, ...]]:
        """The factors with more than one level, with those levels."""
        every = self.layout.experiment.all_factors if self.layout else {}
        return {name: levels for name, levels in every.items() if len(levels) > 1}

    @property
    def lead(self) -> str:
        """The factor whose levels are the groups; "" where all runs are one group."""
        varied = self.varied
        order = list(LEADING)
        if self.layout and self.layout.experiment.hypotheses:
            order.insert(1, self.layout.experiment.hypotheses[0].factor)
        order += list(varied)
        return next((name for name in order if 1 < len(varied.get(name, ())) <= MOST_GROUPS), "")

    def groups(self, factor: str | None = None) -> list[StudyGroup]:
        """Results by the level of a factor (else of the one that leads), in the levels' order."""
        name = self.lead if factor is None else factor
        if not name:
            label = "this run" if self.watched else "all runs"
            return [StudyGroup(label, "g1", 0, self.results)]
        found = []
        for nth, level in enumerate(self.varied[name]):
            mine = tuple(each for each in self.results if each.levels[name] == level)
            if mine:
                role = f"g{1 + nth % MOST_GROUPS}"
                found.append(StudyGroup(level_label(name, level), role, nth, mine))
        return found

    @property
    def limits(self) -> str:
        """What stands by a mean over the seeds; from one seed nothing can be resampled."""
        return ", with 95% limits over seeds" if len(self.seeds) > 1 else ""

    def few(self) -> list[StudyGroup]:
        """The groups; of more than three doses the least, the middle one and the greatest."""
        groups = self.groups()
        levels = self.varied.get(self.lead, ())
        if len(groups) <= DOSES or not all(isinstance(level, int) for level in levels):
            return groups
        order = sorted(groups, key=lambda group: int(group.results[0].levels[self.lead]))
        return [order[0], order[len(order) // 2], order[-1]]

    def left_out(self, groups: Sequence[StudyGroup]) -> str:
        """What a chart of `few` says of the groups that it leaves out; "" where it has all."""
        shown = {group.label for group in groups}
        others = [group.label for group in self.groups() if group.label not in shown]
        return f" Not drawn: {', '.join(others)}." if others else ""


# ---------------------------------------------------------------- names and sums


def level_label(factor: str, level: Level) -> str:
    """A level as it is called in a chart: a number with its factor before it."""
    if factor == "ablate":
        return "whole minds" if level == "none" else f"without {str(level).replace('+', ', ')}"
    return f"{factor_label(factor)} {level}" if isinstance(level, int) else str(level)


def level_phrase(factor: str, level: Level) -> str:
    """A level as it is called in a sentence: with its factor before it."""
    told = level_label(factor, level)
    return (
        told if isinstance(level, int) or factor == "ablate" else f"{factor_label(factor)} {told}"
    )


def factor_label(name: str) -> str:
    """A factor or a measure as it is called."""
    return name.removeprefix(TRAIT).replace("_", " ")


def counts_by_seed(results: Iterable[RunResult], rate: str) -> dict[int, Count]:
    """(successes, trials) of a rate by seed, over all these runs."""
    some, of = RATES[rate]
    sums: dict[int, list[int]] = {}
    for result in results:
        pair = sums.setdefault(result.seed, [0, 0])
        pair[0] += result.counts.get(some, 0)
        pair[1] += result.counts.get(of, 0)
    return {seed: (pair[0], pair[1]) for seed, pair in sorted(sums.items())}


def pooled_count(results: Iterable[RunResult], rate: str) -> Count:
    """(successes, trials) of a rate over all these runs."""
    some, of = RATES[rate]
    pairs = [(each.counts.get(some, 0), each.counts.get(of, 0)) for each in results]
    return sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)


def drop_incomplete_seeds(arms: Sequence[Results]) -> list[list[RunResult]]:
    """These arms without the seeds of which one lacks a run that it has with another seed.

    Of a sweep that stopped early the last seeds have some cells, and an arm that pools those is
    of other runs than the one it is compared with.
    """
    counts = [Counter(result.seed for result in each) for each in arms]
    most = [max(count.values(), default=0) for count in counts]
    pairs = list(zip(counts, most, strict=True))
    seeds = {seed for seed in counts[0] if all(count[seed] == n > 0 for count, n in pairs)}
    return [[result for result in each if result.seed in seeds] for each in arms]


def means_by_seed(results: Iterable[RunResult], measure: str) -> dict[int, float]:
    """The mean of a measure by seed, over all these runs."""
    found: dict[int, list[float]] = {}
    for result in results:
        found.setdefault(result.seed, []).append(result.means[measure])
    return {seed: sum(each) / len(each) for seed, each in sorted(found.items())}


# ---------------------------------------------------------------- reading


def study_of(folder: Path) -> Study:
    """The study of a sweep's folder, or of a run's. Raises BadRun, BadScenario."""
    if (folder / EXPERIMENT).exists():
        found = _study_of_sweep(folder)
    elif (folder / LOG).exists():
        found = _study_of_run(folder)
    else:
        raise BadRun(
            label_of(folder).said(folder.name)
            or f"{folder} holds neither {LOG} nor {RESULTS}: it is no run and no sweep. "
            "`loopforge lab run --out` and `loopforge lab sweep --out` make them."
        )
    if not any(pooled_count(found.results, rate)[1] for rate in ERRORS):
        raise BadRun(f"Nobody on the floor of {folder} had anything to decide; add robots to it.")
    return found


def _study_of_sweep(folder: Path) -> Study:
    layout, results = layout_of(folder), results_of(folder)
    if not results:
        raise BadRun(f"{folder} has no run that is done. Start the same sweep to go on.")
    known = {cell.cell: cell.levels for cell in layout.cells}
    strange = next((each for each in results if known.get(each.cell) != each.levels), None)
    if strange is not None:
        raise BadRun(f"{folder / RESULTS} holds a run that is not of this sweep: {strange.cell}.")
    manifest = manifest_of(folder)
    if manifest.get("digest") != layout.digest:
        raise BadRun(f"{folder / MANIFEST} is of another experiment than {EXPERIMENT} beside it.")
    return Study(folder, tuple(results), layout=layout, manifest=manifest)


def _study_of_run(folder: Path) -> Study:
    began = began_of(folder)
    scenario = Scenario.from_dict(began.scenario)
    scoring = ScoringChain(scenario.overseer, MOST_TELLING)
    watched = WatchedRun(began, scenario, head_of(folder), answers=scoring.run.answers)
    last: Row = began
    for rows in _closed_days(rows_of(folder)):
        for row in rows:
            scoring.add(row)
            _watch_row(watched, row)
        last = rows[-1]
    if not watched.nights:
        raise BadRun(
            f"No day of {folder} is over yet, so there is nothing to tell. Take it up with "
            "`loopforge lab run --resume`."
        )
    if not isinstance(last, RunLastRow):
        watched.cut = (
            f"It was cut off: told is what happened up to the night of day {watched.nights}."
        )
    result = scoring.result(0, began.seed, {}, cost=watched.cost)
    return Study(folder, (result,), watched=watched)


def _closed_days(rows: Iterator[Row]) -> Iterator[Sequence[Row]]:
    """The rows of each closed day; of one that was cut off nothing."""
    held: list[Row] = []
    for row in rows:
        held.append(row)
        if isinstance(row, DayEnded | RunLastRow):
            yield held
            held = []


def _watch_row(watched: WatchedRun, row: Row) -> None:
    """What a row says of robots, rules and models."""
    watched.nights += isinstance(row, DayEnded)
    if isinstance(row, Decided):
        watched.edits.update(edit.kind for edit in row.edits)
        if row.who != watched.scenario.overseer:
            watched.add(row)
    if isinstance(row, Decided | Reflected):
        for each in row.minded.exchange:
            watched.models[f"{each.model or 'no model'}: {each.outcome}"] += 1
            watched.cost += each.cost
