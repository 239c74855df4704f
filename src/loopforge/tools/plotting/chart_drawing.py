"""A chart as a picture; a part of `plot_child.py`.

Drawn with Pillow at twice its size, then made smaller, so that lines are smooth. Words are written
in a font of the system; where there is none of those it knows, in Pillow's own, which has letters
without marks alone.
"""

import io
import math
import unicodedata
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from PIL import Image, ImageDraw, ImageFont

from loopforge.core.text.topics import normal_form
from loopforge.tools.plotting.chart_choice import TableChart

WIDE, HIGH = 1200, 750
TWICE = 2
LEFT, RIGHT, TOP, BELOW = 90, 30, 70, 70
INK, FAINT, GRID, GROUND = "#222222", "#666666", "#e2e2e2", "#ffffff"
COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6b4c9a", "#444444",
)  # fmt: skip
"""Eight that people tell apart who see few colours (Okabe and Ito)."""
FONTS = (
    "DejaVuSans.ttf", "NotoSans-Regular.ttf", "LiberationSans-Regular.ttf", "Arial Unicode.ttf",
    "Arial.ttf", "arial.ttf",
)  # fmt: skip
TITLE, LABEL = 26, 17
MARKS = 8
"""Marks along an axis, about."""
HOURS = (1 / 24, 3 / 24, 6 / 24, 12 / 24, 1, 2, 7, 14)
MONTHS = (1, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 6000, 12_000)
MONTH = 30.44
FIRST_DAY, LAST_DAY = -719_162.0, 2_932_896.0
"""The years 1 to 9999, in days since 1970."""
LONGEST_WORD = 24
SLANT = 40
"""Degrees by which words along an axis go upwards."""

Pen = Any


