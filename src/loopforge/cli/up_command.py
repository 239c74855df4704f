"""loopforge up: run a home and open its room."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
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
    room is open here; with --headless, and where nobody can type (`make run` in a container, with
    no terminal), until SIGTERM or ctrl+c. Where there is a screen, the web room opens in a browser
    (not with web_browser = false). `loopforge chat` comes in from another terminal.
    """
    from loopforge.host import converse, watch

    if not headless and not plain and _nobody():
        headless = True
        typer.echo("There is no terminal here: the home is open until SIGTERM or ctrl+c.", err=True)
    if headless:
        raise typer.Exit(asyncio.run(watch(settings(context), typer.echo, show=True)))
    raise typer.Exit(asyncio.run(converse(settings(context), plain=plain, show=True)))


def _nobody() -> bool:
    """Whether standard input is closed or a device that is no terminal, such as /dev/null."""
    if sys.stdin is None:
        return True
    try:
        return stat.S_ISCHR(os.fstat(0).st_mode) and not os.isatty(0)
    except OSError:
        return True
