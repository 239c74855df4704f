"""A sheet: one HTML page that needs nothing but itself, made of few kinds of block.

What a report says is data: sections with sentences, tables, charts, commands. How it looks stands
in shipped/report.html and shipped/report.css, and nowhere else; there every text is escaped, but
for the SVG of charts, which svg_drawing.py has escaped. The page runs no script and asks for
nothing: its own policy forbids both. Knows nothing of runs.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from importlib import resources
from typing import TypeAlias

from msgspec import Struct

from loopforge.lab.charts.svg_drawing import printable

FOLDED = 9
"""Rows of a table above which it is folded away until somebody wants it."""


class Code(Struct, frozen=True):
    """Something to be typed, or a name of a file."""

    text: str


class Strong(Struct, frozen=True):
    """What is to be seen first."""

    text: str


class Link(Struct, frozen=True):
    """A way within the page (#...), or to a page beside it."""

    text: str
    to: str


class Quote(Struct, frozen=True):
    """Somebody's own words."""

    text: str


class Under(Struct, frozen=True):
    """A cause on a line of its own, under what it led to; `depth` from 0 to 3."""

    text: str
    depth: int


Words: TypeAlias = "str | Code | Strong | Link | Quote | Under"


class Says(Struct, frozen=True):
    """A paragraph. `how`: "" plain, "lead" first, "quiet" by the way, "answer" in large letters."""

    words: tuple[Words, ...]
    how: str = ""


class Missing(Struct, frozen=True):
    """There is nothing to show, and what would give it, in one line; `commands` in backticks."""

    text: str

    @property
    def words(self) -> tuple[Words, ...]:
        """The line, with what is to be typed as such."""
        parts = self.text.split("`")
        return tuple(Code(part) if nth % 2 else part for nth, part in enumerate(parts))


class Table(Struct, frozen=True):
    """A table; each row begins with what it is of. Columns of figures stand to the right.

    `words` are the columns that hold words. `folded` None: where it is long.
    """

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Words, ...], ...]
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


class Figures(Struct, frozen=True):
    """Charts beside each other."""

    figures: tuple[Figure, ...]


class Facts(Struct, frozen=True):
    """Names with what they stand for."""

    facts: tuple[tuple[str, tuple[Words, ...]], ...]


class Listing(Struct, frozen=True):
    """Lines to be typed as they stand."""

    lines: tuple[str, ...]


class Items(Struct, frozen=True):
    """A list of sentences."""

    items: tuple[tuple[Words, ...], ...]


class Part(Struct, frozen=True):
    """A part of a section, with a heading and a name to link to."""

    id: str
    title: str
    blocks: tuple[Block, ...]


Block: TypeAlias = "Says | Missing | Table | Figure | Figures | Facts | Listing | Items | Part"


class Section(Struct, frozen=True):
    """A section: its name to link to, its heading, what is in it."""

    id: str
    title: str
    blocks: tuple[Block, ...]


class Sheet(Struct, frozen=True):
    """A page. `first` is its first line, `kind` stands above its title, `foot` at its end."""

    kind: str
    title: str
    sections: tuple[Section, ...]
    foot: str = ""
    first: str = ""


def says(*words: Words, how: str = "") -> Says:
    """A paragraph of these."""
    return Says(words, how)


def html(sheet: Sheet) -> str:
    """The page, whole."""
    from jinja2 import Environment, StrictUndefined

    env = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    env.filters |= {"plain": printable, "printed": _inline, "kind": lambda one: type(one).__name__}
    style = _shipped("report.css")
    seal = b64encode(sha256(style.encode()).digest()).decode()
    return env.from_string(_shipped("report.html")).render(sheet=sheet, style=style, seal=seal)


def _inline(text: str) -> str:
    """Printable text that keeps the room before and after it."""
    before, after = text[:1].isspace(), text[-1:].isspace()
    line = printable(text)
    return f"{' ' if before else ''}{line}{' ' if after and line else ''}"


def _shipped(name: str) -> str:
    return resources.files("loopforge.lab").joinpath(f"shipped/{name}").read_text("utf-8")
