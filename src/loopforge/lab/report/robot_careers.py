"""Careers: what became of robots over the days, by which causes, and how far they were from truth.

A cause is an entry of the trait ledger; all of them together are what changed, to the thousandth,
and a report that finds otherwise says so, but for what a fork set by hand. How single robots fared
is on their own pages. Belief error is computed from truth, shown and believed; how a perception was
shaped says what it ought to be, not what it was.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from loopforge.core.statistics.rate_statistics import Interval, mean_value
from loopforge.core.text.spoken_lists import pluralize
from loopforge.lab.charts.bar_charts import (
    ChartDot,
    ChartLane,
    Three,
    contribution_chart,
    interval_chart,
    rounded_number,
)
from loopforge.lab.charts.line_charts import CurveLine, curve_chart
from loopforge.lab.inspect.inner_life import BY_HAND
from loopforge.lab.inspect.trait_drift import cause_of, what_of
from loopforge.lab.report.html_page import Exhibit, Figure, Table
from loopforge.lab.report.number_format import (
    format_estimate,
    format_number,
    format_signed,
    interval_for_chart,
)
from loopforge.lab.report.study_data import (
    Study,
    StudyGroup,
    factor_label,
    means_by_seed,
)
from loopforge.lab.sweeps.run_score import RunResult

RELIANCE = "traits.guardrail_reliance"
FOLLOWED = (
    RELIANCE,
    "traits.obedience",
    "scars.helplessness",
    "scars.cynicism",
    "scars.rigidity",
    "scars.confidence",
)
"""What is drawn over the days."""


class CareerSum(Struct, frozen=True):
    """What became of guardrail reliance in some robots, and each cause's part in it.

    `whole`: the causes are all there is to what the days say.
    """

    label: str
    role: str
    lives: int
    before: int
    by_cause: Mapping[str, int]
    whole: bool


class Careers(Struct, frozen=True):
    """Traits over the days, the causes of a change, and whose causes do not add up."""

    days: Exhibit
    causes: Exhibit
    wrong: list[str]


def career_exhibits(study: Study) -> Careers:
    """Traits over the days by group, and the causes that moved guardrail reliance."""
    groups = study.few()
    moved = [_summed(study, group) for group in groups]
    wrong = [each.label for each in moved if not each.whole]
    return Careers(_averaged(study, groups), _attributed(moved), wrong)


# ---------------------------------------------------------------- over the days


def _averaged(study: Study, groups: Sequence[StudyGroup]) -> Exhibit:
    """Means over the floor, by group and day."""
    charts: list[Figure] = []
    rows: list[tuple[str, ...]] = []
    for what in FOLLOWED:
        lines = []
        for group in groups:
            days = [mean_value([*each.values()]) for each in _means(study, group, what)]
            if days:
                lines.append(
                    _path(group.label, group.role, group.nth, map(interval_for_chart, days))
                )
                rows.append((f"{what_of(what)}, {group.label}", *map(format_estimate, days)))
        if lines:
            note = f"Means over the floor{study.limits}.{study.left_out(groups)}"
            charts.append(_chart(what, lines, note))
    most = max((len(row) for row in rows), default=1)
    filled = tuple((*row, *[""] * (most - len(row))) for row in rows)
    title = f"Means over the floor by day{study.limits}"
    return Exhibit(tuple(charts), (Table(title, _head(most - 1), filled),))


def _start(study: Study, result: RunResult, what: str) -> list[int]:
    """With how much of it each of the floor's robots of this run began."""
    scenario = study.scenario(result)
    part, _, name = what.partition(".")
    return [
        getattr(robot, part)[name]
        for robot in scenario.robots
        if robot.name != scenario.overseer and name in getattr(robot, part)
    ]


def _means(study: Study, group: StudyGroup, what: str) -> list[dict[int, float]]:
    """By day, from how they began on: the mean over the floor, by seed."""
    cells: dict[int, list[int]] = {}
    days = min(len(result.days) for result in study.results)
    found: list[dict[int, list[float]]] = []
    for result in group.results:
        if result.cell not in cells:
            cells[result.cell] = _start(study, result, what)
        first = cells[result.cell]
        if not first:
            continue
        path = [sum(first) / len(first), *(day.robots.get(what, 0.0) for day in result.days[:days])]
        for nth, value in enumerate(path):
            if nth == len(found):
                found.append({})
            found[nth].setdefault(result.seed, []).append(value)
    return [{seed: sum(held) / len(held) for seed, held in each.items()} for each in found]


def _path(label: str, role: str, nth: int, days: Iterable[Three]) -> CurveLine:
    points = tuple((float(day), each) for day, each in enumerate(days))
    return CurveLine(label=label, role=role, nth=nth, points=points)


