"""Rates: how often each error was made, by every factor of a sweep, or by robot and rule of a run.

Two intervals stand by a rate: Wilson's, which takes each moment as a trial of its own and is too
narrow, since moments of a run hang together (it missed in 6 to 28 of 100 where it was tried); and
that of the bootstrap over seeds, which misses in 4 to 11 of 100 at thirty seeds, in 8 to 15 at ten.
"""

from collections.abc import Sequence

from msgspec import json
from msgspec.structs import replace

from loopforge.core.statistics.rate_statistics import (
    Count,
    Interval,
    cluster_rate,
    rule_of_three,
    wilson,
)
from loopforge.lab.charts.bar_charts import ChartDot, ChartLane, interval_chart, percent
from loopforge.lab.report.html_page import Exhibit, Figure, Table
from loopforge.lab.report.number_format import (
    format_interval,
    format_percent,
    format_rate,
    interval_for_chart,
)
from loopforge.lab.report.study_data import (
    CALLED,
    MOST_LANES,
    Results,
    Study,
    counts_by_seed,
    factor_label,
    level_label,
    pooled_count,
)
from loopforge.lab.run.answered_decisions import ERRORS, DecisionTally
from loopforge.lab.sweeps.sweep_results import answers_in, results_by_cell

ROLES = {"over_compliance": "hid", "over_reach": "reach"}
SIGNS = {"over_compliance": "s", "over_reach": "o"}
HEAD = (
    "over-compliance",
    "Wilson 95%",
    "over seeds 95%",
    "kept, of wrong",
    "over-reach",
    "Wilson 95%",
    "over seeds 95%",
    "broke, of right",
)
BOTH = ("over-compliance", "kept, of wrong", "over-reach", "broke, of right")
MOST_BOUNDS = 6


def error_rate_exhibit(study: Study) -> Exhibit:
    """How often each error was made, with intervals."""
    return _run_rates(study) if study.watched is not None else _sweep_rates(study)


def overall_rate(study: Study, rate: str) -> Interval:
    """A rate over all there is: of a sweep with the limits over seeds, of a run with Wilson's."""
    if study.watched is not None:
        return wilson(*pooled_count(study.results, rate))
    return cluster_rate(counts_by_seed(study.results, rate)).rate


def unanswered_table(study: Study) -> Table:
    """Both rates with what was not answered, and without it."""
    rows = []
    for group in study.groups():
        answers = study.watched.answers if study.watched else answers_in(group.results)
        cells = [group.label, answers.line]
        for rate in ERRORS:
            count = pooled_count(group.results, rate)
            for some, of in (count, answers.without(rate, *count)):
                cells.append(f"{format_percent(some / of)}, {some} of {of}" if of else "none")
        rows.append(tuple(cells))
    answered = (f"{CALLED[rate]}{how}" for rate in ERRORS for how in ("", ", answered"))
    title = "Both errors, with what was not answered and without"
    return Table(title, ("", "decisions", *answered), tuple(rows), words=(0, 1))


def rate_cells(count: Count) -> list[str]:
    """A rate with Wilson's interval, and of how many it is."""
    return [format_rate(wilson(*count)) if count[1] else "none", f"{count[0]} of {count[1]}"]


# ---------------------------------------------------------------- a sweep


def _sweep_rates(study: Study) -> Exhibit:
    figures: list[Figure] = []
    tables = []
    for factor in study.varied or {"": ()}:
        groups = study.groups(factor)
        rows = [ChartLane(group.label, _dots(group.results)) for group in groups]
        title = f"Both errors by {factor_label(factor)}" if factor else "Both errors, all runs"
        note = "■ over-compliance, ● over-reach; 95% intervals of the bootstrap over seeds."
        told = "; ".join(f"{group.label}: {_spoken(group.results)}" for group in groups)
        svg = interval_chart(f"rates-{len(figures)}", title, told, rows, percent)
        figures.append(Figure(svg, title, note))
        tables.append(_table(title, factor or "runs", [(g.label, g.results) for g in groups]))
    cells = [
        (
            ", ".join(level_label(name, found[0].levels[name]) for name in study.varied) or "all",
            found,
        )
        for _, found in sorted(results_by_cell(study.results).items())
    ]
    tables.append(_table("Every cell", "cell", cells, folded=True))
    return Exhibit(tuple(figures), tuple(tables))


def _dots(results: Results) -> tuple[ChartDot, ...]:
    dots = []
    for rate in ERRORS:
        counts = counts_by_seed(results, rate)
        if sum(trials for _, trials in counts.values()):
            dots.append(
                ChartDot(ROLES[rate], SIGNS[rate], interval_for_chart(cluster_rate(counts).rate))
            )
    return tuple(dots)


