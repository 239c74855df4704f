"""Careers: what became of robots over the days, by which causes, and how far they were from truth.

A cause is an entry of the trait ledger; all of them together are what changed, to the thousandth,
and a report that finds otherwise says so. Belief error is computed from truth, shown and believed;
how a perception was shaped says what it ought to be, not what it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct

from loopforge.lab.charts.bar_charts import ChartLane, Dot, lanes, percent, plain, sums
from loopforge.lab.charts.line_charts import CurveLine, curves
from loopforge.lab.inspect.robot_lives import Life
from loopforge.lab.inspect.trait_drift import cause_of, what_of
from loopforge.lab.report.html_page import (
    Block,
    Figure,
    Figures,
    Missing,
    Section,
    Strong,
    Table,
    Words,
    says,
)
from loopforge.lab.report.number_format import amount, counted, shared, signed, spanned, three
from loopforge.lab.report.study_data import (
    MOST_LANES,
    Study,
    StudyGroup,
    StudyTally,
    averaged,
    named,
    values,
)
from loopforge.lab.stats.rate_statistics import Interval, attribution, wilson
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
MOST_LIVES = 8
"""Robots that are drawn in one chart; of more, those whom it moved most."""


class Sum(Struct, frozen=True):
    """What became of a quantity in some robots of some runs, and each cause's part in it."""

    lives: int
    before: int
    after: int
    by_cause: dict[str, int]
    adds_up: bool


# ---------------------------------------------------------------- trajectories


def careers(study: Study) -> Section:
    """Traits over the days by group or by robot, and the causes that moved guardrail reliance."""
    if study.watched is not None:
        return _lived(study)
    groups = study.few()
    charts = []
    for what in FOLLOWED:
        lines = [line for group in groups if (line := _over_days(study, group, what))]
        if lines:
            charts.append(_chart(what, lines, "Means over the floor, with 95% limits over seeds."))
    blocks: list[Block] = [
        says(
            "What robots went to sleep with, in thousandths; day 0 is how they began. Runs are "
            "followed as long as the shortest. Below, every change of guardrail reliance in the "
            "trait ledger, summed by cause."
        ),
        Figures(tuple(charts)),
        *_days_table(groups, study),
        *_attributed({group.label: (group.role, _summed(study, group)) for group in groups}),
    ]
    return Section("careers", "What became of them", tuple(blocks))


def _start(study: Study, result: RunResult, what: str) -> list[int]:
    """With how much of it each of the floor's robots of this run began."""
    assert study.layout is not None
    scenario = study.layout.scenario(result.levels, result.seed)
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


def _over_days(study: Study, group: StudyGroup, what: str) -> CurveLine | None:
    found = _means(study, group, what)
    if not found:
        return None
    points = tuple((float(nth), three(averaged(each))) for nth, each in enumerate(found))
    return CurveLine(label=group.label, role=group.role, nth=group.nth, points=points)


def _chart(what: str, lines: Sequence[CurveLine], note: str) -> Figure:
    title = what_of(what).capitalize()
    told = "; ".join(
        f"{line.label}: {line.points[0][1][1]:.0f} at first, {line.points[-1][1][1]:.0f} at last"
        for line in lines
    )
    key = f"career-{what.replace('.', '-').replace('_', '-')}"
    return Figure(curves(key, title, told, lines, plain, along="days"), title, note)


def _days_table(groups: Sequence[StudyGroup], study: Study) -> list[Block]:
    rows: list[tuple[Words, ...]] = []
    for what in FOLLOWED:
        for group in groups:
            found = _means(study, group, what)
            if found:
                cells = tuple(spanned(averaged(each)) for each in found)
                rows.append((f"{what_of(what)}, {group.label}", *cells))
    most = max((len(row) for row in rows), default=1) - 1
    rows = [(*row, *[""] * (most + 1 - len(row))) for row in rows]
    head = ("quantity", *("at first" if day == 0 else f"day {day}" for day in range(most)))
    return [Table("Means over the floor by day, with 95% limits over seeds", head, tuple(rows))]


# ---------------------------------------------------------------- causes


def _summed(study: Study, group: StudyGroup, what: str = RELIANCE) -> Sum:
    """All changes of a quantity in all runs of a group, held against what the days say."""
    causes: Counter[str] = Counter()
    before = lives = 0
    whole = True
    for result in group.results:
        first = _start(study, result, what)
        moved = result.drift.get(what, {})
        causes.update(moved)
        before += sum(first)
        lives += len(first)
        if first and result.days:
            ended = result.days[-1].robots.get(what, 0.0)
            whole = whole and abs((sum(first) + sum(moved.values())) / len(first) - ended) <= 0.051
    return Sum(lives, before, before + sum(causes.values()), dict(causes), whole)


