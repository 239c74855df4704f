"""Charts in rows: estimates with their intervals, and sums of causes; and what all charts share.

A chart takes figures and gives an SVG element for a page, labelled where it is, with every interval
drawn. Colours never stand alone: what they tell apart has another mark, another line, or a label
too. Rates are shares of one, drawn as percentages; everything else is drawn as it is. Others are in
line_charts.py and scatter_plots.py.

Knows nothing of runs, and computes nothing but where to put things.
"""

from collections.abc import Sequence

from msgspec import Struct

from loopforge.lab.charts.svg_drawing import SMALL, SvgCanvas, Unit, clip_label

MARKS = ("o", "s", "^", "D", "v", "P")
LONGEST = 20
"""Letters of a label that stands beside its row; longer ones stand above it."""
STEP_UP = 11
"""Units between two labels, so that they can be read."""

Three = tuple[float, float, float]
"""(low, estimate, high)"""


class ChartDot(Struct, frozen=True):
    """An estimate with its limits, in a role's colour and with a mark."""

    role: str
    mark: str
    at: Three


class ChartLane(Struct, frozen=True):
    """A labelled row of dots."""

    label: str
    dots: tuple[ChartDot, ...]


# ---------------------------------------------------------------- how numbers stand on an axis


def percent(value: float) -> str:
    """A share of one."""
    return f"{value * 100:.0f}%"


def percentage_points(value: float) -> str:
    """A difference of shares, in percentage points."""
    told = f"{value * 100:+.0f}"
    return "0" if told in ("+0", "-0") else told


def rounded_number(value: float) -> str:
    """A number."""
    return f"{value:.0f}" if abs(value) >= 10 or value == int(value) else f"{value:.1f}"


# ---------------------------------------------------------------- rows of dots


def interval_chart(
    key: str, title: str, says: str, rows: Sequence[ChartLane], unit: Unit, *, zero: bool = False
) -> str:
    """Estimates with intervals, a row for each label. `zero`: differences, around nothing."""
    above = any(len(row.label) > LONGEST for row in rows)
    tall = (30 if above else 12) + 12 * max(len(row.dots) for row in rows)
    left = 12 if above else 16 + 6.1 * max(len(row.label) for row in rows)
    reach = _reach([dot.at for row in rows for dot in row.dots], zero=zero)
    canvas = SvgCanvas(30 + tall * len(rows), (left, 4, 46, 26), reach)
    canvas.grid_across(unit)
    if zero:
        canvas.line([(canvas.x(0), canvas.top), (canvas.x(0), canvas.bottom)], "ink", 1)
    for nth, row in enumerate(rows):
        top = canvas.top + tall * nth
        if above:
            canvas.text(clip_label(row.label, 54), (left, top + 11))
        else:
            canvas.text(row.label, (left - 6, top + tall / 2), anchor="end")
        for at, dot in enumerate(row.dots):
            down = top + (20 if above else 6) + 12 * (at + 0.5)
            low, middle, high = map(canvas.x, dot.at)
            canvas.line([(low, down), (high, down)], dot.role, 2.2)
            canvas.mark(dot.mark, (middle, down), dot.role, 7)
            canvas.text(unit(dot.at[1]), (canvas.right + 6, down), dot.role)
    return canvas.svg(key, title, says)


def _reach(found: Sequence[Three], *, zero: bool) -> tuple[float, float]:
    """The ends of an axis that holds all of these; rates begin at nothing."""
    low = min(0.0, *(each[0] for each in found))
    high = max(0.0, *(each[2] for each in found))
    room = (high - low or 1.0) * 0.04
    return (low - room if zero or low < 0 else 0.0), high + room


# ---------------------------------------------------------------- sums


def contribution_chart(
    key: str, title: str, says: str, causes: Sequence[tuple[str, float]], role: str
) -> str:
    """What each cause did, up or down, and what they come to together."""
    rows = [*causes, ("in all", sum(value for _, value in causes))]
    tall = 32
    most = max(abs(value) for _, value in rows) or 1.0
    canvas = SvgCanvas(10 + tall * len(rows), (12, 2, 12, 6), (-1.3 * most, 1.3 * most))
    nothing = canvas.x(0)
    canvas.line([(nothing, canvas.top), (nothing, canvas.bottom)], "line", 1)
    for nth, (label, value) in enumerate(rows):
        last = nth == len(rows) - 1
        top, end = canvas.top + tall * nth, canvas.x(value)
        bar = ((nothing, top + 0.55 * tall), (end, top + 0.89 * tall))
        canvas.box(*bar, "ink" if last else role, 1 if last else 0.75)
        side = -1 if value < 0 else 1
        told, place = f"{value:+.1f}" if value else "0", (end + 4 * side, top + 0.72 * tall)
        canvas.text(told, place, anchor="end" if side < 0 else "start", size=SMALL)
        canvas.text(
            clip_label(label, 54), (nothing, top + 0.36 * tall), anchor="middle", size=SMALL
        )
    return canvas.svg(key, title, says)
