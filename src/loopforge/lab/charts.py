"""Charts: dots with intervals, curves over a dose or over time, maps, trade-offs, sums of causes.

Each takes figures and gives an SVG element for a page: 340 units wide, so that it is read on a
telephone, labelled where it is, with every interval drawn. Colours never stand alone: what they
tell apart has another mark, another line, or a label too. Rates are shares of one, drawn as
percentages; everything else is drawn as it is.

Knows nothing of runs, and computes nothing but where to put things.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct
from msgspec.structs import replace

from loopforge.lab.drawing import SMALL, TONE, Canvas, settings, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDE = 340
MARKS = ("o", "s", "^", "D", "v", "P")
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)), "-", "-")
LONGEST = 20
"""Letters of a label that stands beside its row; longer ones stand above it."""
CLEAR = 24
"""Units around a point that are its own."""
STEP_UP = 11
"""Units between two labels, so that they can be read."""
PLACES = 11
"""Places along an axis of which each has a tick."""
AT_MOST = 13
"""Levels along a map's side of which each is named."""

Three = tuple[float, float, float]
"""(low, estimate, high)"""


class Dot(Struct, frozen=True):
    """An estimate with its limits, in a role's colour and with a mark."""

    role: str
    mark: str
    at: Three


class Lane(Struct, frozen=True):
    """A labelled row of dots."""

    label: str
    dots: tuple[Dot, ...]


class Line(Struct, frozen=True, kw_only=True):
    """A labelled curve: (x, (low, y, high)), a smooth line through it, where it tips."""

    label: str
    role: str
    nth: int = 0
    points: tuple[tuple[float, Three], ...]
    smooth: tuple[tuple[float, float], ...] = ()
    tip: Three | None = None


class Spot(Struct, frozen=True):
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
    key: str, title: str, says: str, rows: Sequence[Lane], unit: Unit, *, zero: bool = False
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
        _across(axes, unit)
        return canvas.svg(key, title, says)


def _lane(axes: Axes, nth: int, row: Lane, unit: Unit, *, tall: float, above: bool) -> None:
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


def _across(axes: Axes, unit: Unit) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(unit))
    axes.grid(axis="x")


# ---------------------------------------------------------------- curves


def curves(
    key: str,
    title: str,
    says: str,
    lines: Sequence[Line],
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
        _up(axes, unit)
        _places(axes, lines, every=not steps)
        axes.set_xlabel(along)
        for nth, line in enumerate(each for each in lines if each.tip):
            _tip(axes, line, nth)
        _ends(axes, lines)
        return canvas.svg(key, title, says)


def _tall(lines: Sequence[Line], *, rate: bool) -> tuple[float, float]:
    """The ends of the upward axis: rates stand on nothing, other values have room on both sides."""
    found = [three for line in lines for _, three in line.points]
    low, high = min(each[0] for each in found), max(each[2] for each in found)
    if rate:
        high = max(high, 0.05) * 1.04
        return -0.03 * high, high
    room = max(high - low, 50.0) * 0.08
    return max(low - room, -20.0), high + room


def _curve(axes: Axes, line: Line) -> None:
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


def _to_the_end(lines: Sequence[Line]) -> list[Line]:
    """Stairs that end before others do go on level: nothing was left to fall."""
    last = max(line.points[-1][0] for line in lines)
    return [replace(line, points=(*line.points, (last, line.points[-1][1]))) for line in lines]


def _stairs(axes: Axes, line: Line) -> None:
    tone, dash = TONE[line.role], DASHES[line.nth % len(DASHES)]
    at = [x for x, _ in line.points]
    low, middle, high = zip(*(three for _, three in line.points), strict=True)
    axes.fill_between(at, low, high, step="post", color=tone, alpha=0.14)
    axes.plot(at, middle, drawstyle="steps-post", color=tone, linestyle=dash)


def _up(axes: Axes, unit: Unit) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    axes.yaxis.set_major_formatter(FuncFormatter(unit))
    axes.grid(axis="y")


def _places(axes: Axes, lines: Sequence[Line], *, every: bool) -> None:
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


def _tip(axes: Axes, line: Line, nth: int) -> None:
    """Where a curve tips: a mark above the axis with its interval, each on a level of its own."""
    assert line.tip is not None
    where: Any = axes.get_xaxis_transform()
    low, at, high = line.tip
    tone, up = TONE[line.role], 0.06 + 0.06 * nth
    axes.plot([low, high], [up, up], color=tone, linewidth=3, alpha=0.6, transform=where)
    mark = MARKS[line.nth % len(MARKS)]
    axes.plot([at], [up], mark, color=tone, markersize=6, transform=where)


def _ends(axes: Axes, lines: Sequence[Line]) -> None:
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
    key: str, title: str, says: str, spots: Sequence[Spot], trails: Sequence[Trail] = ()
) -> str:
    """One error against the other, with intervals both ways; the corner at nothing is best."""
    with settings():
        canvas = Canvas(WIDE, 300)
        axes = canvas.axes(46, 12, 16, 40)
        for trail in trails:
            _trail(axes, trail)
        for spot in spots:
            _spot(axes, spot)
        every = [(x, y) for trail in trails for x, y in trail.points]
        high_x = max([spot.x[2] for spot in spots] + [x for x, _ in every])
        high_y = max([spot.y[2] for spot in spots] + [y for _, y in every])
        axes.set_xlim(-0.02 * (high_x or 1), (high_x or 1) * 1.06)
        axes.set_ylim(-0.02 * (high_y or 1), (high_y or 1) * 1.06)
        _up(axes, percent)
        _across(axes, percent)
        axes.set_xlabel("over-reach")
        axes.set_ylabel("over-compliance")
        for trail in trails:
            _ends_of(axes, trail, spots)
        _named(axes, spots)
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


def _ends_of(axes: Axes, trail: Trail, spots: Sequence[Spot]) -> None:
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


def _spot(axes: Axes, spot: Spot) -> None:
    tone = TONE[spot.role]
    axes.plot([spot.x[0], spot.x[2]], [spot.y[1]] * 2, color=tone, linewidth=1.6)
    axes.plot([spot.x[1]] * 2, [spot.y[0], spot.y[2]], color=tone, linewidth=1.6)
    axes.plot(spot.x[1], spot.y[1], MARKS[spot.nth % len(MARKS)], color=tone, markersize=8)


def _named(axes: Axes, spots: Sequence[Spot]) -> None:
    """Each point's name beside it, on the side with room, none over another."""
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
