"""Lines: values over a dose, over days, or over the time until something happens.

Each curve has its limits beside it and its name at its end, none over another. Drawn as
bar_charts.py says. Knows nothing of runs.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from loopforge.lab.charts.bar_charts import MARKS, STEP_UP, Three, percent
from loopforge.lab.charts.svg_drawing import (
    Point,
    SvgCanvas,
    Unit,
    clip_label,
    spread_labels,
    tick_values,
)

DASHES = ("", "10 4", "3 3", "12 4 3 4", "", "")
PLACES = 11
"""Places along an axis of which each has a tick."""


class CurveLine(Struct, frozen=True, kw_only=True):
    """A labelled curve: (x, (low, y, high)), a smooth line through it, where it tips."""

    label: str
    role: str
    nth: int = 0
    points: tuple[tuple[float, Three], ...]
    smooth: tuple[tuple[float, float], ...] = ()
    tip: Three | None = None


ChartScale = Literal["fitted", "shares", "survival"]
"""Upward as far as the values go; from 0 to 1; the same, for shares that fall at once, in steps."""


def curve_chart(
    key: str,
    title: str,
    says: str,
    lines: Sequence[CurveLine],
    unit: Unit,
    *,
    along: str,
    scale: ChartScale = "fitted",
) -> str:
    """Curves over a number, each named at its end."""
    steps = scale == "survival"
    places = sorted({x for line in lines for x, _ in line.points})
    if steps:
        lines = [_stairs(line, places[-1]) for line in lines]
    room = (places[-1] - places[0] or 1) * 0.03
    across = (places[0] - room, places[-1] + room)
    up = _tall(lines, rate=unit is percent) if scale == "fitted" else (-0.02, 1.02)
    canvas = SvgCanvas(218, (38, 10, 92, 38), across, up)
    canvas.grid_up(unit)
    at = places if not steps and len(places) <= PLACES else tick_values(*across, whole=True)
    canvas.ticks([(place, f"{place:g}") for place in at], along)
    for line in lines:
        _curve(canvas, line, marked=not steps)
    for nth, line in enumerate(each for each in lines if each.tip):
        _tip(canvas, line, nth)
    _ends(canvas, lines)
    return canvas.svg(key, title, says)


def _tall(lines: Sequence[CurveLine], *, rate: bool) -> tuple[float, float]:
    """The ends of the upward axis: rates stand on nothing, other values have room on both sides."""
    found = [three for line in lines for _, three in line.points]
    low, high = min(each[0] for each in found), max(each[2] for each in found)
    if rate:
        high = max(high, 0.05) * 1.04
        return -0.03 * high, high
    room = max(high - low, 50.0) * 0.08
    return max(low - room, -20.0), high + room


def _stairs(line: CurveLine, last: float) -> CurveLine:
    """The same as it falls, at once, and then level to the end: nothing was left to fall."""
    points = [*line.points, (last, line.points[-1][1])]
    stairs = [points[0]]
    for (_, before), (x, after) in pairwise(points):
        stairs += [(x, before), (x, after)]
    return replace(line, points=tuple(stairs))


def _curve(canvas: SvgCanvas, line: CurveLine, *, marked: bool) -> None:
    """A line with its limits around it; where a smooth one is fitted, that one, and points."""
    mark, dash = MARKS[line.nth % len(MARKS)], DASHES[line.nth % len(DASHES)]
    at = [canvas.x(x) for x, _ in line.points]
    low, middle, high = (
        [(x, canvas.y(three[nth])) for x, (_, three) in zip(at, line.points, strict=True)]
        for nth in range(3)
    )
    if line.smooth:
        canvas.line([(canvas.x(x), canvas.y(y)) for x, y in line.smooth], line.role, dash=dash)
        for below, above in zip(low, high, strict=True):
            canvas.line([below, above], line.role, 1.2)
    else:
        canvas.area([*low, *reversed(high)], line.role, 0.16)
        canvas.line(middle, line.role, dash=dash)
    if marked:
        for place in middle:
            canvas.mark(mark, place, line.role, 5.5)


def _tip(canvas: SvgCanvas, line: CurveLine, nth: int) -> None:
    """Where a curve tips: a mark above the axis with its interval, each on a level of its own."""
    assert line.tip is not None
    low, at, high = map(canvas.x, line.tip)
    down = canvas.bottom - (0.06 + 0.06 * nth) * (canvas.bottom - canvas.top)
    canvas.line([(low, down), (high, down)], line.role, 3, fade=0.6)
    canvas.mark(MARKS[line.nth % len(MARKS)], (at, down), line.role, 7)


def _ends(canvas: SvgCanvas, lines: Sequence[CurveLine]) -> None:
    """Each curve's name at its end, none over another."""
    ends: list[Point] = [
        (canvas.x(line.points[-1][0]), canvas.y(line.points[-1][1][1])) for line in lines
    ]
    wanted = [canvas.bottom - y for _, y in ends]
    free = spread_labels(wanted, canvas.bottom - canvas.top, STEP_UP)
    for line, (x, y), up in zip(lines, ends, free, strict=True):
        down = canvas.bottom - up
        if abs(y - down) > 3:
            canvas.line([(x, y), (canvas.right + 4, down)], line.role, 0.7)
        canvas.text(clip_label(line.label, 15), (canvas.right + 5, down), line.role)
