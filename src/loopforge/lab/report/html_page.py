"""A page that needs nothing but itself: templates over data, with tables and figures.

What a report says and how it looks stands in shipped/report/, and nowhere else. Every text that
goes into it is one printable line, and escaped, but for the SVG of charts, which svg_drawing.py has
escaped. The page runs no script and asks for nothing: its own policy forbids both. Knows nothing of
runs.
"""

from base64 import b64encode
from hashlib import sha256
from importlib import resources

from msgspec import Struct

from loopforge.lab.charts.svg_drawing import printable_line

FOLDED = 9
"""Rows of a table above which it is folded away until somebody wants it."""


class Table(Struct, frozen=True):
    """A table; each row begins with what it is of. Columns of figures stand to the right.

    `words` are the columns that hold words. `folded` None: where it is long.
    """

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: tuple[int, ...] = (0,)
    folded: bool | None = None

    @property
    def folds(self) -> bool:
        """Whether it is folded away."""
        return len(self.rows) > FOLDED if self.folded is None else self.folded


class Figure(Struct, frozen=True):
    """A chart with what it is called, and how to read it."""

    svg: str
    title: str
    note: str = ""


class Exhibit(Struct, frozen=True):
    """Charts beside each other, the tables with their numbers, and what is to be said of them."""

    figures: tuple[Figure, ...]
    tables: tuple[Table, ...]
    notes: tuple[str, ...] = ()


def render_report(**data: object) -> str:
    """The page, whole, of what its templates ask for by name."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    env = Environment(
        loader=PackageLoader("loopforge.lab", "shipped/report"),
        autoescape=True,
        finalize=_inline,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    shipped = resources.files("loopforge.lab").joinpath("shipped/report/report.css")
    style = shipped.read_text("utf-8")
    seal = b64encode(sha256(style.encode()).digest()).decode()
    return env.get_template("page.html").render(style=style, seal=seal, **data)


def _inline(value: object) -> object:
    """Printable text that keeps the room before and after it; what is HTML already, as it is."""
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return value
    before, after = value[:1].isspace(), value[-1:].isspace()
    line = printable_line(value)
    return f"{' ' if before else ''}{line}{' ' if after and line else ''}"
