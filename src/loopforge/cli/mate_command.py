"""loopforge mate: make, list, show, check, connect and move mates, and see how they came to be.

How they grow (history, diff, undo, fork, merge, traits, story) stands in cli/growth.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from loopforge.cli import (
    Handle,
    Json,
    Output,
    connect_command,
    print_json,
    run_with_app,
    settings_from_context,
    write_new,
)
from loopforge.cli.growth import growth_commands
from loopforge.core.egress.hidden_signs import as_visible_row
from loopforge.errors import InputError

if TYPE_CHECKING:
    from loopforge.app import App
    from loopforge.mates.mate_roster import MateRoster

app = typer.Typer(
    no_args_is_help=True,
    help="Make, list, show, check and connect mates, and see how they came to be.",
)


def _roster(context: typer.Context) -> MateRoster:
    from loopforge.mates.mate_roster import MateRoster

    return MateRoster(settings_from_context(context).home / "mates")


@app.command()
def new(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="What people call it, such as Otto.")],
    role: Annotated[str, typer.Option("--role", help="What it does, in a few words.")] = "",
    tier: Annotated[
        Literal[1, 2, 3, 4],
        typer.Option("--tier", help="Which models it asks: 1 (small and cheap) to 4 (the best)."),
    ] = 1,
) -> None:
    """Make a new mate: a file to fill with life. It runs at once."""
    from loopforge.mates.new_mate import create_mate_file

    typer.echo(
        f"{create_mate_file(_roster(context), name, role, tier)} is made. Edit it; it runs as "
        "it is."
    )


@app.command()
def add(
    context: typer.Context,
    file: Annotated[
        Path, typer.Argument(help="A mate's file, such as maya.md, or a character card.")
    ],
    handle: Annotated[
        str,
        typer.Option("--handle", help="Its handle here: the short name after the @, such as maya."),
    ] = "",
) -> None:
    """Bring in a mate from its file, or from a character card (PNG or JSON). It runs at once.

    Cards are those of SillyTavern and others, versions 1 to 3. Somebody else wrote the card, so
    read the mate that was made of it before you use it. No tools come with cards.
    """
    from loopforge.core.mates.character_card import LARGEST
    from loopforge.mates.cards.card_import import read_file
    from loopforge.mates.new_mate import import_mate_file

    try:
        with file.open("rb") as opened:
            data = opened.read(LARGEST + 1)
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}.") from error
    brought = read_file(data, file.name, handle)
    typer.echo(
        f"{import_mate_file(_roster(context), brought.text, file.name)} is here. It runs at once."
    )
    for said in brought.told:
        typer.echo(said)


class CardChoice(StrEnum):
    """What a character card is written as."""

    png = "png"
    v1 = "v1"
    v2 = "v2"
    v3 = "v3"


@app.command()
def export(
    context: typer.Context,
    handle: Handle,
    output: Output = None,
    card: Annotated[
        CardChoice | None,
        typer.Option("--card", help="As a character card: a PNG, or JSON of version 1, 2 or 3."),
    ] = None,
) -> None:
    """Save a mate as a file to take along: `loopforge mate add` brings it in elsewhere.

    With --card for other programs, such as SillyTavern; without its tools and its model.
    """
    import asyncio

    from loopforge.mates.cards.card_export import export_card

    roster = _roster(context)
    mate, path = roster.get(handle), roster.path(handle)

    async def content() -> AsyncIterator[bytes]:
        yield export_card(mate, card.value) if card else path.read_bytes()

    name = f"{mate.handle}.{'png' if card == 'png' else 'json'}" if card else path.name
    asyncio.run(write_new(output or Path(name), content()))


@app.command("list")
def list_mates(context: typer.Context, as_json: Json = False) -> None:
    """List the mates of this home, and whether each can answer."""
    from loopforge.mates.mate_listing import as_lines, as_rows, as_table

    rows = as_rows(_roster(context))
    if as_json:
        print_json(rows)
    elif _is_terminal():
        from rich.console import Console

        Console().print(as_table(rows))
    else:
        for line in as_lines(rows):
            typer.echo(line)


@app.command()
def show(
    context: typer.Context,
    handle: Handle,
    as_json: Json = False,
    version: Annotated[
        str, typer.Option("--version", help="The file as it was, by its hash or the hash's start.")
    ] = "",
) -> None:
    """Show one mate as it is now: its fields, and the words of its prompt."""
    from loopforge.mates.mate_listing import describe_mate, mate_fields

    if version:
        text = run_with_app(context, lambda app: _text(app, handle, version))
        typer.echo(json.dumps(text, ensure_ascii=False) if as_json else text, nl=as_json)
        return
    roster = _roster(context)
    mate = roster.get(handle)
    if as_json:
        print_json(mate_fields(mate))
    else:
        typer.echo(describe_mate(mate, roster.path(handle)))


async def _text(app: App, handle: str, start: str) -> str:
    """The file of the newest version whose hash starts so. Raises Unknown."""
    versions = await app.chronicle.versions(handle)
    hash = next((one.hash for one in versions if one.hash.startswith(start)), start)
    return await app.chronicle.version(handle, hash)


@app.command()
def check(
    context: typer.Context,
    what: Annotated[str, typer.Argument(help="A file or a handle; without it, all mates.")] = "",
    as_json: Json = False,
) -> None:
    """Say everything that is wrong with mates' files, by line. Exits with 1 if anything is."""
    from loopforge.mates.mate_listing import examine_mates

    found = examine_mates(_roster(context), what)
    if as_json:
        print_json(
            [{"file": bad.source, "line": bad.line, "problem": bad.problem} for bad in found]
        )
    else:
        typer.echo("\n".join(as_visible_row(str(each)) for each in found) or "All is well.")
    if found:
        raise typer.Exit(1)


for command in growth_commands.COMMANDS:
    app.command()(command)
app.command()(connect_command.connect)
app.command()(connect_command.disconnect)


def _is_terminal() -> bool:
    import sys

    return sys.stdout.isatty()
