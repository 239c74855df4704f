"""loopforge room: see, set up, take along and delete rooms.

A running host takes changes up by itself.
"""

from __future__ import annotations

from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loopforge.cli import Handle, Output, Yes, in_home, is_confirmed, run_with_app, write_new
from loopforge.cli.rooms import places_command
from loopforge.errors import HostTaken

if TYPE_CHECKING:
    from loopforge.app import App
    from loopforge.ledger.erasure.text_erasure import Erasure

app = typer.Typer(no_args_is_help=True, help="See, set up, take along and delete rooms.")
PATIENCE = 60.0
"""Seconds in which a running host should have forgotten a room."""
Room = Annotated[str, typer.Argument(help="The room's name, such as commons.")]


def _act(context: typer.Context, room: str, name: str, argument: str) -> None:
    """Do a room's command from outside, as the owner."""

    async def done(app: App) -> str:
        await places_command.check_room(app, room)
        return await app.front.commands.act(room, "", name, argument)

    typer.echo(run_with_app(context, done))


@app.command("list")
@in_home
async def list_rooms(home: App) -> None:
    """List the rooms of this home."""
    names = await home.rooms.names()
    for name in names:
        scene = await home.rooms.scene(name)
        mates = ", ".join(card.handle for card in scene.mates)
        typer.echo(f"{name}\t{scene.title or '(no title)'}\t{mates}")
    if not names:
        typer.echo("No room yet; `loopforge chat` opens the first.")


@app.command()
def policy(
    context: typer.Context,
    room: Room,
    name: Annotated[
        str,
        typer.Argument(
            help="talk (answers in one go), chain (draft, doubt, answer) or stub (asks no model); "
            "without it, show which."
        ),
    ] = "",
    mate: Annotated[str, typer.Option("--mate", help="For this mate alone.")] = "",
) -> None:
    """Choose by which policy (way of thinking) mates in a room decide what to say."""
    _act(context, room, "policy", f"{name} {mate}".strip())


@app.command()
def title(
    context: typer.Context,
    room: Room,
    text: Annotated[str, typer.Argument(help="The title; without it, the room finds one.")] = "",
) -> None:
    """Name a room; without a title it finds one by itself."""
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
    """Show or set a room's energy: how many lines mates may say before a person speaks again."""
    numbers = [str(number) for number in (capacity, refill) if number is not None]
    _act(context, room, "energy", " ".join(numbers))


@app.command()
def triggers(
    context: typer.Context,
    room: Room,
    mate: Handle,
    calls: Annotated[
        list[str] | None,
        typer.Argument(help="Any of mention, reply, name, conversation; or none."),
    ] = None,
) -> None:
    """Choose what makes a mate answer in a room; without calls, show what does."""
    _act(context, room, "triggers", " ".join([mate, *(calls or [])]))


@app.command()
def add(context: typer.Context, room: Room, mate: Handle) -> None:
    """Bring a mate into a room."""
    _act(context, room, "add", mate)


@app.command()
def remove(context: typer.Context, room: Room, mate: Handle) -> None:
    """Take a mate out of a room."""
    _act(context, room, "remove", mate)


@app.command()
def stop(context: typer.Context, room: Room) -> None:
    """Stop everything mates do in a room."""
    _act(context, room, "stop", "")


app.command()(places_command.places)
app.command()(places_command.admit)
app.command()(places_command.join)
app.command()(places_command.part)

# ---------------------------------------------------------------- taking along


class ExportFormat(StrEnum):
    """The ways in which a room is taken along."""

    md = "md"
    json = "json"
    zip = "zip"


@app.command()
@in_home
async def export(
    home: App,
    room: Room,
    form: Annotated[
        ExportFormat,
        typer.Option("--format", help="Text, JSON, or both with all files."),
    ] = ExportFormat.zip,
    output: Output = None,
) -> None:
    """Save a room to a file: all that was said in it, as it stands now.

    What was forgotten or deleted is not in it, nor what mates thought.
    """
    from loopforge.chat.export.room_export import RoomExport
    from loopforge.chat.room.member_visibility import EVERYTHING

    scene = await home.rooms.scene(room)
    export = RoomExport(
        home.front, home.artifacts, scene, EVERYTHING, home.stamp.clock.now(), home.live.zone
    )
    await write_new(output or Path(f"{room}.{form}"), export.stream(form))


# ---------------------------------------------------------------- deleting


@app.command()
@in_home
async def delete(
    home: App,
    room: Room,
    yes: Yes = False,
    keep_quotes: Annotated[
        bool, typer.Option("--keep-quotes", help="Leave what quotes it in other rooms.")
    ] = False,
    keep_memories: Annotated[
        bool,
        typer.Option(
            "--keep-memories", help="Leave what mates keep of it that rests on other rooms, too."
        ),
    ] = False,
) -> str:
    """Delete a room: what was said in it is forgotten for good. Its name is not given again.

    Quotes of it in other rooms are forgotten, too, and what mates remember of it, unless you
    say otherwise.
    """
    from loopforge.artifacts.file_retention import referenced_hashes

    kept = {"keep_quotes": keep_quotes, "keep_memories": keep_memories}
    stream = f"room:{room}"
    would = await home.closing.weigh(room, **kept)
    question = f"Delete the room {room}? {_told(would, would=True)} This cannot be undone."
    if not is_confirmed(question, yes):
        return "Nothing was deleted."
    files = await home.ledger.look(lambda connection: referenced_hashes(connection, stream))
    await home.closing.announce(room, "", **kept)
    done = await _forgotten(home, stream, files, would)
    if done is None:
        return "Deleted. The home is running and busy; what was said is forgotten soon."
    return f"Deleted. {_told(done, would=False)}"


async def _forgotten(
    app: App, stream: str, files: frozenset[str], would: Erasure
) -> Erasure | None:
    """Wait until a running host has forgotten a closed room and its files, or else do it here.

    What was forgotten (by the host: what was to be); None if it is still at it.
    """
    from loopforge.host_lock import lock_home

    clock = app.stamp.clock
    began = clock.ticks()
    while clock.ticks() - began < PATIENCE:
        with suppress(HostTaken), lock_home(app.settings.home, wait=False):
            return await app.closing.finish(stream)
        if not await app.closing.unfinished(stream) and not await _lying(app, files):
            return would
        await clock.sleep(0.1)
    return None


async def _lying(app: App, files: frozenset[str]) -> bool:
    """Whether a file lies there still that nothing holds any more."""
    from loopforge.artifacts.file_retention import referenced_hashes

    for hash in files - await app.ledger.look(referenced_hashes):
        if await app.artifacts.has(hash):
            return True
    return False


def _told(erasure: Erasure, *, would: bool) -> str:
    quotes = f" and {erasure.quoting} elsewhere that quote it" if erasure.quoting else ""
    if erasure.resting:
        quotes += f" and {erasure.resting} of memories that rest on it"
    verb = "would be" if would else "are"
    return f"{erasure.named:,} texts{quotes} {verb} forgotten.{erasure.unlooked}"
