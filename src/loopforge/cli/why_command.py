"""loopforge why EVENT_ID: the flight record of a line."""

from __future__ import annotations

from typing import Annotated

import typer

from loopforge.cli import on_app


def command(
    context: typer.Context,
    event: Annotated[str, typer.Argument(help="Id of a line, or of any event of a turn.")],
) -> None:
    """Why a line was said: all that is on record of it."""
    typer.echo(on_app(context, lambda app: app.front.why(event)))
