"""loopforge docs: the documents that texts point to, such as docs/web.md; no clone is needed.

The wheel carries them beside the package; a clone has them in its folder. Opens no home.
"""

from __future__ import annotations

import pydoc
from pathlib import Path
from typing import Annotated

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
    pydoc.pager(shown.read_text("utf-8"))