class Scale(NamedTuple):
    """From values to pixels along an axis."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        """Where a value lies."""
        low, high = self.low, self.high
        if self.log:
            low, high, value = math.log10(low), math.log10(high), math.log10(value)
        return self.start + (value - low) / (high - low) * (self.end - self.start)


def drawn(chart: TableChart) -> bytes:
    """The chart as a PNG."""
    image = Image.new("RGB", (WIDE * TWICE, HIGH * TWICE), GROUND)
    pen, write = ImageDraw.Draw(image), _Writing(image)
    many = len(chart.series) > 1
    below = BELOW + write.slanted(chart.words, _slot(chart))
    top = TOP + (30 if many else 0)
    across = _across(chart)
    upward = _upward(chart, HIGH - below, top)
    _heading(chart, pen, write, many=many)
    _axes(chart, pen, write, across, upward)
    {"bar": _bars, "histogram": _bins}.get(chart.kind, _points)(chart, pen, across, upward)
    base = HIGH - below
    pen.line(_twice(LEFT, base, WIDE - RIGHT, base), fill=FAINT, width=2 * TWICE)
    held = io.BytesIO()
    image.resize((WIDE, HIGH), Image.Resampling.LANCZOS).save(held, "PNG", optimize=True)
    return held.getvalue()


def _twice(*places: float) -> list[float]:
    return [place * TWICE for place in places]


# ---------------------------------------------------------------- words


class _Writing:
    """Puts words onto the picture."""

    def __init__(self, image: Any) -> None:
        self._image, self._pen = image, ImageDraw.Draw(image)
        self._plain = False
        self._fonts = {size: self._font(size * TWICE) for size in (TITLE, LABEL)}

    def _font(self, size: int) -> Any:
        for name in FONTS:
            try:
                return ImageFont.truetype(name, size)
            except OSError:
                continue
        self._plain = True
        return ImageFont.load_default(size)

    def spelled(self, text: str) -> str:
        """The text in signs that the font has."""
        if not self._plain:
            return text
        bare = normal_form(text, "NFKD")
        return "".join(sign for sign in bare if not unicodedata.combining(sign))

    def wide(self, text: str, size: int = LABEL) -> float:
        """How wide a text is."""
        return float(self._fonts[size].getlength(self.spelled(text))) / TWICE

    def fitted(self, text: str, room: float, size: int = LABEL) -> str:
        """As much of a text as there is room for."""
        if self.wide(text, size) <= room:
            return text
        while text and self.wide(f"{text}…", size) > room:
            text = text[:-1]
        return f"{text.rstrip()}…"

    def put(self, text: str, x: float, y: float, anchor: str, **more: Any) -> None:
        """Write a text; `anchor` says which of its points lies there, as Pillow does."""
        size, ink = more.get("size", LABEL), more.get("ink", INK)
        place = (x * TWICE, y * TWICE)
        self._pen.text(place, self.spelled(text), fill=ink, font=self._fonts[size], anchor=anchor)

    def put_slanted(self, text: str, x: float, y: float) -> None:
        """Write a text upwards to the right, ending there."""
        font = self._fonts[LABEL]
        text = self.spelled(self.fitted(text, x / math.cos(math.radians(SLANT))))
        size = (int(font.getlength(text)) + 4, LABEL * TWICE * 2)
        piece = Image.new("L", size, 0)
        ImageDraw.Draw(piece).text((0, 0), text, fill=255, font=font)
        turned = piece.rotate(SLANT, expand=True)
        place = (int(x * TWICE) - turned.width + LABEL, int(y * TWICE))
        self._image.paste(Image.new("RGB", turned.size, INK), place, turned)

    def slanted(self, words: Sequence[str], slot: float) -> float:
        """How much room below words need that are slanted; 0 where they are not."""
        widest = max((self.wide(_short(word)) for word in words), default=0.0)
        return 0.0 if widest < slot - 8 else widest * 0.65


def _short(word: str) -> str:
    return word if len(word) <= LONGEST_WORD else f"{word[: LONGEST_WORD - 1]}…"


def _slot(chart: TableChart) -> float:
    """Pixels that each word has along the axis."""
    return (WIDE - LEFT - RIGHT) / max(1, len(chart.words))


def _heading(chart: TableChart, pen: Pen, write: _Writing, *, many: bool) -> None:
    title = chart.title or (f"{chart.y_name} by {chart.x_name}" if chart.y_name else "")
    title = chart.title or (chart.x_name if chart.kind == "histogram" else title)
    write.put(write.fitted(title[:200], WIDE - 40, TITLE), WIDE / 2, 20, "ma", size=TITLE)
    if not many:
        write.put(chart.y_name[:40], LEFT, TOP - 12, "ls", ink=FAINT)
        return
    x, room = float(LEFT), (WIDE - LEFT) / len(chart.series) - 50
    names = [_short(each.name) for each in chart.series]
    if sum(write.wide(name) + 50 for name in names) > WIDE - LEFT:
        names = [write.fitted(name, room) for name in names]
    for nth, name in enumerate(names):
        pen.rectangle(_twice(x, TOP - 6, x + 14, TOP + 8), fill=COLOURS[nth])
        write.put(name, x + 20, TOP + 1, "lm")
        x += write.wide(name) + 50


# ---------------------------------------------------------------- axes


def _across(chart: TableChart) -> Scale:
    if chart.along == "words":
        low, high = -0.5, len(chart.words) - 0.5
    else:
        places = [*chart.edges, *(at for each in chart.series for at in each.at)]
        low, high = min(places), max(places)
        room = (high - low) * 0.03 if chart.kind != "histogram" else 0.0
        room = max(0.5, abs(low) * 0.05) if low == high else room
        low, high = low - room, high + room
        if chart.along == "time":
            low, high = max(low, FIRST_DAY), min(high, LAST_DAY)
    return Scale(low, high, LEFT, WIDE - RIGHT)


def _upward(chart: TableChart, base: float, top: float) -> Scale:
    heights = [high for each in chart.series for high in each.high]
    if chart.log and (above := [high for high in heights if high > 0]):
        low = 10.0 ** math.floor(math.log10(min(above)))
        high = 10.0 ** math.ceil(math.log10(max(above)))
        return Scale(low, max(high, low * 10), base, top, log=True)
    low, high = min(heights), max(heights)
    if chart.kind in ("bar", "histogram"):
        low, high = min(low, 0.0), max(high, 0.0)
    if low == high:
        room = max(1.0, abs(low) * 0.05)
        low, high = (low - room, high + room) if low else (0.0, 1.0)
    step = _step(high - low)
    return Scale(math.floor(low / step) * step, math.ceil(high / step) * step, base, top)


def _step(span: float) -> float:
    """A round step by which a span has about eight marks."""
    rough = span / MARKS
    power = 10.0 ** math.floor(math.log10(rough))
    return next(each * power for each in (1, 2, 2.5, 5, 10) if each * power >= rough * 0.999)


def _axes(chart: TableChart, pen: Pen, write: _Writing, across: Scale, upward: Scale) -> None:
    for value, said in _marks(upward):
        y = upward.at(value)
        pen.line(_twice(LEFT, y, WIDE - RIGHT, y), fill=GRID, width=TWICE)
        write.put(said, LEFT - 10, y, "rm", ink=FAINT)
    base = upward.start
    if chart.along == "words":
        slant = write.slanted(chart.words, _slot(chart))
        every = math.ceil(len(chart.words) / MOST_WORDS)
        for nth, word in enumerate(chart.words):
            if nth % every == 0 and slant:
                write.put_slanted(_short(word), across.at(nth), base + 8)
            elif nth % every == 0:
                write.put(_short(word), across.at(nth), base + 10, "ma", ink=FAINT)
    else:
        for value, said in _times(across) if chart.along == "time" else _marks(across):
            x = across.at(value)
            pen.line(_twice(x, base, x, base + 6), fill=FAINT, width=TWICE)
            write.put(said, x, base + 10, "ma", ink=FAINT)
    write.put(
        write.fitted(chart.x_name, WIDE - LEFT - RIGHT), (LEFT + WIDE - RIGHT) / 2, HIGH - 12, "ms"
    )


MOST_WORDS = 40
"""Words along an axis that are written."""


def _marks(scale: Scale) -> Iterator[tuple[float, str]]:
    """Round values of a scale, and how they are written."""
    if scale.log:
        first, last = round(math.log10(scale.low)), round(math.log10(scale.high))
        every = max(1, math.ceil((last - first) / MARKS))
        for power in range(first, last + 1, every):
            yield 10.0**power, f"{10.0**power:g}"
        return
    step = _step(scale.high - scale.low)
    power = math.floor(math.log10(step) + 1e-9)
    places = max(0, -power + (abs(step / 10.0**power - 2.5) < 0.1))
    large = max(abs(scale.low), abs(scale.high)) >= 1e9 or places > 6
    plain = step >= 1 and max(abs(scale.low), abs(scale.high)) < 10_000
    for nth in range(math.ceil(scale.low / step - 1e-9), math.floor(scale.high / step + 1e-9) + 1):
        value = nth * step
        yield value, f"{value:g}" if large or plain else f"{value:,.{places}f}"


def _times(scale: Scale) -> Iterator[tuple[float, str]]:
    """Moments of a scale, which is in days since 1970, and how they are written."""
    span = scale.high - scale.low
    begin = datetime(1970, 1, 1, tzinfo=UTC)
    if span / MARKS <= HOURS[-1]:
        step = next(each for each in HOURS if each >= span / MARKS)
        for nth in range(math.ceil(scale.low / step), math.floor(scale.high / step) + 1):
            moment = begin + timedelta(days=nth * step)
            yield nth * step, f"{moment:%d %b %H:%M}" if step < 1 else f"{moment:%d %b %Y}"
        return
    months = next((each for each in MONTHS if each * MONTH >= span / MARKS), MONTHS[-1])
    first = begin + timedelta(days=scale.low)
    count = max(12, (first.year * 12 + first.month - 1) // months * months)
    while True:
        year, month = divmod(count, 12)
        if not 1 <= year <= 9999:
            return
        moment = datetime(year, month + 1, 1, tzinfo=UTC)
        value = (moment - begin) / timedelta(days=1)
        if value > scale.high:
            return
        if value >= scale.low:
            yield value, f"{moment:%Y}" if months % 12 == 0 else f"{moment:%b %Y}"
        count += months


# ---------------------------------------------------------------- what is drawn


def _points(chart: TableChart, pen: Pen, across: Scale, upward: Scale) -> None:
    for nth, each in enumerate(chart.series):
        places = [
            (across.at(at) * TWICE, upward.at(high) * TWICE)
            for at, high in zip(each.at, each.high, strict=True)
        ]
        if chart.kind == "line" and len(places) > 1:
            pen.line(places, fill=COLOURS[nth], width=3 * TWICE, joint="curve")
        if chart.kind == "scatter" or len(places) <= MOST_WORDS:
            round_ = (4 if chart.kind == "line" else 5) * TWICE
            for x, y in places:
                pen.ellipse((x - round_, y - round_, x + round_, y + round_), fill=COLOURS[nth])


def _bars(chart: TableChart, pen: Pen, across: Scale, upward: Scale) -> None:
    wide = 0.8 / len(chart.series)
    ground = upward.at(upward.low if upward.log else 0.0)
    for nth, each in enumerate(chart.series):
        for at, high in zip(each.at, each.high, strict=True):
            if upward.log and high <= 0:
                continue
            begin, end = at - 0.4 + wide * nth, at - 0.4 + wide * (nth + 1)
            top, low = sorted((upward.at(high), ground))
            pen.rectangle(_twice(across.at(begin), top, across.at(end) - 1, low), fill=COLOURS[nth])


def _bins(chart: TableChart, pen: Pen, across: Scale, upward: Scale) -> None:
    (series,), edges = chart.series, chart.edges
    for nth, high in enumerate(series.high):
        begin, end = across.at(edges[nth]), across.at(edges[nth + 1])
        pen.rectangle(
            _twice(begin, upward.at(high), max(begin + 1, end - 1), upward.at(0.0)),
            fill=COLOURS[0],
        )