def _spoken(results: Results) -> str:
    counts = {rate: pooled_count(results, rate) for rate in ERRORS}
    return ", ".join(
        f"{CALLED[rate]} {format_percent(s / n)}" for rate, (s, n) in counts.items() if n
    )


def _table(
    title: str,
    of: str,
    groups: Sequence[tuple[str, Results]],
    *,
    folded: bool | None = None,
) -> Table:
    rows = []
    for label, results in groups:
        cells = [label, str(len(results))]
        for rate in ERRORS:
            cells += _rate_cells(pooled_count(results, rate), counts_by_seed(results, rate))
        rows.append(tuple(cells))
    return Table(
        f"{title}, with counts", (factor_label(of), "runs", *HEAD), tuple(rows), folded=folded
    )


def _rate_cells(count: Count, seeds: dict[int, Count]) -> list[str]:
    if not count[1]:
        return ["none", "", "", "0 of 0"]
    wilsons = wilson(*count)
    over = format_interval(cluster_rate(seeds).rate) if len(seeds) > 1 else "one seed"
    return [
        format_percent(wilsons.estimate),
        format_interval(wilsons),
        over,
        f"{count[0]} of {count[1]}",
    ]


def unseen_error_bounds(study: Study) -> list[str]:
    """What may still be true of errors that were never seen; a seed is one trial of it."""
    found = []
    for group in study.groups() if study.layout else []:
        for rate in ERRORS:
            counts = [each for each in counts_by_seed(group.results, rate).values() if each[1]]
            if counts and not sum(seen for seen, _ in counts):
                top = rule_of_three(len(counts)) * 100
                found.append(f"{CALLED[rate]} under {group.label} (in up to {top:.2g}% of seeds)")
    return found[:MOST_BOUNDS]


def alike_cells(study: Study) -> list[str]:
    """The cells of a sweep that came out alike with every seed, as sets of two or more."""
    found: dict[bytes, list[str]] = {}
    for results in results_by_cell(study.results).values() if study.layout else ():
        label = ", ".join(level_label(name, results[0].levels[name]) for name in study.varied)
        bare = [replace(each, cell=0, levels={}, head="") for each in results]
        found.setdefault(json.encode(bare, order="deterministic"), []).append(label)
    return [" and ".join(labels) for labels in found.values() if len(labels) > 1]


# ---------------------------------------------------------------- a run


def _run_rates(study: Study) -> Exhibit:
    watched = study.watched
    assert watched is not None
    rules = watched.scenario.rules
    by_rule = [(rules[key].title if key in rules else key, t) for key, t in watched.rules.items()]
    charts, tables = [], []
    for of, tallies in (("robot", list(watched.robots.items())), ("rule", by_rule)):
        title = f"Both errors by {of}"
        ranked = sorted(tallies, key=lambda each: (-_wrong(each[1]), each[0]))
        drawn = ranked[:MOST_LANES]
        rows = [ChartLane(name, _tally_dots(tally)) for name, tally in drawn]
        note = "■ over-compliance, ● over-reach; Wilson’s 95% intervals. The worst first."
        told = "; ".join(f"{name}: {_wrong(tally):.0%} of acts wrong" for name, tally in drawn)
        charts.append(
            Figure(interval_chart(f"rates-{of}", title, told, rows, percent), title, note)
        )
        counts = tuple((name, *_both(tally)) for name, tally in ranked)
        tables.append(Table(f"{title}, with counts", (of, *BOTH), counts))
    days = tuple(
        (
            str(day + 1),
            rate_cells((tally["guardrail"], tally["planned"]))[0],
            *_both(tally),
        )
        for day, tally in sorted(watched.days.items())
    )
    tables.append(Table("Both errors by day", ("day", "by the rule, it said", *BOTH), days))
    return Exhibit(tuple(charts), tuple(tables))


def _both(tally: DecisionTally) -> tuple[str, ...]:
    """The cells of `BOTH`."""
    return tuple(cell for rate in ERRORS for cell in rate_cells(tally.count(rate)))


def _wrong(tally: DecisionTally) -> float:
    return (tally["over_compliance"] + tally["over_reach"]) / tally["decisions"]


def _tally_dots(tally: DecisionTally) -> tuple[ChartDot, ...]:
    return tuple(
        ChartDot(ROLES[rate], SIGNS[rate], interval_for_chart(wilson(*tally.count(rate))))
        for rate in ERRORS
        if tally.count(rate)[1]
    )
