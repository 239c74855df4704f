"""Tables written in Markdown, for platforms that show none: text in columns.

Finds the tables that stand at the top of a text and lays their rows out for a font in which every
letter is as wide as another. Knows no platform; a table in a list or a quote is not found.
"""

from collections.abc import Sequence
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec import Struct
from rich.cells import cell_len

from loopforge.core.limits.markdown_bounds import exceeds_markdown_bounds

WIDEST = 100
"""Columns of letters; a wider table is laid out without padding, which no screen would show."""

Rows = tuple[tuple[str, ...], ...]
"""The cells of a table as plain text, its head first."""


class MarkdownTable(Struct, frozen=True):
    """A table in a text: its first line, the line after its last, and its rows."""

    first: int
    last: int
    rows: Rows


def align_columns(rows: Sequence[Sequence[str]]) -> str:
    """The rows as lines, in columns, with a line under the first."""
    count = max((len(row) for row in rows), default=0)
    filled = [[*row, *[""] * (count - len(row))] for row in rows]
    wide = [max(map(cell_len, column)) for column in zip(*filled, strict=True)]
    padded = sum(wide) + 2 * len(wide) <= WIDEST
    lines = []
    for n, row in enumerate(filled):
        if padded:
            cells = [cell + " " * (wide[k] - cell_len(cell)) for k, cell in enumerate(row)]
        else:
            cells = row
        lines.append(("  " if padded else " | ").join(cells).rstrip())
        if n == 0:
            lines.append("  ".join("-" * w for w in wide) if padded else "-" * 12)
    return "\n".join(lines)


def find_markdown_tables(text: str) -> list[MarkdownTable]:
    """The tables at the top of a text."""
    if "|" not in text or "-" not in text or exceeds_markdown_bounds(text):
        return []
    tokens = _reader().parse(text)
    found = []
    for at, token in enumerate(tokens):
        if token.type == "table_open" and token.level == 0 and token.map:
            first, last = token.map
            found.append(MarkdownTable(first, last, table_rows(tokens, at)))
    return found


def table_rows(tokens: Sequence[Token], at: int) -> Rows:
    """The cells of the table that opens at this token."""
    found: list[list[str]] = []
    for token in tokens[at:]:
        if token.type == "table_close":
            break
        if token.type == "tr_open":
            found.append([])
        elif token.type == "inline":
            found[-1].append(plain(token))
    return tuple(map(tuple, found))


def plain(inline: Token) -> str:
    """The words of a line, without markup."""
    breaks = ("softbreak", "hardbreak")
    parts = [" " if child.type in breaks else child.content for child in inline.children or ()]
    return " ".join("".join(parts).split())


@cache
def _reader() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False, "maxNesting": 20}).enable("table")
