"""loopforge turn: look into one turn of a mate, and replay it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from loopforge.cli import event_id, in_home

if TYPE_CHECKING:
    from loopforge.app import App

app = typer.Typer(no_args_is_help=True)


@app.command()
@in_home
async def replay(
    home: App,
    event: Annotated[
        str,
        typer.Argument(
            help="A line, or any event of the turn: its id, or its place, such as commons#74; "
            "`last` is the last line of a mate."
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Let a mate decide again on what was recorded: the same plan, or where does it first differ?

    Exits with 1 when it decides otherwise now.
    """
    from loopforge.chat.why.turn_replay import replay_turn

    found = await replay_turn(home.ledger, home.policies, await event_id(home, event))
    if as_json:
        typer.echo(json.dumps({"outcome": found.outcome, "detail": found.detail}))
    else:
        typer.echo(f"{found.outcome}: {found.detail}")
    if found.outcome not in ("same", "erased"):
        raise typer.Exit(1)
