"""loopforge docs: the documents that texts point to, such as docs/web.md; no clone is needed.

The wheel carries them beside the package; a clone has them in its folder. Opens no home.
"""

import pydoc
import re
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

import loopforge
from loopforge.errors import Unknown
from loopforge.runtime.installation.extras import clone


def command(
    page: Annotated[
        str, typer.Argument(help="Which one, such as web or docs/web.md; else all are listed.")
    ] = "",
) -> None:
    """List the documents, or read one: in a terminal page by page, in a pipe as it stands."""
    folder = (clone() or Path(loopforge.__file__).parent) / "docs"
    found = [*folder.glob("[a-z]*.md"), *folder.parent.glob("CHANGELOG.md")]
    pages = {path.stem.lower(): path for path in sorted(found, key=lambda path: path.stem.lower())}
    if not page:
        for name, path in pages.items():
            with path.open(encoding="utf-8") as text:
                title = next(text).removeprefix("# ").rstrip()
            typer.echo(f"{name}\t{title}")
        return
    if not (shown := pages.get(page.removeprefix("docs/").removesuffix(".md").lower())):
        raise Unknown(f"There is no document `{page}`; `loopforge docs` lists them.")
    said = shown.read_text("utf-8")
    pydoc.pager(_laid_out(said) if sys.stdout.isatty() else said)


def _laid_out(text: str) -> str:
    """The page for people at a terminal: rows of tables as wide as that, at most 100 columns."""
    from rich import markdown
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.table import Table

    class Heading(markdown.Heading):
        def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
            yield f"{'#' * int(self.tag[1:])} {self.text.plain}"

    class FoldedTable(markdown.TableElement):
        def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
            for table in super().__rich_console__(console, options):
                assert isinstance(table, Table)
                table.show_lines = True  # a row of several lines ends somewhere
                for column in table.columns:
                    column.overflow = "fold"
                yield table

    page = markdown.Markdown(_with_backticks(text), hyperlinks=False)
    own: dict[str, Any] = {"heading_open": Heading, "table_open": FoldedTable}
    page.elements = {**page.elements, **own}  # type: ignore[misc]
    console = Console(color_system=None, highlight=False, markup=False)
    console.width = min(console.width, 100)
    with console.capture() as laid_out:
        console.print(page)
    return "\n".join(line.rstrip() for line in laid_out.get().splitlines()) + "\n"


def _with_backticks(text: str) -> str:
    """Code in sentences keeps its backticks: without colours nothing else tells it apart."""
    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    parts[::2] = [re.sub(r"(?<!`)`([^`]+)`(?!`)", r"`` `\1` ``", part) for part in parts[::2]]
    return "".join(parts)
