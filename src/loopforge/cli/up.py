"""loopforge up: run a home and open its room."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from loopforge.cli import settings


def command(
    context: typer.Context,
    plain: Annotated[
        bool, typer.Option("--plain", help="Lines in, lines out, also where there is a terminal.")
    ] = False,
) -> None:
    """Run this home and open its room.

    In an empty folder this makes a home there. Everything else that a home serves runs as long as
    its room is open here.
    """
    from loopforge.app import converse

    raise typer.Exit(asyncio.run(converse(settings(context), plain=plain)))
