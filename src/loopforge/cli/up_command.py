"""loopforge up: run a home and open its room."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from loopforge.cli import settings_from_context
from loopforge.errors import NotInstalled

if TYPE_CHECKING:
    from loopforge.setting_defaults import Settings


def command(
    context: typer.Context,
    plain: Annotated[
        bool, typer.Option("--plain", help="Plain lines of text, in place of the full screen.")
    ] = False,
    headless: Annotated[
        bool, typer.Option("--headless", help="Open no terminal; run until told to end.")
    ] = False,
    model: Annotated[
        bool,
        typer.Option("--model", help="First fetch the small model (109 MB), where it is missing."),
    ] = False,
) -> None:
    """Run this home: its rooms, its pages in the browser, and a room in this terminal.

    In an empty folder this makes a home there; there and in a home, `loopforge` alone does the
    same. It all runs until you leave the room here; with --headless, and where nobody can type
    (such as a container without a terminal), until ctrl+c or SIGTERM. Where there is a screen, a
    browser opens (not with web_browser = false). `loopforge chat` joins from another terminal.
    """
    from loopforge.host import run_host, run_terminal_chat

    if not headless and not plain and _nobody():
        headless = True
        typer.echo("There is no terminal here: the home is open until SIGTERM or ctrl+c.", err=True)
    there = settings_from_context(context)
    _provide_model(there, wanted=model, asked=not headless and not plain)
    if headless:
        raise typer.Exit(asyncio.run(run_host(there, typer.echo, show=True)))
    raise typer.Exit(asyncio.run(run_terminal_chat(there, plain=plain, show=True)))


def _provide_model(there: Settings, *, wanted: bool, asked: bool) -> None:
    """Fetch the small model where it is missing: if it is wanted, or who sits here says yes.

    Nobody is asked whose mates have another model. Raises NotInstalled if it is wanted in vain.
    """
    from loopforge.models.embedded.embedded_install import (
        ABOUT,
        install_embedded_model,
        is_embedded_model_missing,
    )

    if not is_embedded_model_missing():
        return
    if wanted:
        install_embedded_model()
        return
    if not asked or not there.embedded_model or there.keys or not sys.stdin.isatty():
        return
    typer.echo(f"No language model is here yet. {ABOUT}.")
    if typer.confirm("Fetch it now?", default=True):
        try:
            install_embedded_model()
        except NotInstalled as error:
            typer.echo(str(error), err=True)


def _nobody() -> bool:
    """Whether standard input is closed or a device that is no terminal, such as /dev/null."""
    if sys.stdin is None:
        return True
    try:
        return stat.S_ISCHR(os.fstat(0).st_mode) and not os.isatty(0)
    except OSError:
        return True
