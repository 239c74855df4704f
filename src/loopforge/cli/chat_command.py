"""loopforge chat: talk in a room, in the terminal or through a pipe."""

import asyncio
from typing import Annotated

import typer

from loopforge.cli import settings_from_context


def command(
    context: typer.Context,
    mate: Annotated[
        str, typer.Option("--mate", help="Talk with this mate alone, in a room of its own.")
    ] = "",
    room: Annotated[
        str, typer.Option("--room", help="The room to talk in; else the one that opens by default.")
    ] = "",
    name: Annotated[
        str, typer.Option("--as", help="Your name; else the one in the settings.")
    ] = "",
    plain: Annotated[
        bool, typer.Option("--plain", help="Plain lines of text, in place of the full screen.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print every event as JSON.")] = False,
) -> None:
    """Talk in a room, in the terminal or through a pipe.

    The first terminal of a home runs it; others join, and one of them takes over when it leaves.
    Without a terminal, lines are read from standard input, and the answers are printed.
    """
    from loopforge.host import run_terminal_chat

    code = asyncio.run(
        run_terminal_chat(
            settings_from_context(context),
            room=room,
            name=name,
            mate=mate,
            plain=plain,
            as_json=as_json,
        )
    )
    raise typer.Exit(code)
