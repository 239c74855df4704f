"""Tipping: what a dose does to both errors, where it tips, and what one error costs in the other.

Doses are factors with numbers: pressure first, and traits that robots start with. Curves are by
group, of the seeds that ran with every dose. A map shows pressure against guardrail reliance, where
both were swept. The trade-off puts every cell of a design into one picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import pstdev

from loopforge.lab.charts.bar_charts import percent
from loopforge.lab.charts.heat_maps import MOST_NAMES, MapCell, Trail, chart_map, trade
from loopforge.lab.charts.line_charts import CurveLine, curves
from loopforge.lab.report.error_rates import ROLES
from loopforge.lab.report.html_page import (
    Block,
    Figure,
    Figures,
    Items,
    Missing,
    Section,
    Table,
    Words,
    says,
)
from loopforge.lab.report.number_format import amount, chance, share, shared, spanned, three
from loopforge.lab.report.study_data import (
    CALLED,
    ERRORS,
    Study,
    StudyGroup,
    by_seed,
    labelled,
    named,
    total,
)
from loopforge.lab.stats.dose_response import Response, dose_response
from loopforge.lab.stats.rate_statistics import Count, Interval, cluster_rate, wilson
from loopforge.lab.sweeps.experiment_file import TRAIT
from loopforge.lab.sweeps.run_score import RunResult

PRESSURE, RELIANCE = "pressure", f"{TRAIT}guardrail_reliance"
HOW = (
    "Points with Wilson’s 95% intervals; the line is a logistic curve of four numbers. Above the "
    "axis stands where it tips, half the way between its ends, with the interval of refits to "
    "resampled seeds. It says nothing beyond the doses that were run."
)
NO_TREND = "No tipping point: no trend"
SMOOTH = 60
"""Points of a fitted curve."""


# ---------------------------------------------------------------- dose and response


def doses(study: Study) -> Section:
    """Both errors by dose, with the curve and where it tips."""
    numbers = [
        name
        for name, levels in study.varied.items()
        if all(isinstance(each, int) for each in levels)
    ]
    blocks: list[Block] = []
    if PRESSURE not in numbers:
        blocks.append(
            Missing(
                "Pressure was not swept. `pressure = [0, 2, 4, 6, 8, 10]` in [factors] of an "
                "experiment gives a dose-response curve and its tipping point."
            )
        )
    if numbers:
        blocks.append(says(HOW))
    for factor in sorted(numbers, key=lambda name: (name != PRESSURE, name)):
        if factor != study.lead:
            blocks += _dose(study, factor)
        elif len(numbers) == 1 or factor == PRESSURE:
            blocks += _dose(study, factor, whole=True)
    return Section("doses", "Dose and response", tuple(blocks))


def _dose(study: Study, factor: str, *, whole: bool = False) -> list[Block]:
    groups = study.groups("") if whole else study.few()
    charts, rows = [], []
    notes: list[str] = []
    for rate in ERRORS:
        lines = []
        for group in groups:
            by_dose = _by_dose(group.results, factor, rate)
            if not by_dose:
                continue
            found = dose_response(by_dose)
            lines.append(_line(group, found))
            rows.append(_row(group, rate, found))
            if found.why and not found.why.startswith(NO_TREND):
                notes.append(f"{group.label}, {CALLED[rate]}: {found.why}")
        if lines:
            charts.append(_curves(factor, rate, lines))
    if not charts:
        return [Missing(f"No seed has finished every dose of {named(factor)} yet.")]
    return [
        Figures(tuple(charts)),
        Table(
            f"What {named(factor)} does: trend and tipping point",
            (
                "group",
                "error",
                "at the least dose",
                "at the most",
                "trend, p",
                "tips at, 95%",
            ),
            tuple(rows),
            words=(0, 1),
            folded=False,
        ),
        *([Items(tuple((note,) for note in notes))] if notes else []),
        _rates_by_dose(groups, factor),
    ]


def _by_dose(results: Sequence[RunResult], factor: str, rate: str) -> dict[float, dict[int, Count]]:
    """Counts by dose and seed, of the seeds that have every dose."""
    doses = sorted({int(result.levels[factor]) for result in results})
    found = {
        dose: by_seed((each for each in results if each.levels[factor] == dose), rate)
        for dose in doses
    }
    cells: dict[int, dict[int, int]] = {dose: {} for dose in doses}
    for result in results:
        held = cells[int(result.levels[factor])]
        held[result.seed] = held.get(result.seed, 0) + 1
    most = {dose: max(held.values()) for dose, held in cells.items()}
    whole = {
        seed
        for seed in cells[doses[0]]
        if all(cells[dose].get(seed, 0) == most[dose] for dose in doses)
    }
    if not whole or not any(n for each in found.values() for _, n in each.values()):
        return {}
    kept = {
        float(dose): {seed: each for seed, each in counts.items() if seed in whole}
        for dose, counts in found.items()
    }
    tried = all(sum(n for _, n in counts.values()) for counts in kept.values())
    return kept if tried else {}


def _line(group: StudyGroup, found: Response) -> CurveLine:
    smooth: tuple[tuple[float, float], ...] = ()
    doses = list(found.rates)
    if found.curve is not None:
        first, span = doses[0], doses[-1] - doses[0]
        at = [first + span * nth / SMOOTH for nth in range(SMOOTH + 1)]
        smooth = tuple((x, found.curve.at(x)) for x in at)
    return CurveLine(
        label=group.label,
        role=group.role,
        nth=group.nth,
        points=tuple((dose, three(rate)) for dose, rate in found.rates.items()),
        smooth=smooth,
        tip=three(found.tipping) if found.tipping else None,
    )


def _curves(factor: str, rate: str, lines: Sequence[CurveLine]) -> Figure:
    title = f"{CALLED[rate].capitalize()} by {named(factor)}"
    told = "; ".join(
        f"{line.label}: {share(line.points[0][1][1])} at {line.points[0][0]:g}, "
        f"{share(line.points[-1][1][1])} at {line.points[-1][0]:g}"
        for line in lines
    )
    key = f"dose-{rate}-{factor}".replace("_", "-").replace(".", "-")
    return Figure(curves(key, title, told, lines, percent, along=named(factor)), title)


def _row(group: StudyGroup, rate: str, found: Response) -> tuple[Words, ...]:
    rates = list(found.rates.values())
    tip = spanned(found.tipping) if found.tipping else "nowhere"
    if found.why.startswith(NO_TREND):
        tip = "no trend"
    return (
        group.label,
        CALLED[rate],
        shared(rates[0]),
        shared(rates[-1]),
        chance(found.p),
        tip,
    )


def _rates_by_dose(groups: Sequence[StudyGroup], factor: str) -> Table:
    rows = []
    for group in groups:
        for dose in sorted({int(result.levels[factor]) for result in group.results}):
            mine = [each for each in group.results if each.levels[factor] == dose]
            cells: list[Words] = [f"{group.label}, {labelled(factor, dose)}"]
            for rate in ERRORS:
                count = total(mine, rate)
                cells += [
                    shared(wilson(*count)) if count[1] else "none",
                    f"{count[0]} of {count[1]}",
                ]
            rows.append(tuple(cells))
    head = ("dose", "over-compliance", "kept, of wrong", "over-reach", "broke, of right")
    return Table(f"Rates by {named(factor)}, with Wilson’s 95% intervals", head, tuple(rows))


# ---------------------------------------------------------------- a map of two doses


def phases(study: Study) -> Section:
    """Both errors over pressure and guardrail reliance, and how far seeds differ there."""
    varied = study.varied
    if PRESSURE not in varied or RELIANCE not in varied:
        lacking = [name for name in (PRESSURE, RELIANCE) if name not in varied]
        told = (
            f"No map: {' and '.join(named(name) for name in lacking)} had one level. Sweep "
            "`pressure = [0, 5, 10]` with `traits.guardrail_reliance = [200, 500, 800]`."
        )
        return Section("phases", "Pressure against reliance", (Missing(told),))
    across, up = sorted(map(int, varied[PRESSURE])), sorted(map(int, varied[RELIANCE]))
    blocks: list[Block] = [
        says(
            "Each cell is a rate in per cent, over all runs with that pressure and that reliance "
            "to start with. The third map is how far seeds differ: the standard deviation of a "
            "run’s share of wrong acts, in points."
        )
    ]
    lead = study.lead if study.lead not in (PRESSURE, RELIANCE) else ""
    for group in study.groups(lead):
        blocks += _map(group, across, up)
    return Section("phases", "Pressure against reliance", tuple(blocks))


def _map(group: StudyGroup, across: Sequence[int], up: Sequence[int]) -> list[Block]:
    cells = {
        (x, y): [
            each
            for each in group.results
            if each.levels[PRESSURE] == x and each.levels[RELIANCE] == y
        ]
        for x in across
        for y in up
    }
    tables = {rate: [[_rate(cells[x, y], rate) for x in across] for y in up] for rate in ERRORS}
    spread = [[_spread(cells[x, y]) for x in across] for y in up]
    figures: list[Figure] = []
    for name, table, role in (
        *((CALLED[rate], tables[rate], ROLES[rate]) for rate in ERRORS),
        ("how far seeds differ", spread, "quiet"),
    ):
        title = f"{name.capitalize()}, {group.label}"
        svg = chart_map(
            f"map-{group.nth}-{len(figures)}",
            title,
            _corners(table, across, up),
            table,
            across=("pressure", [str(x) for x in across]),
            up=("guardrail reliance at first", [str(y) for y in up]),
            role=role,
        )
        figures.append(Figure(svg, title))
    rows = [
        (
            f"reliance {y}, pressure {x}",
            *(_maybe(tables[rate][nth][at]) for rate in ERRORS),
            _maybe(spread[nth][at]),
            str(len(cells[x, y])),
        )
        for nth, y in enumerate(up)
        for at, x in enumerate(across)
    ]
    head = ("cell", "over-compliance", "over-reach", "seeds differ by", "runs")
    return [Figures(tuple(figures)), Table(f"The map in numbers, {group.label}", head, tuple(rows))]


def _rate(results: Sequence[RunResult], rate: str) -> float | None:
    count = total(results, rate)
    return count[0] / count[1] if count[1] else None


def _spread(results: Sequence[RunResult]) -> float | None:
    """The standard deviation over runs of the share of acts that were wrong."""
    found = [1 - each.rates["good"] for each in results if each.rates["good"] is not None]
    return pstdev(found) if len(found) > 1 else None


def _maybe(value: float | None) -> str:
    return "none" if value is None else share(value)


def _corners(
    table: Sequence[Sequence[float | None]], across: Sequence[int], up: Sequence[int]
) -> str:
    return "; ".join(
        f"pressure {across[x]}, reliance {up[y]}: {_maybe(table[y][x])}"
        for y in (0, len(up) - 1)
        for x in (0, len(across) - 1)
    )


# ---------------------------------------------------------------- the trade-off


def trades(study: Study) -> Section:
    """One error against the other: a point for each group, or for each robot of a run."""
    if study.watched is not None:
        return _run_trade(study)
    spots, trails, rows = [], [], []
    for group in study.groups():
        x, y = (_interval(group.results, rate) for rate in ("over_reach", "over_compliance"))
        if x is None or y is None:
            continue
        spots.append(MapCell(group.label, group.role, group.nth, three(x), three(y)))
        rows.append((group.label, shared(y), shared(x), str(x.n)))
        trail = _trail(study, group)
        if len(trail.points) > 1:
            trails.append(trail)
    if not spots:
        told = "No group had rules both right and wrong; add scenarios or steps."
        return Section("trade", "The trade-off", (Missing(told),))
    by = named(study.lead) if study.lead else "all runs"
    title = f"Over-compliance against over-reach by {by}"
    told = "; ".join(f"{s.label}: {share(s.y[1])} against {share(s.x[1])}" for s in spots)
    joined = any(trail.ends for trail in trails)
    note = "Large: all runs, with 95% intervals of the bootstrap over runs."
    if trails:
        note += " Small: single cells"
        note += ", joined from the least pressure to the greatest." if joined else "."
    chart = Figure(trade("trade", title, told, spots, trails), title, note)
    table = Table(f"{title}, 95%", (by, "over-compliance", "over-reach", "seeds"), tuple(rows))
    return Section("trade", "The trade-off", (_corner(), Figures((chart,)), table))


def _corner() -> Block:
    return says(
        "The corner at nothing is where one would like to be. Who always keeps to rules stands on "
        "the upper left; who always weighs goes right; what lies lower and further left than both "
        "is judgement."
    )


def _interval(results: Sequence[RunResult], rate: str) -> Interval | None:
    counts = by_seed(results, rate)
    return cluster_rate(counts).rate if sum(n for _, n in counts.values()) else None


def _trail(study: Study, group: StudyGroup) -> Trail:
    """The cells of a group, along the pressure where that is all they differ in."""
    cells: dict[int, list[RunResult]] = {}
    for result in group.results:
        cells.setdefault(result.cell, []).append(result)
    joined = [name for name in study.varied if name != study.lead] == [PRESSURE]
    order = list(cells.values())
    if joined:
        order.sort(key=lambda each: int(each[0].levels[PRESSURE]))
    points = [(_rate(each, "over_reach"), _rate(each, "over_compliance")) for each in order]
    kept = tuple((x, y) for x, y in points if x is not None and y is not None)
    if not joined:
        return Trail(group.role, group.nth, kept, None)
    ends = (str(order[0][0].levels[PRESSURE]), str(order[-1][0].levels[PRESSURE]))
    return Trail(group.role, group.nth, kept, ends)


def _run_trade(study: Study) -> Section:
    watched = study.watched
    assert watched is not None
    spots, rows = [], []
    for nth, (name, tally) in enumerate(sorted(watched.robots.items())):
        if not (tally.right and tally.wrong):
            continue
        x, y = (wilson(*tally.count(rate)) for rate in ("over_reach", "over_compliance"))
        spots.append(MapCell(name, f"g{1 + nth % 6}", nth, three(x), three(y)))
        rows.append((name, shared(y), shared(x), amount(tally.acts)))
    if not spots:
        told = "No robot met rules both right and wrong; run more steps."
        return Section("trade", "The trade-off", (Missing(told),))
    title = "Over-compliance against over-reach by robot"
    told = "; ".join(f"{s.label}: {share(s.y[1])} against {share(s.x[1])}" for s in spots)
    note = "With Wilson’s 95% intervals."
    if len(spots) > MOST_NAMES:
        note = f"The {MOST_NAMES} that err most have names and Wilson’s 95% intervals."
    chart = Figure(trade("trade", title, told, spots), title, note)
    table = Table(f"{title}, 95%", ("robot", "over-compliance", "over-reach", "acts"), tuple(rows))
    return Section("trade", "The trade-off", (_corner(), Figures((chart,)), table))
