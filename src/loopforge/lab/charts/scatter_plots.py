"""Scatter plots: one error against the other.

Drawn as bar_charts.py says. Knows nothing of runs.
"""

from collections.abc import Sequence

from msgspec import Struct

from loopforge.lab.charts.bar_charts import MARKS, STEP_UP, Three, percent
from loopforge.lab.charts.svg_drawing import SMALL, SvgCanvas, clip_label

CLEAR = 24
"""Units around a point that are its own."""


class TradePoint(Struct, frozen=True):
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


def tradeoff_chart(
    key: str, title: str, says: str, spots: Sequence[TradePoint], trails: Sequence[Trail] = ()
) -> str:
    """One error against the other, with intervals both ways; the corner at nothing is best."""
    every = [point for trail in trails for point in trail.points]
    far = max([spot.x[2] for spot in spots] + [x for x, _ in every]) or 1
    high = max([spot.y[2] for spot in spots] + [y for _, y in every]) or 1
    ends = (-0.02 * far, 1.06 * far), (-0.02 * high, 1.06 * high)
    canvas = SvgCanvas(300, (46, 12, 16, 40), *ends)
    canvas.grid_up(percent)
    canvas.grid_across(percent)
    canvas.ticks([], "over-reach")
    canvas.upward("over-compliance")
    for trail in trails:
        _trail(canvas, trail)
    for spot in spots:
        _spot(canvas, spot)
    for trail in trails:
        _ends_of(canvas, trail, spots)
    _named(canvas, spots)
    return canvas.svg(key, title, says)


def _trail(canvas: SvgCanvas, trail: Trail) -> None:
    places = [(canvas.x(x), canvas.y(y)) for x, y in trail.points]
    if trail.ends:
        canvas.line(places, trail.role, 1, fade=0.6)
    for place in places:
        canvas.mark(MARKS[trail.nth % len(MARKS)], place, trail.role, 3, 0.6)


def _ends_of(canvas: SvgCanvas, trail: Trail, spots: Sequence[TradePoint]) -> None:
    """The names of a trail's ends, where nothing else stands."""
    taken = [(canvas.x(spot.x[1]), canvas.y(spot.y[1])) for spot in spots]
    for label, at in zip(trail.ends or (), (trail.points[0], trail.points[-1]), strict=False):
        x, y = canvas.x(at[0]), canvas.y(at[1])
        if all(abs(x - left) > CLEAR or abs(y - down) > CLEAR for left, down in taken):
            canvas.text(label, (x, y + 11), trail.role, "middle", SMALL - 1)


def _spot(canvas: SvgCanvas, spot: TradePoint) -> None:
    mark = MARKS[spot.nth % len(MARKS)]
    (left, x, right), (bottom, y, top) = map(canvas.x, spot.x), map(canvas.y, spot.y)
    canvas.line([(left, y), (right, y)], spot.role, 1.6)
    canvas.line([(x, bottom), (x, top)], spot.role, 1.6)
    canvas.mark(mark, (x, y), spot.role, 9)


def _named(canvas: SvgCanvas, spots: Sequence[TradePoint]) -> None:
    """The points' names beside them, on the side with room, none over another."""
    taken: list[tuple[float, float, float]] = []
    for spot in sorted(spots, key=lambda spot: (-spot.y[1], spot.x[1])):
        x, y = canvas.x(spot.x[1]), canvas.y(spot.y[1])
        label = clip_label(spot.label, 22)
        wide = 5.8 * len(label)
        right = x + 8 + wide < canvas.right + 14
        start, line = (x + 8 if right else x - 8 - wide), y - 8
        while any(
            abs(line - at) < STEP_UP and start < end and start + wide > begin
            for at, begin, end in taken
        ):
            line += STEP_UP
        taken.append((line, start, start + wide))
        beside = (x + 8, line) if right else (x - 8, line)
        canvas.text(label, beside, spot.role, "start" if right else "end")
