"""loopforge mate: make, list, show and check mates."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from loopforge.cli import settings

if TYPE_CHECKING:
    from loopforge.mates.roster import Roster

app = typer.Typer(no_args_is_help=True)
Json = Annotated[bool, typer.Option("--json", help="Write JSON, for programs.")]


@app.callback()
def _mate() -> None:
    """Make, list, show and check mates."""


def _roster(context: typer.Context) -> Roster:
    from loopforge.mates.roster import Roster

    return Roster(settings(context).home / "mates")


@app.command()
def new(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="What people call it, such as Otto.")],
    role: Annotated[str, typer.Option("--role", help="What it does, in a few words.")] = "",
    tier: Annotated[int, typer.Option("--tier", help="Which models it asks.", min=1, max=4)] = 1,
) -> None:
    """Make a new mate: a file to fill with life. It runs at once."""
    from loopforge.mates.sketch import make

    typer.echo(f"{make(_roster(context), name, role, tier)} is made. Edit it; it runs as it is.")


@app.command("list")
def list_mates(context: typer.Context, as_json: Json = False) -> None:
    """List the mates of this home, and how it stands with each."""
    from loopforge.mates.listing import as_lines, as_rows, as_table

    rows = as_rows(_roster(context))
    if as_json:
        typer.echo(json.dumps(rows, ensure_ascii=False, indent=2))
    elif _is_terminal():
        from rich.console import Console

        Console().print(as_table(rows))
    else:
        for line in as_lines(rows):
            typer.echo(line)


@app.command()
def show(
    context: typer.Context,
    handle: Annotated[str, typer.Argument(help="The mate's handle, such as maya.")],
    as_json: Json = False,
) -> None:
    """Show one mate as it runs: its fields, and the words of its prompt."""
    from loopforge.mates.listing import fields, portrait

    roster = _roster(context)
    mate = roster.get(handle)
    if as_json:
        typer.echo(json.dumps(fields(mate), ensure_ascii=False, indent=2))
    else:
        typer.echo(portrait(mate, roster.path(handle)))


@app.command()
def check(
    context: typer.Context,
    what: Annotated[str, typer.Argument(help="A file or a handle; without it, all mates.")] = "",
    as_json: Json = False,
) -> None:
    """Say everything that is wrong with mates' files, by line. Exit code 1 if anything is."""
    from loopforge.mates.listing import examine

    found = examine(_roster(context), what)
    if as_json:
        typer.echo(
            json.dumps(
                [{"file": bad.source, "line": bad.line, "problem": bad.problem} for bad in found],
                ensure_ascii=False,
                indent=2,
            )
        )
    else:
        for bad in found:
            typer.echo(str(bad))
        if not found:
            typer.echo("All is well.")
    if found:
        raise typer.Exit(1)


def _is_terminal() -> bool:
    import sys

    return sys.stdout.isatty()
