"""Drawing: a chart as SVG that stands in a page and takes its colours from it.

Colours have roles, and a page says by class what a role looks like, in the light and in the dark:
`f-reach` fills in the colour of over-reach, `s-reach` draws in it. Nothing of a drawing is global:
it has no styles, ids of its own, no dates and no addresses; text stays text. The same figures give
the same bytes.

Knows no chart: those are in bar_charts.py. Texts may be anyone's; they are drawn to the letter.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import TypeAlias

from loopforge.core.text.name_labels import truncate_text

Point: TypeAlias = tuple[float, float]
Unit: TypeAlias = Callable[[float], str]

WIDE = 340
"""Units of a drawing, so that it is read on a telephone."""
SMALL, TEXT = 9.5, 10.5
"""Sizes of letters, in those units."""
MOST_TICKS = 5
STEPS, WHOLE = (1, 2, 2.5, 5, 10), (1, 2, 3, 5, 10)
"""By what ticks go, times a power of ten; and where there is nothing between two of them."""
ARM = 0.35
SHAPES: dict[str, tuple[Point, ...]] = {
    "s": ((-1, -1), (1, -1), (1, 1), (-1, 1)),
    "^": ((0, -1), (1, 1), (-1, 1)),
    "v": ((-1, -1), (1, -1), (0, 1)),
    "D": ((0, -1.4), (1.4, 0), (0, 1.4), (-1.4, 0)),
    "P": (
        *((-ARM, -1), (ARM, -1), (ARM, -ARM), (1, -ARM), (1, ARM), (ARM, ARM)),
        *((ARM, 1), (-ARM, 1), (-ARM, ARM), (-1, ARM), (-1, -ARM), (-ARM, -ARM)),
    ),
}
"""Marks by their letter, around nothing; `o` is a circle."""


class SvgCanvas:
    """One drawing, so many units high, with a field for figures within its margins.

    `margins` are left, top, right and bottom; `across` and `up` are the ends of both axes. `x` and
    `y` give the place of a figure; everything is drawn at places, counted from the upper left.
    """

    def __init__(
        self,
        height: float,
        margins: tuple[float, float, float, float],
        across: Point = (0, 1),
        up: Point = (0, 1),
    ) -> None:
        self.height = height
        self.left, self.top, right, bottom = margins
        self.right, self.bottom = WIDE - right, height - bottom
        self._across, self._up = across, up
        self._drawn: list[str] = []

    def x(self, value: float) -> float:
        """How far from the left."""
        low, high = self._across
        return self.left + (value - low) / (high - low) * (self.right - self.left)

    def y(self, value: float) -> float:
        """How far from above."""
        low, high = self._up
        return self.bottom - (value - low) / (high - low) * (self.bottom - self.top)

    def line(
        self, points: Iterable[Point], role: str, width: float = 2, dash: str = "", fade: float = 1
    ) -> None:
        """A line through these places; `fade` is how much of it is seen, `dash` as SVG has it."""
        more = f' stroke-dasharray="{dash}"' if dash else ' stroke-linecap="round"'
        self._path(points, f'class="s-{role}" fill="none" stroke-width="{width}"{more}', fade)

    def area(self, points: Iterable[Point], role: str, fade: float = 1) -> None:
        """What these places enclose."""
        self._path(points, f'class="f-{role}"', fade, "Z")

    def box(self, one: Point, other: Point, role: str, fade: float = 1) -> None:
        """A rectangle from corner to corner."""
        (left, top), (right, bottom) = one, other
        self.area([(left, top), (right, top), (right, bottom), (left, bottom)], role, fade)

    def mark(self, sign: str, at: Point, role: str, size: float, fade: float = 1) -> None:
        """A mark around a place, so wide."""
        x, y = at
        half = size / 2
        if sign in SHAPES:
            self.area(((x + half * dx, y + half * dy) for dx, dy in SHAPES[sign]), role, fade)
        else:
            place = f'cx="{_told(x)}" cy="{_told(y)}" r="{_told(half)}"'
            self._drawn.append(f'<circle {place} class="f-{role}"{_faded(fade)}/>')

    def text(
        self, text: str, at: Point, role: str = "ink", anchor: str = "start", size: float = TEXT
    ) -> None:
        """Text as high as this place, which begins, ends or has its middle there."""
        x, y = _told(at[0]), _told(at[1] + 0.35 * size)
        place = f'x="{x}" y="{y}" text-anchor="{anchor}" font-size="{size}"'
        self._drawn.append(f'<text {place} class="f-{role}">{escape(text, quote=False)}</text>')

    def grid_across(self, unit: Unit) -> None:
        """Lines upward at round figures of the axis that goes across, and what they are."""
        ticks = tick_values(*self._across)
        for value in ticks:
            self.line([(self.x(value), self.top), (self.x(value), self.bottom)], "line", 0.7)
        self.ticks([(value, unit(value)) for value in ticks])

    def ticks(self, named: Iterable[tuple[float, str]], along: str = "") -> None:
        """The axis below, with ticks and the names of these figures, and what it is of."""
        self.line([(self.left, self.bottom), (self.right, self.bottom)], "line", 1)
        for value, name in named:
            x, y = self.x(value), self.bottom
            self.line([(x, y), (x, y + 3)], "line", 0.8)
            self.text(name, (x, y + 10.5), "quiet", "middle", SMALL)
        if along:
            middle = (self.left + self.right) / 2
            self.text(along, (middle, self.bottom + 24.5), "quiet", "middle", SMALL)

    def grid_up(self, unit: Unit) -> None:
        """Lines across at round figures of the upward axis, and what they are."""
        for value in tick_values(*self._up):
            self.line([(self.left, self.y(value)), (self.right, self.y(value))], "line", 0.7)
            self.beside(value, unit(value))

    def beside(self, value: float, name: str) -> None:
        """The name of a figure of the upward axis."""
        self.text(name, (self.left - 4, self.y(value)), "quiet", "end", SMALL)

    def upward(self, name: str) -> None:
        """What the upward axis is of, along it."""
        middle = (self.top + self.bottom) / 2
        turn = f'transform="translate(10 {_told(middle)}) rotate(-90)"'
        place = f'{turn} text-anchor="middle" font-size="{SMALL}"'
        self._drawn.append(f'<text {place} class="f-quiet">{escape(name, quote=False)}</text>')

    def svg(self, key: str, title: str, says: str) -> str:
        """The drawing as an element. `key` makes its ids its own; `says` is read instead of it."""
        title, says = escape(printable_line(title)), escape(printable_line(says))
        return (
            f'<svg class="chart" viewBox="0 0 {WIDE} {self.height:g}" role="img" '
            f'aria-labelledby="{key}-t {key}-d"><title id="{key}-t">{title}</title>'
            f'<desc id="{key}-d">{says}</desc>{"".join(self._drawn)}</svg>'
        )

    def _path(self, points: Iterable[Point], how: str, fade: float, end: str = "") -> None:
        line = "L".join(f"{_told(x)} {_told(y)}" for x, y in points)
        self._drawn.append(f'<path d="M{line}{end}" {how}{_faded(fade)}/>')


def tick_values(low: float, high: float, *, whole: bool = False) -> list[float]:
    """Round figures from low to high, in some five steps; `whole` numbers where that is said."""
    raw = max((high - low) / MOST_TICKS, 1 if whole else 0)
    power = 10.0 ** math.floor(math.log10(raw))
    found = (each * power for each in (WHOLE if whole else STEPS))
    step = next(each for each in found if each >= raw * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [nth * step for nth in range(first, last + 1)]


def printable_line(text: str) -> str:
    """Text in one line, without what cannot be printed: what a drawing, or a page, can hold."""
    line = " ".join(str(text).split())
    if line.isprintable():
        return line
    return "".join(
        sign if sign.isprintable() or sign in "\u200c\u200d" else "\ufffd" for sign in line
    )


def clip_label(text: str, most: int) -> str:
    """Text as a label: no longer than this."""
    return truncate_text(printable_line(text), most)


def spread_labels(wanted: Sequence[float], height: float, step: float) -> list[float]:
    """Places as near as can be to those wanted, each so far from the next, up to a height."""
    order = sorted(range(len(wanted)), key=lambda nth: (wanted[nth], -nth))
    places = [0.0] * len(wanted)
    floor = 2.0
    for nth in order:
        places[nth] = floor = max(wanted[nth], floor)
        floor += step
    if max(places, default=0) > max(height - 2, step * len(wanted) - step):
        roof = max(height - 2, 0)
        for nth in reversed(order):
            places[nth] = min(places[nth], roof)
            roof = places[nth] - step
    return places


def _told(value: float) -> str:
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _faded(fade: float) -> str:
    return f' opacity="{fade:g}"' if fade < 1 else ""
