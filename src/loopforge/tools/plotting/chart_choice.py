"""What is drawn of a table: which columns, as what; a part of `plot_child.py`.

    chosen(columns, {"kind": "line", "x": "year", "y": ["slugs"]}) -> TableChart

What is not said is chosen: along the axis the first column, upwards all that are numbers. It does
not know how a chart is drawn.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from loopforge.tools.plotting.table_reading import PlotRefused, TableColumn

MOST_SERIES, MOST_BARS, MOST_BINS = 8, 40, 100
FEWEST_BINS, USUAL_BINS = 5, 30


class ChartSeries(NamedTuple):
    """Points of one name: where along the axis, and how high."""

    name: str
    at: tuple[float, ...]
    high: tuple[float, ...]


class TableChart(NamedTuple):
    """What is to be drawn. `along` is what stands along the axis: number, time or words.

    `words` are those, in order, where places are numbers from 0 on. `edges` are the bins' of a
    histogram. `left` rows are not in it; `said` is what is to be told besides.
    """

    kind: str
    title: str
    x_name: str
    y_name: str
    along: str
    series: tuple[ChartSeries, ...]
    words: tuple[str, ...] = ()
    edges: tuple[float, ...] = ()
    log: bool = False
    left: int = 0
    said: str = ""


def chosen(columns: Sequence[TableColumn], wanted: dict[str, Any]) -> TableChart:
    """The chart that is wanted. Raises PlotRefused."""
    kind, title = str(wanted["kind"]), " ".join(str(wanted.get("title") or "").split())
    x = _named(columns, str(wanted["x"])) if wanted.get("x") else None
    ys = [_named(columns, str(name)) for name in wanted.get("y") or ()]
    for each in ys:
        if each.kind != "number":
            raise PlotRefused(
                f"In {each.name!r} are no numbers, so it cannot be drawn upwards. {_kinds(columns)}"
            )
    log = bool(wanted.get("log"))
    if kind == "histogram":
        return _histogram(columns, x or (ys[0] if ys else None), wanted.get("bins"), title)
    if x is None and (len(columns) > 1 or kind == "bar"):
        x = next((each for each in columns if each not in ys), columns[0])
    ys = ys or [each for each in columns if each.kind == "number" and each is not x]
    if len(ys) > MOST_SERIES:
        raise PlotRefused(f"{len(ys)} columns are too many at once; name at most {MOST_SERIES}.")
    if kind == "bar":
        return _bars(x or columns[0], ys, title, log=log)
    if not ys:
        raise PlotRefused(f"There is no column of numbers to draw upwards. {_kinds(columns)}")
    return _points(kind, x, ys, title, log=log)


def _named(columns: Sequence[TableColumn], name: str) -> TableColumn:
    plain = name.strip().casefold()
    found = next((each for each in columns if each.name.casefold() == plain), None)
    if found is None:
        raise PlotRefused(f"There is no column {name!r}. {_kinds(columns)}")
    return found


def _kinds(columns: Sequence[TableColumn]) -> str:
    told = ", ".join(f"{each.name} ({each.kind})" for each in columns[:20])
    more = len(columns) - 20
    return f"Its columns are: {told}{f', and {more} more' if more > 0 else ''}."


def _points(
    kind: str, x: TableColumn | None, ys: Sequence[TableColumn], title: str, *, log: bool
) -> TableChart:
    """Lines, or points alone."""
    along = x.kind if x else "number"
    words: tuple[str, ...] = ()
    places: list[float | None]
    if x is None:
        places = [float(nth + 1) for nth in range(len(ys[0].cells))]
    elif along == "words":
        words, places = x.cells, [float(nth) for nth in range(len(x.cells))]
    else:
        places = x.numbers() if along == "number" else x.days()
    series, rows = [], set[int]()
    for each in ys:
        there = [
            (nth, at, high)
            for nth, (at, high) in enumerate(zip(places, each.numbers(), strict=True))
            if at is not None and high is not None and not (log and high <= 0)
        ]
        rows |= {nth for nth, _, _ in there}
        if kind == "line":
            there.sort(key=lambda point: point[1])
        series.append(ChartSeries(each.name, *_apart([point[1:] for point in there])))
    if log and not rows:
        raise PlotRefused("Nothing is above 0, so nothing can be drawn by powers of ten.")
    _refuse_empty(series)
    name = ys[0].name if len(ys) == 1 else ""
    left = len(places) - len(rows)
    return TableChart(
        kind, title, x.name if x else "row", name, along, tuple(series), words, (), log, left
    )


def _bars(x: TableColumn, ys: Sequence[TableColumn], title: str, *, log: bool) -> TableChart:
    """A group of bars for each different word; without numbers, how often each stands there."""
    words = [*dict.fromkeys(cell for cell in x.cells if cell)]
    said = []
    if len(words) > MOST_BARS:
        said.append(f"Of {len(words):,} different values of {x.name} the first {MOST_BARS} stand")
    elif ys and len(words) < sum(map(bool, x.cells)):
        said.append(f"Rows of the same {x.name} are added up")
    words = words[:MOST_BARS]
    place = {word: float(nth) for nth, word in enumerate(words)}
    series = []
    for each in ys:
        high = dict.fromkeys(words, 0.0)
        for cell, value in zip(x.cells, each.numbers(), strict=True):
            if cell in high and value is not None:
                high[cell] += value
        series.append(ChartSeries(each.name, tuple(place.values()), tuple(high.values())))
    if not ys:
        counts = dict.fromkeys(words, 0.0)
        for cell in x.cells:
            if cell in counts:
                counts[cell] += 1
        series = [ChartSeries("rows", tuple(place.values()), tuple(counts.values()))]
    _refuse_empty(series)
    name = series[0].name if len(series) == 1 else ""
    left = sum(not cell for cell in x.cells)
    told = f"{'; '.join(said)}." if said else ""
    return TableChart(
        "bar", title, x.name, name, "words", tuple(series), tuple(words), (), log, left, told
    )


def _histogram(
    columns: Sequence[TableColumn], x: TableColumn | None, bins: Any, title: str
) -> TableChart:
    """How often numbers of one column lie in which bin."""
    x = x or next((each for each in columns if each.kind == "number"), None)
    if x is None or x.kind != "number":
        raise PlotRefused(f"A histogram wants a column of numbers. {_kinds(columns)}")
    values = [value for value in x.numbers() if value is not None]
    low, high = min(values), max(values)
    usual = min(max(math.ceil(math.sqrt(len(values))), FEWEST_BINS), USUAL_BINS)
    count = min(max(int(bins or usual), 1), MOST_BINS)
    if low == high:
        low, high, count = low - 0.5, high + 0.5, 1
    wide = (high - low) / count
    edges = tuple(low + wide * nth for nth in range(count + 1))
    counts = [0.0] * count
    for value in values:
        counts[min(int((value - low) / wide), count - 1)] += 1
    series = (ChartSeries(x.name, edges[:-1], tuple(counts)),)
    left = len(x.cells) - len(values)
    return TableChart("histogram", title, x.name, "rows", "number", series, (), edges, False, left)


def _refuse_empty(series: Sequence[ChartSeries]) -> None:
    if not any(each.at for each in series):
        raise PlotRefused("There is no row in it that could be drawn.")


def _apart(
    points: Sequence[tuple[float, float]],
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return tuple(at for at, _ in points), tuple(high for _, high in points)


def summary(chart: TableChart) -> str:
    """The chart in words, for whoever cannot see it."""
    rows = []
    for each in chart.series:
        if chart.kind == "histogram":
            low, high, most = chart.edges[0], chart.edges[-1], max(each.high)
            at = chart.edges[each.high.index(most)]
            rows.append(
                f"{each.name}: {sum(each.high):,g} numbers from {low:g} to {high:g} in "
                f"{len(each.high)} bins of {chart.edges[1] - low:g}; most, {most:g}, from {at:g} on"
            )
            continue
        if not each.high:
            rows.append(f"{each.name}: nothing to draw")
            continue
        low, high, count = min(each.high), max(each.high), len(each.high)
        what = "bars" if chart.kind == "bar" else "points"
        mean = math.fsum(each.high) / count
        rows.append(f"{each.name}: {count:,} {what}, {low:g} to {high:g}, mean {mean:g}")
    told = [f"A {chart.kind} plot, along {chart.x_name}.", *rows]
    told += [chart.said] if chart.said else []
    if chart.left:
        told.append(f"{chart.left:,} rows had nothing that could be drawn.")
    return "\n".join(told)
