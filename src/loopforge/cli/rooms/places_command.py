"""loopforge room places, admit, join and part: which places of platforms are part of which room.

A channel or a group of a platform and a room of the browser can be one conversation. A
running host takes it up by itself. room_command.py offers these commands among its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

import typer

from loopforge.cli import Json, in_home, print_rows
from loopforge.errors import InputError, Unknown

if TYPE_CHECKING:
    from loopforge.app import App
    from loopforge.chat.room.platform_channels import ChannelSpot, Kind

Room = Annotated[str, typer.Argument(help="The room's name, such as commons.")]
Place = Annotated[
    str, typer.Argument(help="The place's key, as `loopforge room places` shows it: platform:4711.")
]


@in_home
async def places(home: App, as_json: Json = False) -> None:
    """List the places of platforms that are part of rooms: key, name, kind, room."""
    from loopforge.io.platforms.surface_plugin import surfaces_of
    from loopforge.io.session import Sessions

    rows = []
    for platform in surfaces_of(home.settings):
        for key, room in (await Sessions(home.front).channels.all(platform)).items():
            there = (await home.front.rooms.state(room)).places[key]
            rows.append({"place": key, "name": str(there.name), "kind": there.kind, "room": room})
    none = "No place is part of a room yet; one is as soon as somebody speaks there."
    print_rows(rows, as_json, lambda row: "\t".join(row.values()), none)


@in_home
async def join(home: App, room: Room, place: Place) -> None:
    """Make a place part of a room: what is said in one is said in both from now on."""
    from loopforge.io.session import Sessions

    sessions = Sessions(home.front)
    spot = await _spot(home, place)
    await check_room(home, room)
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


async def check_room(home: App, room: str) -> None:
    """Let be what is a room here. Raises Unknown, which says what to do."""
    if room in await home.rooms.names():
        return
    why = f"There is no room called {room!r}"
    if room == home.settings.room:
        way = "it opens when somebody enters it, in the browser or by `loopforge chat`."
        raise Unknown(f"{why} yet: {way}")
    raise Unknown(f"{why}. `loopforge room list` names those there are.")


async def _spot(home: App, key: str) -> ChannelSpot:
    """The place as its room knows it, else by its key alone. Raises InputError."""
    from loopforge.chat.room.platform_channels import ChannelSpot
    from loopforge.io.platforms.surface_plugin import surfaces_of
    from loopforge.io.session import Sessions

    surfaces = surfaces_of(home.settings)
    if not any(each.names(key) for each in surfaces.values()):
        raise InputError(
            f"{key!r} is no place. A place is written with its platform ({', '.join(surfaces)}), a "
            "colon and its number there; `loopforge room places` lists those that are known."
        )
    if room := await Sessions(home.front).known(key):
        there = (await home.front.rooms.state(room)).places[key]
        return ChannelSpot(key, str(there.name), cast("Kind", there.kind))
    private = "@" in key and ":-" not in key
    kind: Kind = "private" if private else "thread" if "/" in key else "group"
    return ChannelSpot(key, key, kind)


@in_home
async def admit(home: App, place: Place) -> str:
    """Let mates talk in the server or group of a place, though nobody who was let in spoke there.

    The key stands in what a mate says there when somebody speaks to it. To end it, part the place.
    """
    from loopforge.io.platforms.surface_plugin import surfaces_of
    from loopforge.io.session import Sessions

    spot = await _spot(home, place)
    if spot.kind == "private":
        raise InputError(f"{place} is a private talk: `loopforge people admit` lets people in.")
    there = surfaces_of(home.settings)[place.partition(":")[0]]
    policy = there.grounds.strip().casefold()
    if policy not in ("known", "open"):
        raise InputError(
            f"{there.name}_{there.plugin.places} lists where mates talk ({policy}): add the "
            "place's id there."
        )
    await Sessions(home.front).room(spot, ())
    return f"Mates talk in {spot.name} from now on, whoever speaks to them there."


@in_home
async def part(home: App, place: Place) -> str:
    """Make a place part of no room. When somebody speaks there, it opens a room of its own."""
    from loopforge.io.session import Sessions

    sessions = Sessions(home.front)
    spot = await _spot(home, place)
    room = await sessions.known(place)
    if not room:
        raise Unknown(f"{place} is part of no room; `loopforge room places` lists those.")
    await sessions.part(place, "somebody at this machine decided so")
    return f"{spot.name} is no longer part of {room}."
