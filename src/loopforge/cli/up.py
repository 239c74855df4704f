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
    headless: Annotated[
        bool, typer.Option("--headless", help="Open no terminal; run until told to end.")
    ] = False,
) -> None:
    """Run this home: its rooms, its web room, and a terminal here.

    In an empty folder this makes a home there. Everything that a home serves runs as long as its
    room is open here; with --headless, until SIGTERM or ctrl+c.
    """
    from loopforge.host import converse, watch

    if headless:
        raise typer.Exit(asyncio.run(watch(settings(context), typer.echo)))
    raise typer.Exit(asyncio.run(converse(settings(context), plain=plain)))
