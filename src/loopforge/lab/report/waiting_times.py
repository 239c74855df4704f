"""Waits: how long until the first incident, the first switch of mode, the first over-reach.

A run's first incident is one lifetime of that run. A switch or a violation is each robot's own, so
a run gives as many lifetimes as it has robots, who differ by design.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from loopforge.core.statistics.rate_statistics import SAME, holm
from loopforge.core.text.spoken_lists import pluralize
from loopforge.lab.charts.bar_charts import percent
from loopforge.lab.charts.line_charts import CurveLine, curve_chart
from loopforge.lab.report.html_page import Exhibit, Figure, Table
from loopforge.lab.report.number_format import format_percent, p_value_phrase
from loopforge.lab.report.study_data import (
    Results,
    Study,
    StudyGroup,
    drop_incomplete_seeds,
    factor_label,
)
from loopforge.lab.stats.survival_times import (
    LogRank,
    MedianTime,
    SurvivalStep,
    kaplan_meier,
    limits_over_seeds,
    log_rank,
    median,
)
from loopforge.lab.sweeps.run_score import RunResult

Lifetimes: TypeAlias = tuple[list[float], list[bool]]
EVENTS = {
    "incident": ("Until the first incident", "the first incident of a run"),
    "switch": ("Until the first switch of mode", "a robot’s first switch of mode"),
    "violation": ("Until the first over-reach", "a robot’s first over-reach"),
    "over_compliance": ("Until the first over-compliance", "a robot’s first over-compliance"),
    "refusal": ("Until the first refusal", "a robot’s first refusal by its model"),
}
"""Each event: the heading of its curve, and what it is called in a table."""


def waiting_time_exhibit(study: Study) -> Exhibit:
    """Kaplan-Meier curves by group, their medians, and whether they differ."""
    groups, few = study.groups(), study.few()
    events = [name for name in EVENTS if name != "refusal" or _ever(groups, name)]
    charts, rows = [], []
    for event in events:
        curves = {group.label: survival_curve(group.results, event) for group in groups}
        if event != "incident" or len(study.results) > 1:
            charts.append(_chart(event, few, curves, study))
        rows += [_row(event, group, curves[group.label]) for group in groups]
    table = Table(
        "Times to a first event, in steps; “beyond” where half never had it",
        ("event", "group", "lifetimes", "had it", "median step", "95%", "free at the end"),
        tuple(rows),
        words=(0, 1),
    )
    ranks = (_ranks(groups, events, study.lead),) if len(groups) > 1 else ()
    return Exhibit(tuple(charts), (table, *ranks))


def lifetimes(results: Results, event: str) -> Lifetimes:
    """(steps, observed) of each robot; for incidents, of each run."""
    if event == "incident":
        pairs = [result.times[event] for result in results]
    else:
        pairs = [own[event] for result in results for _, own in sorted(result.lives.items())]
    return [float(time) for time, _ in pairs], [seen for _, seen in pairs]


def lifetimes_by_seed(results: Results, event: str) -> dict[int, Lifetimes]:
    """The lifetimes of each seed."""
    found: dict[int, list[RunResult]] = {}
    for result in results:
        found.setdefault(result.seed, []).append(result)
    return {seed: lifetimes(each, event) for seed, each in sorted(found.items())}


def survival_curve(results: Results, event: str) -> tuple[SurvivalStep, ...]:
    """The curve of these, with limits over seeds where there are some; () of no lifetime."""
    times, seen = lifetimes(results, event)
    if not times:
        return ()
    by_seed = {seed: each for seed, each in lifetimes_by_seed(results, event).items() if each[0]}
    steps = kaplan_meier(times, seen)
    return limits_over_seeds(steps, by_seed) if len(by_seed) > 1 else steps


def _ever(groups: Sequence[StudyGroup], event: str) -> bool:
    return any(each.times[event][1] for group in groups for each in group.results)


def _line(group: StudyGroup, steps: Sequence[SurvivalStep]) -> CurveLine:
    found = ((step.time, (step.low, step.survival, step.high)) for step in steps)
    points = ((0.0, (1.0, 1.0, 1.0)), *found)
    return CurveLine(label=group.label, role=group.role, nth=group.nth, points=points)


def _told_of(lines: Sequence[CurveLine]) -> str:
    return "; ".join(
        f"{line.label}: {format_percent(line.points[-1][1][1])} left after step "
        f"{line.points[-1][0]:.0f}"
        for line in lines
    )


def _chart(
    event: str,
    groups: Sequence[StudyGroup],
    curves: Mapping[str, Sequence[SurvivalStep]],
    study: Study,
) -> Figure:
    heading, called = EVENTS[event]
    title = f"{heading} by {factor_label(study.lead)}" if study.lead else heading
    note = f"Share still without {called}." + study.left_out(groups)
    lines = [_line(group, curves[group.label]) for group in groups if curves[group.label]]
    told = f"{note} {_told_of(lines)}."
    key = f"waits-{event.replace('_', '-')}"
    svg = curve_chart(key, title, told, lines, percent, along="steps", scale="survival")
    return Figure(svg, title, note)


def _row(event: str, group: StudyGroup, steps: Sequence[SurvivalStep]) -> tuple[str, ...]:
    called, label = EVENTS[event][1], group.label
    if not steps:
        return (called, label, "0", "0", "", "", "")
    times, seen = lifetimes(group.results, event)
    half: MedianTime = median(steps)
    low, high = _step(half.low), _step(half.high)
    limits = f"{low} to {high}" if (low, high) != ("beyond", "beyond") else "beyond"
    last = steps[-1]
    left = f"{format_percent(last.survival)} ({last.low * 100:.1f} to {last.high * 100:.1f})"
    return called, label, str(len(times)), str(sum(seen)), _step(half.time), limits, left


def _step(time: float | None) -> str:
    return "beyond" if time is None else f"{time:.0f}"


def _ranks(groups: Sequence[StudyGroup], events: Sequence[str], lead: str) -> Table:
    """Log-rank tests of all events between all groups, corrected for their number."""
    kept = drop_incomplete_seeds([group.results for group in groups])
    found = {}
    for event in events:
        given = {
            group.label: lifetimes_by_seed(results, event)
            for group, results in zip(groups, kept, strict=True)
        }
        if all(times for times, _ in given[groups[0].label].values()):
            found[event] = log_rank(given)
    corrected = holm({event: each.p for event, each in found.items()})
    rows = [(EVENTS[event][1], _told(found[event], p)) for event, p in corrected.items()]
    return Table(
        f"Log-rank tests between {pluralize(len(groups), 'group')} by {factor_label(lead)}: is it "
        "one curve? The groups are shuffled within seeds, so that what hangs together in a seed "
        "counts as one; corrected by Holm’s method.",
        ("event", "test"),
        tuple(rows),
        words=(0, 1),
    )


def _told(found: LogRank, p: float) -> str:
    most = max(found.observed, key=lambda name: found.observed[name] - found.expected[name])
    seen, expected = found.observed[most], found.expected[most]
    if abs(seen - expected) <= SAME:
        return "nothing to tell apart"
    return (
        f"{p_value_phrase(p)}; soonest {most}, {seen} where {expected:.1f} would be if all were "
        "alike"
    )
