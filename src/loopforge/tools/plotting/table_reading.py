r"""Reading a table's text: its columns, and what their cells are; a part of `plot_child.py`.

    read_table("year,slugs\n2025,12\n2026,40\n") -> columns "year" and "slugs"

Commas, semicolons, tabs and bars between cells; the sheets of a spreadsheet as they are read from
it; tables of Markdown. The first row names the columns, unless all of it are numbers. Does
not cover: cells that span others, days that are written 03/04/2026.
"""

import csv
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

MOST_ROWS, MOST_COLUMNS, MOST_CELL = 50_000, 200, 200
"""Rows and columns that are read, and characters of a cell."""
MOSTLY = 0.8
"""Share of a column's cells that have to be numbers, or days, for it to be one of those."""
SHEET = re.compile(r"\[sheet (\d+) of \d+(?:: .*)?\]")
RULE = re.compile(r":?-+:?")
DECIMAL_COMMA = re.compile(r"[-+]?(?:\d+|\d{1,3}(?:\.\d{3})+),(?:\d{1,2}|\d{4,})")
WITH_COMMA = re.compile(r"[-+]?(?:\d+|\d{1,3}(?:\.\d{3})+)(?:,\d+)?")
"""A number that can only have a comma before its fractions, and one that may."""
AROUND_NUMBERS = re.compile(r"[\s\u00a0\u202f'_%€$£¥]")
DAY = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})")
MONTH = re.compile(r"(\d{4})-(\d{2})")
SECONDS_OF_DAY = 86_400.0
MISSING = frozenset(("nan", "na", "n/a", "#n/a", "null", "none", "nil", "-", "–", "—", "?", "."))
"""How it is written that there is no value; in a column of words it is one of them."""
TINY, VAST = 1e-300, 1e300
"""Beyond these a number is 0, or none: what lies between two of them is to be one, too."""


class PlotRefused(Exception):
    """It cannot be drawn; the message says why, and what would be better."""


class TableColumn(NamedTuple):
    """A column: its name, and its cells from the first row on."""

    name: str
    cells: tuple[str, ...]

    def numbers(self) -> list[float | None]:
        """Its cells as numbers; None where one is none."""
        filled = [cell for cell in self.cells if _said(cell)]
        like = [cell for cell in filled if cell[0] in "+-0123456789"]
        comma = any(map(DECIMAL_COMMA.fullmatch, like)) and all(map(WITH_COMMA.fullmatch, like))
        return [number(cell, comma=comma) for cell in self.cells]

    def days(self) -> list[float | None]:
        """Its cells as days since 1970, with their fractions; None where one is no time."""
        return [day(cell) for cell in self.cells]

    @property
    def kind(self) -> str:
        """What it holds: number, time or words."""
        filled = sum(map(_said, self.cells))
        if filled and sum(each is not None for each in self.numbers()) >= MOSTLY * filled:
            return "number"
        if filled and sum(each is not None for each in self.days()) >= MOSTLY * filled:
            return "time"
        return "words"


def number(cell: str, *, comma: bool = False) -> float | None:
    """A cell as a number; with `comma`, its fractions stand behind one."""
    plain = AROUND_NUMBERS.sub("", cell).replace("\u2212", "-")
    plain = plain.replace(".", "").replace(",", ".") if comma else plain.replace(",", "")
    try:
        value = float(plain)
    except ValueError:
        return None
    if abs(value) < TINY:
        return 0.0
    return value if abs(value) < VAST else None


def _said(cell: str) -> bool:
    """Whether there is a value in it."""
    return bool(cell) and cell.casefold() not in MISSING


def day(cell: str) -> float | None:
    """A cell as a moment, in days since 1970."""
    if found := DAY.fullmatch(cell):
        cell = f"{found[3]}-{found[2]:>02}-{found[1]:>02}"
    elif MONTH.fullmatch(cell):
        cell = f"{cell}-01"
    try:
        moment = datetime.fromisoformat(cell)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return moment.timestamp() / SECONDS_OF_DAY
    except (ValueError, OverflowError):
        return None


def read_table(text: str, sheet: int = 1) -> list[TableColumn]:
    """The columns of a table. Raises PlotRefused."""
    written = _sheet(text.removeprefix("\ufeff"), sheet)
    lines = [line for line in written.splitlines() if line.strip()][: MOST_ROWS + 1]
    rows = _rows(lines)
    if not rows:
        raise PlotRefused("There is no table in it.")
    width = min(max(map(len, rows)), MOST_COLUMNS)
    rows = [(row + [""] * width)[:width] for row in rows]
    named = len(rows) > 1 and not all(number(cell) is not None for cell in rows[0])
    names = rows.pop(0) if named else [""] * width
    return [
        TableColumn(name or f"column {nth + 1}", tuple(row[nth] for row in rows))
        for nth, name in enumerate(names)
    ]


def _sheet(text: str, wanted: int) -> str:
    """The rows of one sheet of a spreadsheet; of anything else, all of it."""
    parts = SHEET.split(text)
    if len(parts) == 1:
        return text
    sheets = dict(zip(map(int, parts[1::2]), parts[2::2], strict=True))
    if wanted not in sheets:
        raise PlotRefused(f"There is no sheet {wanted}; it has {len(sheets)}.")
    return sheets[wanted]


def _rows(lines: Sequence[str]) -> list[list[str]]:
    """The rows' cells, parted by what parts most rows alike."""
    best, most = [[line] for line in lines], 0
    for parting in ("\t", ";", "|", ","):
        bare = [_unbarred(line) for line in lines] if parting == "|" else lines
        rows = _parted(bare, parting)
        width = len(rows[0]) if rows else 0
        alike = sum(len(row) == width for row in rows)
        if width > 1 and alike > most:
            best, most = rows, alike
    clean = [[" ".join(cell.split())[:MOST_CELL] for cell in row] for row in best]
    return [row for row in clean if any(row) and not all(map(RULE.fullmatch, row))]


def _parted(lines: Sequence[str], parting: str) -> list[list[str]]:
    """The cells; where a quotation mark is never closed, it is a sign like any other."""
    csv.field_size_limit(max(csv.field_size_limit(), sum(map(len, lines)) + len(lines)))
    rows = [f"{line}\n" for line in lines]  # a cell in quotation marks may go on in the next
    form: dict[str, Any] = {"delimiter": parting, "skipinitialspace": True}
    try:
        return list(csv.reader(rows, strict=True, **form))
    except csv.Error as error:
        form["quoting"] = csv.QUOTE_NONE if "end of data" in str(error) else csv.QUOTE_MINIMAL
    return list(csv.reader(rows, **form))


def _unbarred(line: str) -> str:
    return line.strip().removeprefix("|").removesuffix("|")