def _attributed(found: Mapping[str, tuple[str, Sum]]) -> list[Block]:
    """What moved guardrail reliance in each group, as charts and as a table that adds up."""
    charts, rows = [], []
    wrong: list[str] = []
    for nth, (label, (role, each)) in enumerate(found.items()):
        ranked = sorted(each.by_cause.items(), key=lambda item: (-abs(item[1]), item[0]))
        if not each.adds_up:
            wrong.append(label)
        if not ranked or not each.lives:
            continue
        title = f"What moved guardrail reliance: {label}"
        parts = [(cause_of(rule), delta / each.lives) for rule, delta in ranked]
        told = "; ".join(f"{cause}: {signed(value)}" for cause, value in parts)
        note = "Thousandths."
        if each.lives > 1:
            note = f"Thousandths a robot, over {counted(each.lives, 'life', 'lives')}."
        charts.append(Figure(sums(f"causes-{nth}", title, told, parts, role), title, note))
        rows += [
            (f"{label}: {cause_of(rule)}", signed(delta, 0), signed(delta / each.lives))
            for rule, delta in ranked
        ]
        change = each.after - each.before
        mean = signed(change / each.lives)
        rows.append((f"{label}: in all, {each.before} → {each.after}", signed(change, 0), mean))
    if not charts:
        return [
            Missing("Nothing moved guardrail reliance: traits were ablated, or no day is over.")
        ]
    told = (
        "What moved guardrail reliance: thousandths over all robots and runs, and a robot’s share"
    )
    blocks: list[Block] = [Figures(tuple(charts))]
    if wrong:
        blocks.append(
            says(
                Strong("These do not add up: "),
                f"{', '.join(wrong)}. The causes are not what the days say; the results are "
                "damaged. Score them again.",
            )
        )
    blocks.append(Table(told, ("cause", "sum", "a robot"), tuple(rows)))
    return blocks


# ---------------------------------------------------------------- a run


def _lived(study: Study) -> Section:
    watched = study.watched
    assert watched is not None
    per_day = watched.scenario.steps_per_day
    days = watched.nights
    charts = []
    for what in FOLLOWED:
        lines = [
            CurveLine(
                label=life.who,
                role=f"g{1 + nth % 6}",
                nth=nth,
                points=tuple(_point(life, what, day, per_day) for day in range(days + 1)),
            )
            for nth, life in enumerate(_moved_most(watched.lives, what))
        ]
        charts.append(_chart(what, lines, "What each went to sleep with, in thousandths."))
    told = _moved_most(watched.lives, RELIANCE)
    sums_of = {life.who: (f"g{1 + nth % 6}", _life_sum(life)) for nth, life in enumerate(told)}
    blocks: list[Block] = [
        says(
            "Day 0 is how they began. Below, every change of guardrail reliance in the trait "
            "ledger, summed by cause; the sums are exact."
        ),
        Figures(tuple(charts)),
        _lives_table(watched.lives, days, per_day),
        *_attributed(sums_of),
    ]
    return Section("careers", "What became of them", tuple(blocks))


def _point(
    life: Life, what: str, day: int, per_day: int
) -> tuple[float, tuple[float, float, float]]:
    value = float(life.value(what, day * per_day - 1))
    return float(day), (value, value, value)


def _moved_most(lives: Sequence[Life], what: str) -> list[Life]:
    def moved(life: Life) -> int:
        return sum(abs(turn.after - turn.before) for turn in life.turns if turn.what == what)

    kept = sorted(lives, key=lambda life: (-moved(life), life.who))[:MOST_LIVES]
    return [life for life in lives if life in kept]


def _life_sum(life: Life) -> Sum:
    """What moved guardrail reliance in one robot. Raises InputError where entries do not follow."""
    entries = [(turn.why, turn.before, turn.after) for turn in life.turns if turn.what == RELIANCE]
    if not entries:
        return Sum(1, life.start(RELIANCE), life.start(RELIANCE), {}, adds_up=True)
    found = attribution(entries)
    causes = {cause: int(delta) for cause, delta in found.by_cause.items()}
    return Sum(1, int(found.before), int(found.after), causes, adds_up=True)


