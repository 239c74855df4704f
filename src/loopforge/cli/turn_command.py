"""loopforge turn: look into one turn of a mate, and replay it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from loopforge.cli import event_id, run_with_app

if TYPE_CHECKING:
    from loopforge.app import App
    from loopforge.chat.why.turn_replay import ReplayResult

app = typer.Typer(no_args_is_help=True)


@app.command()
def replay(
    context: typer.Context,
    event: Annotated[
        str,
        typer.Argument(
            help="A line, or any event of the turn: its id, or its place, such as commons#74."
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Let a mate decide again on what was recorded: the same plan, or where does it first differ?

    Exits with 1 when it decides otherwise now.
    """
    from loopforge.chat.why.turn_replay import replay_turn

    async def work(app: App) -> ReplayResult:
        return await replay_turn(app.ledger, app.policies, await event_id(app, event))

    found = run_with_app(context, work)
    if as_json:
        typer.echo(json.dumps({"outcome": found.outcome, "detail": found.detail}))
    else:
        typer.echo(f"{found.outcome}: {found.detail}")
    if found.outcome not in ("same", "erased"):
        raise typer.Exit(1)
