"""Curves: values over a dose, over days, or over the time until something happens.

Each curve has its limits beside it and its name at its end, none over another. Drawn as
bar_charts.py says. Knows nothing of runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct
from msgspec.structs import replace

from loopforge.lab.charts.bar_charts import MARKS, STEP_UP, WIDE, Three, Unit, percent, upward
from loopforge.lab.charts.svg_drawing import TONE, Canvas, settings, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)), "-", "-")
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


def curves(
    key: str,
    title: str,
    says: str,
    lines: Sequence[CurveLine],
    unit: Unit,
    *,
    along: str,
    steps: bool = False,
    whole: bool = False,
) -> str:
    """Curves over a number, each named at its end. `steps`: they fall at once. `whole`: 0 to 1."""
    with settings():
        canvas = Canvas(WIDE, 218)
        axes = canvas.axes(38, 10, 92, 38)
        if steps:
            lines = _to_the_end(lines)
        for line in lines:
            (_stairs if steps else _curve)(axes, line)
        axes.set_ylim(*((-0.02, 1.02) if whole else _tall(lines, rate=unit is percent)))
        upward(axes, unit)
        _places(axes, lines, every=not steps)
        axes.set_xlabel(along)
        for nth, line in enumerate(each for each in lines if each.tip):
            _tip(axes, line, nth)
        _ends(axes, lines)
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


def _curve(axes: Axes, line: CurveLine) -> None:
    tone, dash = TONE[line.role], DASHES[line.nth % len(DASHES)]
    at = [x for x, _ in line.points]
    low, middle, high = zip(*(three for _, three in line.points), strict=True)
    if line.smooth:
        axes.plot(*zip(*line.smooth, strict=True), color=tone, linestyle=dash)
        axes.vlines(at, low, high, color=tone, linewidth=1.2)
        axes.plot(at, middle, MARKS[line.nth % len(MARKS)], color=tone, markersize=4.5)
        return
    axes.fill_between(at, low, high, color=tone, alpha=0.16)
    mark = MARKS[line.nth % len(MARKS)]
    axes.plot(at, middle, color=tone, linestyle=dash, marker=mark, markersize=4.5, clip_on=False)


def _to_the_end(lines: Sequence[CurveLine]) -> list[CurveLine]:
    """Stairs that end before others do go on level: nothing was left to fall."""
    last = max(line.points[-1][0] for line in lines)
    return [replace(line, points=(*line.points, (last, line.points[-1][1]))) for line in lines]


def _stairs(axes: Axes, line: CurveLine) -> None:
    tone, dash = TONE[line.role], DASHES[line.nth % len(DASHES)]
    at = [x for x, _ in line.points]
    low, middle, high = zip(*(three for _, three in line.points), strict=True)
    axes.fill_between(at, low, high, step="post", color=tone, alpha=0.14)
    axes.plot(at, middle, drawstyle="steps-post", color=tone, linestyle=dash)


def _places(axes: Axes, lines: Sequence[CurveLine], *, every: bool) -> None:
    """The axis from the first to the last place that there is, with a tick at `every` one."""
    from matplotlib.ticker import MaxNLocator

    at = [x for line in lines for x, _ in line.points]
    room = (max(at) - min(at) or 1) * 0.03
    axes.set_xlim(min(at) - room, max(at) + room)
    places = sorted(set(at))
    if every and len(places) <= PLACES:
        axes.set_xticks(places, [f"{place:g}" for place in places])
    else:
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))


def _tip(axes: Axes, line: CurveLine, nth: int) -> None:
    """Where a curve tips: a mark above the axis with its interval, each on a level of its own."""
    assert line.tip is not None
    where: Any = axes.get_xaxis_transform()
    low, at, high = line.tip
    tone, up = TONE[line.role], 0.06 + 0.06 * nth
    axes.plot([low, high], [up, up], color=tone, linewidth=3, alpha=0.6, transform=where)
    mark = MARKS[line.nth % len(MARKS)]
    axes.plot([at], [up], mark, color=tone, markersize=6, transform=where)


def _ends(axes: Axes, lines: Sequence[CurveLine]) -> None:
    """Each curve's name at its end, none over another."""
    low, high = axes.get_ylim()
    (left, right), where = axes.get_xlim(), cast("Any", axes.get_yaxis_transform())
    scale = float(axes.bbox.height) / (high - low)
    wanted = [(line.points[-1][1][1] - low) * scale for line in lines]
    for line, at, free in zip(lines, wanted, _apart(wanted, float(axes.bbox.height)), strict=True):
        tone = TONE[line.role]
        if abs(at - free) > 3:
            pair = [at / scale + low, free / scale + low]
            x = (line.points[-1][0] - left) / (right - left)
            axes.plot([x, 1.02], pair, color=tone, linewidth=0.7, transform=where, clip_on=False)
        axes.annotate(
            short(line.label, 15),
            (1, free / float(axes.bbox.height)),
            xycoords="axes fraction",
            xytext=(5, 0),
            textcoords="offset points",
            color=tone,
            va="center",
            annotation_clip=False,
        )


def _apart(wanted: Sequence[float], height: float) -> list[float]:
    """Places as near as can be to those wanted, each far enough from the next."""
    order = sorted(range(len(wanted)), key=lambda nth: (wanted[nth], -nth))
    places = [0.0] * len(wanted)
    floor = 2.0
    for nth in order:
        places[nth] = floor = max(wanted[nth], floor)
        floor += STEP_UP
    over = max(places, default=0) - max(height - 2, STEP_UP * len(wanted) - STEP_UP)
    roof = float("inf")
    for nth in reversed(order):
        if over > 0:
            places[nth] = min(places[nth], roof, max(height - 2, 0))
            roof = places[nth] - STEP_UP
    return places