def _lives_table(lives: Sequence[Life], days: int, per_day: int) -> Table:
    rows = [
        (
            f"{what_of(what)}, {life.who}",
            *(str(life.value(what, day * per_day - 1)) for day in range(days + 1)),
        )
        for what in FOLLOWED
        for life in lives
    ]
    head = ("quantity", *("at first" if day == 0 else f"day {day}" for day in range(days + 1)))
    return Table("What each robot went to sleep with", head, tuple(rows))


# ---------------------------------------------------------------- belief error


def beliefs(study: Study) -> Section:
    """How far from the truth: what was shown, and what was believed."""
    if study.watched is not None:
        return _run_beliefs(study)
    blocks: list[Block] = [
        says(
            "How far what was shown stood from the truth, and how far what a mind made of it did: "
            "thousandths, computed from both, with 95% intervals of the bootstrap over seeds."
        )
    ]
    factor = "perception"
    if factor not in study.varied:
        blocks.append(
            Missing(
                'All perceptions were shaped alike. `perception = ["accurate", "partial", "spin"]` '
                "in [factors] shows what shaping does."
            )
        )
        factor = study.lead
    groups = study.groups(factor)
    found = {
        group.label: [averaged(values(group.results, m)) for m in ("shown_error", "belief_error")]
        for group in groups
    }
    rows = [
        ChartLane(label, (Dot("quiet", "D", three(pair[0])), Dot("ink", "o", three(pair[1]))))
        for label, pair in found.items()
    ]
    title = f"Error of what was shown, and of what was believed, by {named(factor) or 'all runs'}"
    told = "; ".join(
        f"{label}: shown {spanned(pair[0])}, believed {spanned(pair[1])}"
        for label, pair in found.items()
    )
    note = "◆ shown, ● believed; thousandths."
    blocks.append(Figures((Figure(lanes("beliefs", title, told, rows, plain), title, note),)))
    blocks.append(_errors(title, factor, groups, found))
    return Section("beliefs", "Truth, shown, believed", tuple(blocks))


def _errors(
    title: str, factor: str, groups: Sequence[StudyGroup], found: Mapping[str, Sequence[Interval]]
) -> Table:
    rows = []
    for group in groups:
        shown, believed = found[group.label]
        edits = sum(each.counts.get("edits", 0) for each in group.results)
        acts = sum(each.decisions for each in group.results)
        wrong = averaged(values(group.results, "misjudged"))
        cells = (spanned(shown), spanned(believed), amount(edits / acts if acts else 0.0))
        rows.append((group.label, *cells, spanned(wrong)))
    head = (named(factor) or "runs", "shown", "believed", "edits an act", "misjudged, of 1000")
    return Table(f"{title}, 95%", head, tuple(rows))


def _run_beliefs(study: Study) -> Section:
    watched = study.watched
    assert watched is not None
    rows, table = [], []
    for name, tally in sorted(watched.robots.items(), key=_misled):
        shown = wilson(tally.shown_off, tally.acts)
        believed = wilson(tally.belief_off, tally.acts)
        rows.append(
            ChartLane(name, (Dot("quiet", "D", three(shown)), Dot("ink", "o", three(believed))))
        )
        means = (tally.shown_error / tally.acts, tally.belief_error / tally.acts)
        table.append((name, *map(amount, means), shared(shown), shared(believed)))
    title = "Acts in which what was shown, or believed, was off by a whole band"
    told = "; ".join(f"{row.label}: {row.dots[1].at[1]:.0%} believed" for row in rows[:MOST_LANES])
    note = "◆ shown, ● believed; Wilson’s 95% intervals. A band is 200 of 1000. Furthest off first."
    head = ("robot", "shown, mean", "believed, mean", "shown off by a band", "believed off by one")
    edits = ", ".join(f"{kind} {n}" for kind, n in sorted(watched.edits.items())) or "none"
    mode = watched.scenario.perception
    blocks: tuple[Block, ...] = (
        says(f"Perceptions were {mode} throughout. Edits between truth and perception: {edits}."),
        Figures((Figure(lanes("beliefs", title, told, rows[:MOST_LANES], percent), title, note),)),
        Table("Belief error by robot: means in thousandths, shares with 95%", head, tuple(table)),
        Missing("One run is shaped in one way; a sweep over perception compares all three."),
    )
    return Section("beliefs", "Truth, shown, believed", blocks)


def _misled(each: tuple[str, StudyTally]) -> tuple[float, str]:
    name, tally = each
    return -tally.belief_off / tally.acts, name
