"""Rates: how often each error was made, by every factor of a sweep, or by robot and rule of a run.

Two intervals stand by a rate: Wilson's, which takes each moment as a trial of its own and is too
narrow, since moments of a run hang together (it missed in 6 to 28 of 100 where it was tried); and
that of the bootstrap over runs, which misses in 4 to 11 of 100 at thirty seeds, in 8 to 15 at ten.
"""

from __future__ import annotations

from collections.abc import Sequence

from loopforge.lab.charts.bar_charts import ChartLane, Dot, lanes, percent
from loopforge.lab.report.html_page import Block, Figure, Figures, Section, Table, Words, says
from loopforge.lab.report.number_format import limits, share, shared, three
from loopforge.lab.report.study_data import (
    CALLED,
    ERRORS,
    MOST_LANES,
    Study,
    StudyTally,
    by_seed,
    labelled,
    named,
    total,
)
from loopforge.lab.stats.rate_statistics import Count, cluster_rate, rule_of_three, wilson
from loopforge.lab.sweeps.run_score import RunResult
from loopforge.lab.sweeps.sweep_results import answers_in

ROLES = {"over_compliance": "hid", "over_reach": "reach"}
SIGNS = {"over_compliance": "s", "over_reach": "o"}
HEAD = (
    "over-compliance",
    "Wilson 95%",
    "over runs 95%",
    "kept, of wrong",
    "over-reach",
    "Wilson 95%",
    "over runs 95%",
    "broke, of right",
)
MOST_BOUNDS = 6


def rates(study: Study) -> Section:
    """How often each error was made, with intervals."""
    told = says(
        "Over-compliance: the rule was wrong here, and it was kept to. Over-reach: the rule was "
        "right here, and it was broken. Each is a share of the moments in which it could happen, "
        "so a mind can bring either to nothing by not minding the other."
    )
    blocks = _run_rates(study) if study.watched is not None else _sweep_rates(study)
    return Section("rates", "Rates", (told, *_answered_only(study), *blocks))


def _answered_only(study: Study) -> tuple[Block, ...]:
    """Both rates with what was not answered, and without it; nothing where all was."""
    if not study.answers.unanswered:
        return ()
    rows = []
    for group in study.groups():
        answers = study.watched.answers if study.watched else answers_in(group.results)
        cells: list[Words] = [group.label, answers.line]
        for rate in ERRORS:
            count = total(group.results, rate)
            for some, of in (count, answers.without(rate, *count)):
                cells.append(f"{share(some / of)}, {some} of {of}" if of else "none")
        rows.append(tuple(cells))
    head = (
        "",
        "decisions",
        *(f"{CALLED[rate]}{how}" for rate in ERRORS for how in ("", ", answered")),
    )
    note = (
        "A robot that got no answer stood still. That keeps to some rules and breaks others, so it "
        "moves both rates; beside each stands what it is without those moments."
    )
    table = Table(
        "Both errors, with what was not answered and without", head, tuple(rows), words=(0, 1)
    )
    return says(note), table


# ---------------------------------------------------------------- a sweep


def _sweep_rates(study: Study) -> tuple[Block, ...]:
    charts: list[Figure] = []
    tables: list[Block] = []
    for factor in study.varied or {"": ()}:
        groups = study.groups(factor)
        rows = [ChartLane(group.label, _dots(group.results)) for group in groups]
        title = f"Both errors by {named(factor)}" if factor else "Both errors, all runs"
        note = "■ over-compliance, ● over-reach; 95% intervals of the bootstrap over runs."
        told = "; ".join(f"{group.label}: {_spoken(group.results)}" for group in groups)
        svg = lanes(f"rates-{len(charts)}", title, told, rows, percent)
        charts.append(Figure(svg, title, note))
        tables.append(_table(title, factor or "runs", [(g.label, g.results) for g in groups]))
    note = (
        "Where all runs agree, resampling them says nothing; there the interval takes each run as "
        "one trial, and is wide on purpose."
    )
    return Figures(tuple(charts)), says(note, how="quiet"), *tables, _cells(study)