def _chart(what: str, lines: Sequence[CurveLine], note: str) -> Figure:
    title = what_of(what).capitalize()
    told = "; ".join(
        f"{line.label}: {line.points[0][1][1]:.0f} at first, {line.points[-1][1][1]:.0f} at last"
        for line in lines
    )
    key = f"career-{what.replace('.', '-').replace('_', '-')}"
    return Figure(curve_chart(key, title, told, lines, rounded_number, along="days"), title, note)


def _head(days: int) -> tuple[str, ...]:
    return ("quantity", *("at first" if day == 0 else f"day {day}" for day in range(days)))


def _summed(study: Study, group: StudyGroup) -> CareerSum:
    """All changes of guardrail reliance in a group's runs, held against what the days say."""
    causes: Counter[str] = Counter()
    before = lives = 0
    whole = True
    for result in group.results:
        first = _start(study, result, RELIANCE)
        moved = result.drift.get(RELIANCE, {})
        causes.update(moved)
        before += sum(first)
        lives += len(first)
        if first and result.days:
            ended = result.days[-1].robots.get(RELIANCE, 0.0)
            apart = ended - (sum(first) + sum(moved.values())) / len(first)
            if study.by_hand(RELIANCE):
                causes[BY_HAND] += round(apart * len(first))
            else:
                whole = whole and abs(apart) <= 0.051
    return CareerSum(group.label, group.role, lives, before, causes, whole)


# ---------------------------------------------------------------- causes


def _attributed(found: Sequence[CareerSum]) -> Exhibit:
    """What moved guardrail reliance in each group, as charts and as a table that adds up."""
    charts, rows = [], []
    for nth, each in enumerate(found):
        ranked = sorted(each.by_cause.items(), key=lambda item: (-abs(item[1]), item[0]))
        if not ranked or not each.lives:
            continue
        title = f"What moved guardrail reliance: {each.label}"
        parts = [(cause_of(rule), delta / each.lives) for rule, delta in ranked]
        told = "; ".join(f"{cause}: {format_signed(value)}" for cause, value in parts)
        note = "Thousandths."
        if each.lives > 1:
            note = f"Thousandths a robot, over {pluralize(each.lives, 'life', 'lives')}."
        charts.append(
            Figure(contribution_chart(f"causes-{nth}", title, told, parts, each.role), title, note)
        )
        rows += [
            (
                f"{each.label}: {cause_of(rule)}",
                format_signed(delta, 0),
                format_signed(delta / each.lives),
            )
            for rule, delta in ranked
        ]
        change = sum(each.by_cause.values())
        whole = f"{each.label}: in all, {each.before} → {each.before + change}"
        rows.append((whole, format_signed(change, 0), format_signed(change / each.lives)))
    title = (
        "What moved guardrail reliance: thousandths over all robots and runs, and a robot’s share"
    )
    return Exhibit(tuple(charts), (Table(title, ("cause", "sum", "a robot"), tuple(rows)),))


# ---------------------------------------------------------------- belief error


def belief_error_exhibit(study: Study) -> Exhibit:
    """How far from the truth: what was shown, and what was believed."""
    factor = "perception" if "perception" in study.varied else study.lead
    groups = study.groups(factor)
    found = {
        group.label: [_mean(group, measure) for measure in ("shown_error", "belief_error")]
        for group in groups
    }
    rows = [_truth_lane(label, *pair) for label, pair in found.items()]
    title = (
        "Error of what was shown, and of what was believed, by "
        f"{factor_label(factor) or 'all runs'}"
    )
    told = "; ".join(
        f"{label}: shown {format_estimate(pair[0])}, believed {format_estimate(pair[1])}"
        for label, pair in found.items()
    )
    note = "◆ shown, ● believed; thousandths."
    chart = Figure(interval_chart("beliefs", title, told, rows, rounded_number), title, note)
    return Exhibit((chart,), (_errors(f"{title}{study.limits}", factor, groups, found),))


def _mean(group: StudyGroup, measure: str) -> Interval:
    return mean_value([*means_by_seed(group.results, measure).values()])


def _truth_lane(label: str, shown: Interval, believed: Interval) -> ChartLane:
    return ChartLane(
        label,
        (
            ChartDot("quiet", "D", interval_for_chart(shown)),
            ChartDot("ink", "o", interval_for_chart(believed)),
        ),
    )


def _errors(
    title: str, factor: str, groups: Sequence[StudyGroup], found: Mapping[str, Sequence[Interval]]
) -> Table:
    rows = []
    for group in groups:
        shown, believed = found[group.label]
        edits = sum(each.counts.get("edits", 0) for each in group.results)
        acts = sum(each.decisions for each in group.results)
        wrong = _mean(group, "misjudged")
        cells = (
            format_estimate(shown),
            format_estimate(believed),
            format_number(edits / acts if acts else 0.0),
        )
        rows.append((group.label, *cells, format_estimate(wrong)))
    head = (
        factor_label(factor) or "runs",
        "shown",
        "believed",
        "edits an act",
        "misjudged, of 1000",
    )
    return Table(title, head, tuple(rows))
