"""loopforge room: see and set up rooms. A running host takes changes up with its next turn."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from loopforge.cli import settings

app = typer.Typer(no_args_is_help=True)
Room = Annotated[str, typer.Argument(help="The room's name, such as commons.")]


@app.callback()
def _room() -> None:
    """See and set up rooms."""


def _act(context: typer.Context, room: str, name: str, argument: str) -> None:
    from loopforge.app import act_on_room

    typer.echo(asyncio.run(act_on_room(settings(context), room, name, argument)))


@app.command("list")
def list_rooms(context: typer.Context) -> None:
    """List the rooms of this home."""
    from loopforge.app import rooms_of

    for line in asyncio.run(rooms_of(settings(context))):
        typer.echo(line)


@app.command()
def policy(
    context: typer.Context,
    room: Room,
    name: Annotated[str, typer.Argument(help="talk, chain or stub; without it, say which.")] = "",
    mate: Annotated[str, typer.Option("--mate", help="For this mate alone.")] = "",
) -> None:
    """Choose which kind of mind runs in a room."""
    _act(context, room, "policy", f"{name} {mate}".strip())


@app.command()
def title(
    context: typer.Context,
    room: Room,
    text: Annotated[str, typer.Argument(help="The title; without it, the room finds one.")] = "",
) -> None:
    """Fix a room's title, or let it find its own."""
    _act(context, room, "title", text)


@app.command()
def energy(
    context: typer.Context,
    room: Room,
    capacity: Annotated[
        int | None, typer.Argument(help="Lines mates may say without a person.", min=0)
    ] = None,
    refill: Annotated[
        int | None, typer.Argument(help="What a person's line gives back.", min=0)
    ] = None,
) -> None:
    """Show or set a room's energy."""
    numbers = [str(number) for number in (capacity, refill) if number is not None]
    _act(context, room, "energy", " ".join(numbers))


@app.command()
def triggers(
    context: typer.Context,
    room: Room,
    mate: Annotated[str, typer.Argument(help="The mate's handle.")],
    calls: Annotated[
        list[str] | None,
        typer.Argument(help="Any of mention, reply, name, conversation; or none."),
    ] = None,
) -> None:
    """Choose what may call a mate in a room; without calls, say what may."""
    _act(context, room, "triggers", " ".join([mate, *(calls or [])]))


@app.command()
def add(
    context: typer.Context,
    room: Room,
    mate: Annotated[str, typer.Argument(help="The mate's handle.")],
) -> None:
    """Bring a mate into a room."""
    _act(context, room, "add", mate)


@app.command()
def remove(
    context: typer.Context,
    room: Room,
    mate: Annotated[str, typer.Argument(help="The mate's handle.")],
) -> None:
    """Send a mate out of a room."""
    _act(context, room, "remove", mate)


@app.command()
def stop(context: typer.Context, room: Room) -> None:
    """Halt everything mates do in a room."""
    _act(context, room, "stop", "")
