"""loopforge room places, admit, join and part: which places of platforms are part of which room.

A channel or a group of a platform and a room of the browser can be one conversation. A
running host takes it up by itself. room_command.py offers these commands among its own.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast

import typer

from loopforge.cli import Json, print_rows, run_with_app
from loopforge.errors import InputError, Unknown

if TYPE_CHECKING:
    from loopforge.app import App
    from loopforge.chat.room.platform_channels import ChannelSpot, Kind
    from loopforge.io.session import Sessions

Room = Annotated[str, typer.Argument(help="The room's name, such as commons.")]
Place = Annotated[
    str, typer.Argument(help="The place's key, as `loopforge room places` shows it: platform:4711.")
]
T = TypeVar("T")


def _run(context: typer.Context, work: Callable[[App, Sessions], Coroutine[Any, Any, T]]) -> T:
    async def run(app: App) -> T:
        from loopforge.io.session import Sessions

        return await work(app, Sessions(app.front))

    return run_with_app(context, run)


def places(context: typer.Context, as_json: Json = False) -> None:
    """List the places of platforms that are part of rooms: key, name, kind, room."""

    async def work(app: App, sessions: Sessions) -> list[dict[str, str]]:
        from loopforge.io.platforms.surface_plugin import surfaces_of

        rows = []
        for platform in surfaces_of(app.settings):
            for key, room in (await sessions.channels.all(platform)).items():
                there = (await app.front.rooms.state(room)).places[key]
                row = {"place": key, "name": str(there.name), "kind": there.kind, "room": room}
                rows.append(row)
        return rows

    none = "No place is part of a room yet; one is as soon as somebody speaks there."
    print_rows(_run(context, work), as_json, lambda row: "\t".join(row.values()), none)


def join(context: typer.Context, room: Room, place: Place) -> None:
    """Make a place part of a room: what is said in one is said in both from now on."""

    async def work(app: App, sessions: Sessions) -> None:
        spot = await _spot(app, sessions, place)
        if room not in await app.rooms.names():
            raise Unknown(_unknown(room, app.settings.room))
        before = await sessions.known(place)
        if before == room:
            typer.echo(f"{spot.name} is part of {room} already.")
            return
        await sessions.join(spot, room, ())
        typer.echo(f"{spot.name} is part of {room} now: what is said in one is said in both.")
        if before:
            typer.echo(f"It was part of {before}; what was said before stays there.")
        if spot.kind == "private":
            typer.echo("It is a private talk: its person hears everything said in the room.")

    _run(context, work)


def _unknown(room: str, own: str) -> str:
    why = f"There is no room called {room!r}"
    if room == own:
        return (
            f"{why} yet: it opens when somebody enters it, in the browser or by `loopforge chat`."
        )
    return f"{why}. `loopforge room list` names those there are."


async def _spot(app: App, sessions: Sessions, key: str) -> ChannelSpot:
    """The place as its room knows it, else by its key alone. Raises InputError."""
    from loopforge.chat.room.platform_channels import ChannelSpot
    from loopforge.io.platforms.surface_plugin import surfaces_of

    surfaces = surfaces_of(app.settings)
    if not any(each.names(key) for each in surfaces.values()):
        raise InputError(
            f"{key!r} is no place. A place is written with its platform ({', '.join(surfaces)}), a "
            "colon and its number there; `loopforge room places` lists those that are known."
        )
    if room := await sessions.known(key):
        there = (await app.front.rooms.state(room)).places[key]
        return ChannelSpot(key, str(there.name), cast("Kind", there.kind))
    private = "@" in key and ":-" not in key
    kind: Kind = "private" if private else "thread" if "/" in key else "group"
    return ChannelSpot(key, key, kind)


def admit(context: typer.Context, place: Place) -> None:
    """Let mates talk in the server or group of a place, though nobody who was let in spoke there.

    The key stands in what a mate says there when somebody speaks to it. To end it, part the place.
    """

    async def work(app: App, sessions: Sessions) -> None:
        from loopforge.io.platforms.surface_plugin import surfaces_of

        spot = await _spot(app, sessions, place)
        if spot.kind == "private":
            raise InputError(f"{place} is a private talk: `loopforge people admit` lets people in.")
        there = surfaces_of(app.settings)[place.partition(":")[0]]
        policy = there.grounds.strip().casefold()
        if policy not in ("known", "open"):
            raise InputError(
                f"{there.name}_{there.plugin.places} lists where mates talk ({policy}): add the "
                "place's id there."
            )
        await sessions.room(spot, ())
        typer.echo(f"Mates talk in {spot.name} from now on, whoever speaks to them there.")

    _run(context, work)


def part(context: typer.Context, place: Place) -> None:
    """Make a place part of no room. When somebody speaks there, it opens a room of its own."""

    async def work(app: App, sessions: Sessions) -> None:
        spot = await _spot(app, sessions, place)
        room = await sessions.known(place)
        if not room:
            raise Unknown(f"{place} is part of no room; `loopforge room places` lists those.")
        await sessions.part(place, "somebody at this machine decided so")
        typer.echo(f"{spot.name} is no longer part of {room}.")

    _run(context, work)
