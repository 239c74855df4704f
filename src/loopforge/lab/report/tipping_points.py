"""Tipping: what a dose does to both errors, where it tips, and what one error costs in the other.

Doses are factors with numbers: pressure first, and traits that robots start with. Curves are by
group, of the seeds that ran with every dose; of all runs, where a fraction of the cells mixes the
dose of a group with another factor. The trade-off puts every cell of a design into one picture.
"""

from collections.abc import Sequence

from loopforge.core.statistics.rate_statistics import Count, cluster_rate
from loopforge.lab.charts.bar_charts import percent
from loopforge.lab.charts.line_charts import CurveLine, curve_chart
from loopforge.lab.charts.scatter_plots import TradePoint, Trail, tradeoff_chart
from loopforge.lab.report.html_page import Exhibit, Figure, Table
from loopforge.lab.report.number_format import (
    format_estimate,
    format_p_value,
    format_percent,
    format_rate,
    interval_for_chart,
)
from loopforge.lab.report.study_data import (
    CALLED,
    Results,
    Study,
    StudyGroup,
    counts_by_seed,
    drop_incomplete_seeds,
    factor_label,
    level_label,
    pooled_count,
)
from loopforge.lab.run.answered_decisions import ERRORS
from loopforge.lab.stats.dose_response import DoseResponse, dose_response
from loopforge.lab.sweeps.experiment_design import alone_between
from loopforge.lab.sweeps.sweep_results import results_by_cell

PRESSURE = "pressure"
NO_TREND = "No tipping point: no trend"
SMOOTH = 60
"""Points of a fitted curve."""


# ---------------------------------------------------------------- dose and response


def dose_exhibits(study: Study) -> dict[str, Exhibit | None]:
    """Both errors by dose, with the curve and where it tips; None where no seed has every dose."""
    numbers = [
        name
        for name, levels in study.varied.items()
        if all(isinstance(each, int) for each in levels)
    ]
    found = {}
    for factor in sorted(numbers, key=lambda name: (name != PRESSURE, name)):
        if factor != study.lead and _dose_alone(study, factor):
            found[factor_label(factor)] = _dose(study.few(), factor)
        elif factor != study.lead or len(numbers) == 1 or factor == PRESSURE:
            found[factor_label(factor)] = _dose(study.groups(""), factor)
    return found


def _dose_alone(study: Study, factor: str) -> bool:
    """Whether the dose alone changes within each group; in a fraction others may do so, too."""
    assert study.layout is not None
    doses, cells = study.varied[factor], study.layout.cells
    return all(
        alone_between([c for c in cells if c.levels[study.lead] == level], factor, doses)
        for level in study.varied[study.lead]
    )


def _dose(groups: Sequence[StudyGroup], factor: str) -> Exhibit | None:
    charts, rows = [], []
    notes: dict[str, list[str]] = {}
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
                notes.setdefault(found.why, []).append(f"{group.label}, {CALLED[rate]}")
        if lines:
            charts.append(_curves(factor, rate, lines))
    if not charts:
        return None
    title = f"What {factor_label(factor)} does: trend and tipping point"
    head = ("group", "error", "at the least dose", "at the most", "trend, p", "tips at, 95%")
    tips = Table(title, head, tuple(rows), words=(0, 1), folded=False)
    told = tuple(_noted(why, of, len(rows)) for why, of in notes.items())
    return Exhibit(tuple(charts), (tips, _rates_by_dose(groups, factor)), told)


def _noted(why: str, of: Sequence[str], rows: int) -> str:
    """Why there is no curve, and of what; of all that was looked at, by itself."""
    return why if len(of) == rows else f"{'; '.join(of)}: {why}"


def _by_dose(results: Results, factor: str, rate: str) -> dict[float, dict[int, Count]]:
    """Counts by dose and seed, of the seeds that have every dose."""
    doses = sorted({int(result.levels[factor]) for result in results})
    arms = drop_incomplete_seeds(
        [[each for each in results if each.levels[factor] == dose] for dose in doses]
    )
    kept = {float(dose): counts_by_seed(arm, rate) for dose, arm in zip(doses, arms, strict=True)}
    tried = all(sum(n for _, n in counts.values()) for counts in kept.values())
    return kept if tried else {}


def _line(group: StudyGroup, found: DoseResponse) -> CurveLine:
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
        points=tuple((dose, interval_for_chart(rate)) for dose, rate in found.rates.items()),
        smooth=smooth,
        tip=interval_for_chart(found.tipping) if found.tipping else None,
    )