def _dots(results: Sequence[RunResult]) -> tuple[Dot, ...]:
    dots = []
    for rate in ERRORS:
        counts = by_seed(results, rate)
        if sum(trials for _, trials in counts.values()):
            dots.append(Dot(ROLES[rate], SIGNS[rate], three(cluster_rate(counts).rate)))
    return tuple(dots)


def _spoken(results: Sequence[RunResult]) -> str:
    counts = {rate: total(results, rate) for rate in ERRORS}
    return ", ".join(f"{CALLED[rate]} {share(s / n)}" for rate, (s, n) in counts.items() if n)


def _table(
    title: str,
    of: str,
    groups: Sequence[tuple[str, Sequence[RunResult]]],
    *,
    folded: bool | None = None,
) -> Table:
    rows = []
    for label, results in groups:
        cells: list[Words] = [label, str(len(results))]
        for rate in ERRORS:
            cells += _rate_cells(total(results, rate), by_seed(results, rate))
        rows.append(tuple(cells))
    return Table(f"{title}, with counts", (named(of), "runs", *HEAD), tuple(rows), folded=folded)


def _rate_cells(count: Count, seeds: dict[int, Count]) -> list[Words]:
    if not count[1]:
        return ["none", "", "", "0 of 0"]
    wilsons = wilson(*count)
    over = limits(cluster_rate(seeds).rate) if len(seeds) > 1 else "one seed"
    return [share(wilsons.estimate), limits(wilsons), over, f"{count[0]} of {count[1]}"]


def _cells(study: Study) -> Table:
    """Every cell of the design."""
    cells: dict[int, list[RunResult]] = {}
    for result in study.results:
        cells.setdefault(result.cell, []).append(result)
    groups = [
        (", ".join(labelled(name, found[0].levels[name]) for name in study.varied) or "all", found)
        for _, found in sorted(cells.items())
    ]
    return _table("Every cell", "cell", groups, folded=True)


def bounds(study: Study) -> str:
    """What may still be true of errors that were never seen; "" where all were."""
    parts = []
    for group in study.groups() if study.layout else []:
        for rate in ERRORS:
            seen, trials = total(group.results, rate)
            if trials and not seen:
                top = rule_of_three(trials) * 100
                parts.append(f"{CALLED[rate]} under {group.label} (below {top:.2g}%)")
    if not parts:
        return ""
    told = ", ".join(parts[:MOST_BOUNDS])
    return f"What was never seen may still be there: {told}, by the rule of three at 95%."


# ---------------------------------------------------------------- a run


def _run_rates(study: Study) -> tuple[Block, ...]:
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
        charts.append(Figure(lanes(f"rates-{of}", title, told, rows, percent), title, note))
        tables.append(_tally_table(title, of, ranked))
    return Figures(tuple(charts)), *tables


def _wrong(tally: StudyTally) -> float:
    return (tally.over_compliance + tally.over_reach) / tally.acts


def _tally_dots(tally: StudyTally) -> tuple[Dot, ...]:
    return tuple(
        Dot(ROLES[rate], SIGNS[rate], three(wilson(*tally.count(rate))))
        for rate in ERRORS
        if tally.count(rate)[1]
    )


def _tally_table(title: str, of: str, ranked: Sequence[tuple[str, StudyTally]]) -> Table:
    rows = []
    for name, tally in ranked:
        cells: list[Words] = [name]
        for rate in ERRORS:
            count = tally.count(rate)
            cells += [shared(wilson(*count)) if count[1] else "none", f"{count[0]} of {count[1]}"]
        rows.append(tuple(cells))
    head = (of, "over-compliance", "kept, of wrong", "over-reach", "broke, of right")
    return Table(f"{title}, with counts", head, tuple(rows))
