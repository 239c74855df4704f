"""Charts in rows: estimates with their intervals, and sums of causes; and what all charts share.

A chart takes figures and gives an SVG element for a page: 340 units wide, so that it is read on a
telephone, labelled where it is, with every interval drawn. Colours never stand alone: what they
tell apart has another mark, another line, or a label too. Rates are shares of one, drawn as
percentages; everything else is drawn as it is. Others are in line_charts.py and heat_maps.py.

Knows nothing of runs, and computes nothing but where to put things.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from loopforge.lab.charts.svg_drawing import SMALL, TONE, Canvas, settings, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDE = 340
MARKS = ("o", "s", "^", "D", "v", "P")
LONGEST = 20
"""Letters of a label that stands beside its row; longer ones stand above it."""
STEP_UP = 11
"""Units between two labels, so that they can be read."""

Three = tuple[float, float, float]
"""(low, estimate, high)"""


class Dot(Struct, frozen=True):
    """An estimate with its limits, in a role's colour and with a mark."""

    role: str
    mark: str
    at: Three


class ChartLane(Struct, frozen=True):
    """A labelled row of dots."""

    label: str
    dots: tuple[Dot, ...]


# ---------------------------------------------------------------- how numbers stand on an axis


def percent(value: float, _: object = None) -> str:
    """A share of one."""
    return f"{value * 100:.0f}%"


def points(value: float, _: object = None) -> str:
    """A difference of shares, in percentage points."""
    return (
        f"{value * 100:+.0f}".replace("+0", "0", 1) if abs(value) < 0.005 else f"{value * 100:+.0f}"
    )


def plain(value: float, _: object = None) -> str:
    """A number."""
    return f"{value:.0f}" if abs(value) >= 10 or value == int(value) else f"{value:.1f}"


Unit = Callable[..., str]


# ---------------------------------------------------------------- rows of dots


def lanes(
    key: str, title: str, says: str, rows: Sequence[ChartLane], unit: Unit, *, zero: bool = False
) -> str:
    """Estimates with intervals, a row for each label. `zero`: differences, around nothing."""
    above = any(len(row.label) > LONGEST for row in rows)
    tall = (30 if above else 12) + 12 * max(len(row.dots) for row in rows)
    left = 12 if above else 16 + 6.1 * max(len(row.label) for row in rows)
    with settings():
        canvas = Canvas(WIDE, 30 + tall * len(rows))
        axes = canvas.axes(left, 4, 46, 26)
        axes.set_ylim(len(rows), 0)
        for nth, row in enumerate(rows):
            _lane(axes, nth, row, unit, tall=tall, above=above)
        low, high = _reach([dot.at for row in rows for dot in row.dots], zero=zero)
        axes.set_xlim(low, high)
        if zero:
            axes.axvline(0, color=TONE["ink"], linewidth=1, zorder=1)
        axes.set_yticks([])
        crosswise(axes, unit)
        return canvas.svg(key, title, says)


def _lane(axes: Axes, nth: int, row: ChartLane, unit: Unit, *, tall: float, above: bool) -> None:
    where: Any = axes.get_yaxis_transform()
    if above:
        axes.text(0, nth + 15 / tall, short(row.label, 54), transform=where, va="baseline")
    else:
        axes.text(-6 / _width(axes), nth + 0.5, row.label, transform=where, va="center", ha="right")
    for at, dot in enumerate(row.dots):
        down = nth + ((20 if above else 6) + 12 * (at + 0.5)) / tall
        low, middle, high = dot.at
        tone = TONE[dot.role]
        axes.plot([low, high], [down, down], color=tone, linewidth=2.2, clip_on=False)
        axes.plot(middle, down, dot.mark, color=tone, markersize=6, clip_on=False)
        axes.text(
            1 + 6 / _width(axes), down, unit(middle), transform=where, va="center", color=tone
        )


def _width(axes: Axes) -> float:
    return float(axes.bbox.width)


def _reach(found: Sequence[Three], *, zero: bool) -> tuple[float, float]:
    """The ends of an axis that holds all of these; rates begin at nothing."""
    low = min(0.0, *(each[0] for each in found))
    high = max(0.0, *(each[2] for each in found))
    room = (high - low or 1.0) * 0.04
    return (low - room if zero or low < 0 else 0.0), high + room


def crosswise(axes: Axes, unit: Unit) -> None:
    """Ticks and lines of the axis that goes across."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(unit))
    axes.grid(axis="x")


def upward(axes: Axes, unit: Unit) -> None:
    """Ticks and lines of the upward axis."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    axes.yaxis.set_major_formatter(FuncFormatter(unit))
    axes.grid(axis="y")


# ---------------------------------------------------------------- sums


def sums(key: str, title: str, says: str, causes: Sequence[tuple[str, float]], role: str) -> str:
    """What each cause did, up or down, and what they come to together."""
    total = sum(value for _, value in causes)
    rows = [*causes, ("in all", total)]
    tall = 32
    with settings():
        canvas = Canvas(WIDE, 10 + tall * len(rows))
        axes = canvas.axes(12, 2, 12, 6)
        axes.set_ylim(len(rows), 0)
        most = max(abs(value) for _, value in rows) or 1.0
        axes.set_xlim(-1.3 * most, 1.3 * most)
        axes.axvline(0, color=TONE["line"], linewidth=1)
        for nth, (label, value) in enumerate(rows):
            last = nth == len(rows) - 1
            tone = TONE["ink" if last else role]
            axes.barh(nth + 0.72, value, height=0.34, color=tone, alpha=1 if last else 0.75)
            side = -1 if value < 0 else 1
            told = f"{value:+.1f}" if value else "0"
            axes.annotate(
                told,
                (value, nth + 0.72),
                xytext=(4 * side, 0),
                textcoords="offset points",
                ha="left" if side > 0 else "right",
                va="center",
                fontsize=SMALL,
                annotation_clip=False,
            )
            axes.text(0, nth + 0.36, short(label, 54), ha="center", va="center", fontsize=SMALL)
        axes.axis("off")
        return canvas.svg(key, title, says)