def _curves(factor: str, rate: str, lines: Sequence[CurveLine]) -> Figure:
    title = f"{CALLED[rate].capitalize()} by {factor_label(factor)}"
    told = "; ".join(
        f"{line.label}: {format_percent(line.points[0][1][1])} at {line.points[0][0]:g}, "
        f"{format_percent(line.points[-1][1][1])} at {line.points[-1][0]:g}"
        for line in lines
    )
    key = f"dose-{rate}-{factor}".replace("_", "-").replace(".", "-")
    return Figure(curve_chart(key, title, told, lines, percent, along=factor_label(factor)), title)


def _row(group: StudyGroup, rate: str, found: DoseResponse) -> tuple[str, ...]:
    rates = list(found.rates.values())
    tip = format_estimate(found.tipping) if found.tipping else "not known"
    if found.why.startswith(NO_TREND):
        tip = "no trend"
    ends = (format_rate(rates[0]), format_rate(rates[-1]))
    return (group.label, CALLED[rate], *ends, format_p_value(found.p), tip)


def _rates_by_dose(groups: Sequence[StudyGroup], factor: str) -> Table:
    rows = []
    for group in groups:
        for dose in sorted({int(result.levels[factor]) for result in group.results}):
            mine = [each for each in group.results if each.levels[factor] == dose]
            cells = (cell for rate in ERRORS for cell in _cells(mine, rate))
            rows.append((f"{group.label}, {level_label(factor, dose)}", *cells))
    head = ("dose", "over-compliance", "kept, of wrong", "over-reach", "broke, of right")
    return Table(f"Rates by {factor_label(factor)}, with 95% limits over seeds", head, tuple(rows))


def _cells(results: Results, rate: str) -> tuple[str, str]:
    counts = counts_by_seed(results, rate)
    some, of = (sum(each) for each in zip(*counts.values(), strict=True))
    return format_rate(cluster_rate(counts).rate) if of else "none", f"{some} of {of}"


# ---------------------------------------------------------------- the trade-off


Spot = tuple[TradePoint, tuple[str, ...]]
"""A group with both its errors: as it is drawn, and as a table has it."""


def tradeoff_exhibit(study: Study) -> Exhibit | None:
    """One error against the other: a point for each group of a sweep."""
    if study.watched is not None:
        return None
    spots, by = _groups(study), factor_label(study.lead) if study.lead else "all runs"
    note = "Large: all runs, with 95% intervals of the bootstrap over seeds."
    drawn = {cell.label for cell, _ in spots}
    found = [_trail(study, group) for group in study.groups() if group.label in drawn]
    trails = [trail for trail in found if len(trail.points) > 1]
    if trails:
        joined = any(trail.ends for trail in trails)
        more = ", joined from the least pressure to the greatest." if joined else "."
        note += f" Small: single cells{more}"
    if not spots:
        return None
    title = f"Over-compliance against over-reach by {by}"
    cells, rows = zip(*spots, strict=True)
    told = "; ".join(
        f"{cell.label}: {format_percent(cell.y[1])} against {format_percent(cell.x[1])}"
        for cell in cells
    )
    head = (by, "over-compliance", "over-reach", "seeds")
    chart = Figure(tradeoff_chart("trade", title, told, cells, trails), title, note)
    return Exhibit((chart,), (Table(f"{title}, 95%", head, rows),))


def _groups(study: Study) -> list[Spot]:
    spots: list[Spot] = []
    for group in study.groups():
        counts = [counts_by_seed(group.results, rate) for rate in ("over_reach", "over_compliance")]
        if all(sum(n for _, n in each.values()) for each in counts):
            reach, hid = (cluster_rate(each).rate for each in counts)
            cell = TradePoint(
                group.label,
                group.role,
                group.nth,
                interval_for_chart(reach),
                interval_for_chart(hid),
            )
            spots.append((cell, (group.label, format_rate(hid), format_rate(reach), str(reach.n))))
    return spots


def _trail(study: Study, group: StudyGroup) -> Trail:
    """The cells of a group, along the pressure where that is all they differ in."""
    joined = [name for name in study.varied if name != study.lead] == [PRESSURE]
    order = list(results_by_cell(group.results).values())
    if joined:
        order.sort(key=lambda each: int(each[0].levels[PRESSURE]))
    points = [(_rate(each, "over_reach"), _rate(each, "over_compliance")) for each in order]
    kept = tuple((x, y) for x, y in points if x is not None and y is not None)
    if not joined:
        return Trail(group.role, group.nth, kept, None)
    ends = (str(order[0][0].levels[PRESSURE]), str(order[-1][0].levels[PRESSURE]))
    return Trail(group.role, group.nth, kept, ends)


def _rate(results: Results, rate: str) -> float | None:
    count = pooled_count(results, rate)
    return count[0] / count[1] if count[1] else None
