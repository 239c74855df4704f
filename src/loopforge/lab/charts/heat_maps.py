"""Planes: rates over two doses as a map, and one error against the other.

Drawn as bar_charts.py says. Knows nothing of runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from loopforge.lab.charts.bar_charts import MARKS, STEP_UP, WIDE, Three, crosswise, percent, upward
from loopforge.lab.charts.svg_drawing import SMALL, TONE, Canvas, settings, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CLEAR = 24
"""Units around a point that are its own."""
MOST_NAMES = 12
"""Points that have a name and intervals, the worst of them; a table has all."""
AT_MOST = 13
"""Levels along a map's side of which each is named."""


class MapCell(Struct, frozen=True):
    """A labelled point with an interval either way."""

    label: str
    role: str
    nth: int
    x: Three
    y: Three


class Trail(Struct, frozen=True):
    """Small points in one colour, joined where their order says something: then the ends' names."""

    role: str
    nth: int
    points: tuple[tuple[float, float], ...]
    ends: tuple[str, str] | None = None


# ---------------------------------------------------------------- maps


def chart_map(
    key: str,
    title: str,
    says: str,
    table: Sequence[Sequence[float | None]],
    *,
    across: tuple[str, Sequence[str]],
    up: tuple[str, Sequence[str]],
    role: str,
) -> str:
    """Rates by two doses: a cell for each pair, the rate in it; the first row stands lowest."""
    (along, columns), (aside, rows) = across, up
    left = 34 + 5.6 * max(len(each) for each in rows)
    tall = 24
    with settings():
        from matplotlib.patches import Rectangle

        canvas = Canvas(WIDE, 44 + tall * len(rows))
        axes = canvas.axes(left, 4, 6, 36)
        axes.set_xlim(0, len(columns))
        axes.set_ylim(0, len(rows))
        for y, line in enumerate(table):
            for x, value in enumerate(line):
                if value is None:
                    continue
                box = Rectangle((x + 0.03, y + 0.04), 0.94, 0.92, color=TONE[role], linewidth=0)
                box.set_alpha(round(0.04 + 0.62 * min(max(value, 0.0), 1.0), 3))
                axes.add_patch(box)
                if len(columns) <= AT_MOST:
                    told = f"{value * 100:.0f}"
                    axes.text(x + 0.5, y + 0.5, told, ha="center", va="center", fontsize=SMALL)
        axes.set_xticks([x + 0.5 for x in range(len(columns))], columns)
        axes.set_yticks([y + 0.5 for y in range(len(rows))], rows)
        axes.spines["bottom"].set_visible(False)
        axes.set_xlabel(along)
        axes.set_ylabel(aside)
        return canvas.svg(key, title, says, "chart map")


# ---------------------------------------------------------------- trade-offs


def trade(
    key: str, title: str, says: str, spots: Sequence[MapCell], trails: Sequence[Trail] = ()
) -> str:
    """One error against the other, with intervals both ways; the corner at nothing is best."""
    with settings():
        canvas = Canvas(WIDE, 300)
        axes = canvas.axes(46, 12, 16, 40)
        for trail in trails:
            _trail(axes, trail)
        worst = sorted(spots, key=lambda spot: -spot.x[1] - spot.y[1])[:MOST_NAMES]
        for spot in spots:
            _spot(axes, spot, whole=spot in worst)
        every = [(x, y) for trail in trails for x, y in trail.points]
        high_x = max([spot.x[2] for spot in spots] + [x for x, _ in every])
        high_y = max([spot.y[2] for spot in spots] + [y for _, y in every])
        axes.set_xlim(-0.02 * (high_x or 1), (high_x or 1) * 1.06)
        axes.set_ylim(-0.02 * (high_y or 1), (high_y or 1) * 1.06)
        upward(axes, percent)
        crosswise(axes, percent)
        axes.set_xlabel("over-reach")
        axes.set_ylabel("over-compliance")
        for trail in trails:
            _ends_of(axes, trail, spots)
        _named(axes, worst)
        return canvas.svg(key, title, says)


def _trail(axes: Axes, trail: Trail) -> None:
    mark, tone = MARKS[trail.nth % len(MARKS)], TONE[trail.role]
    line = "-" if trail.ends else "none"
    axes.plot(
        *zip(*trail.points, strict=True),
        color=tone,
        linestyle=line,
        linewidth=1,
        marker=mark,
        markersize=3,
        alpha=0.6,
        markeredgewidth=0,
    )


def _ends_of(axes: Axes, trail: Trail, spots: Sequence[MapCell]) -> None:
    """The names of a trail's ends, where nothing else stands."""
    place = axes.transData
    taken = [place.transform((spot.x[1], spot.y[1])) for spot in spots]
    for label, at in zip(trail.ends or (), (trail.points[0], trail.points[-1]), strict=False):
        x, y = place.transform(at)
        if all(abs(x - left) > CLEAR or abs(y - up) > CLEAR for left, up in taken):
            axes.annotate(
                label,
                at,
                xytext=(0, -6),
                textcoords="offset points",
                ha="center",
                va="top",
                color=TONE[trail.role],
                fontsize=SMALL - 1,
            )


def _spot(axes: Axes, spot: MapCell, *, whole: bool) -> None:
    tone, mark = TONE[spot.role], MARKS[spot.nth % len(MARKS)]
    if not whole:
        axes.plot(spot.x[1], spot.y[1], mark, color=tone, markersize=4, alpha=0.7)
        return
    axes.plot([spot.x[0], spot.x[2]], [spot.y[1]] * 2, color=tone, linewidth=1.6)
    axes.plot([spot.x[1]] * 2, [spot.y[0], spot.y[2]], color=tone, linewidth=1.6)
    axes.plot(spot.x[1], spot.y[1], mark, color=tone, markersize=8)


def _named(axes: Axes, spots: Sequence[MapCell]) -> None:
    """The points' names beside them, on the side with room, none over another."""
    place = axes.transData
    taken: list[tuple[float, float, float]] = []
    for spot in sorted(spots, key=lambda spot: (-spot.y[1], spot.x[1])):
        x, y = place.transform((spot.x[1], spot.y[1]))
        label = short(spot.label, 22)
        wide = 5.8 * len(label)
        right = x + 8 + wide < axes.bbox.x1 + 14
        start, line = (x + 8 if right else x - 8 - wide), y + 7
        while any(
            abs(line - at) < STEP_UP and start < end and start + wide > begin
            for at, begin, end in taken
        ):
            line -= STEP_UP
        taken.append((line, start, start + wide))
        axes.annotate(
            label,
            (spot.x[1], spot.y[1]),
            xytext=(8 if right else -8, line - y),
            textcoords="offset points",
            ha="left" if right else "right",
            va="center",
            color=TONE[spot.role],
        )
