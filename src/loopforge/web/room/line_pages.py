"""What people do to single lines of a room: change, delete, react, pin, and read them as written.

Each is one of the rooms' own verbs; what a person may see decides of which lines they may speak,
and the rooms decide whose lines may be changed. The page is told by the stream.
"""

from typing import Any

import regex
from litestar import Response, get, post
from litestar.response import Template

from loopforge.chat.commands.command_request import CommandRequest
from loopforge.chat.commands.line_versions import Wish
from loopforge.chat.rooms_api import spoken_text
from loopforge.core.act_guard import LONGEST_EMOJI
from loopforge.core.events import Event
from loopforge.errors import InputError, Unknown
from loopforge.web.room.room_pages import form_response
from loopforge.web.server.access_guards import RoomAccess
from loopforge.web.server.page_context import Asked, Fields, PageContext, render_page

NOWHERE = "There is no such line here, or its words were forgotten."
EMOJI = regex.compile(r"(?=.*[\p{Extended_Pictographic}\p{Regional_Indicator}\u20e3])\X")


@get("/rooms/{room:str}/lines/{line:str}")
async def source(site: PageContext, place: RoomAccess, line: str) -> Response[dict[str, str]]:
    """A line's words as they were written, to be changed, copied or quoted."""
    return Response({"text": await _words(site, place, line)})


@post("/rooms/{room:str}/lines/{line:str}/edit")
async def edit(
    request: Asked,
    site: PageContext,
    place: RoomAccess,
    line: str,
    data: Fields,
) -> Response[Any]:
    """Change a line of one's own."""
    site.paces.changes.take(place.visitor.person)
    await _words(site, place, line)
    await site.front.rooms.edit(place.room, place.visitor.person, line, data.get("text", ""))
    return form_response(request, place.room)


@post("/rooms/{room:str}/lines/{line:str}/delete")
async def delete(request: Asked, site: PageContext, place: RoomAccess, line: str) -> Response[Any]:
    """Delete a line of one's own, whose words may be forgotten already; its files go along."""
    site.paces.changes.take(place.visitor.person)
    await _line(site, place, line)
    await site.front.rooms.delete(place.room, place.visitor.person, line)
    return form_response(request, place.room)


@post("/rooms/{room:str}/lines/{line:str}/react")
async def react(
    request: Asked,
    site: PageContext,
    place: RoomAccess,
    line: str,
    data: Fields,
) -> Response[Any]:
    """Put an emoji on a line, or take it back."""
    site.paces.changes.take(place.visitor.person)
    emoji = data.get("emoji", "").strip()
    if len(emoji) > LONGEST_EMOJI or not EMOJI.fullmatch(emoji):
        raise InputError("Choose one emoji.")
    await _words(site, place, line)
    back = data.get("back", "") == "yes"
    await site.front.react(place.room, place.visitor.person, line, emoji, back=back)
    return form_response(request, place.room)


@post("/rooms/{room:str}/lines/{line:str}/pin")
async def pin(
    request: Asked,
    site: PageContext,
    place: RoomAccess,
    line: str,
    data: Fields,
) -> Response[Any]:
    """Pin a line, or take that back."""
    site.paces.changes.take(place.visitor.person)
    await _words(site, place, line)
    back = data.get("back", "") == "yes"
    await site.front.pin(place.room, place.visitor.person, line, back=back)
    return form_response(request, place.room)


@post("/rooms/{room:str}/lines/{line:str}/answer")
async def answer_anew(
    request: Asked,
    site: PageContext,
    place: RoomAccess,
    line: str,
    data: Fields,
) -> Response[Any]:
    """Have a mate's last line said anew, gone on from, or stand in another of its versions."""
    site.paces.changes.take(place.visitor.person)
    await _words(site, place, line)
    person, owner = place.visitor.person, place.owner
    asked = CommandRequest(
        room=place.room, person=person, surface="web", owner=owner, guest=not owner
    )
    nth = data.get("version", "")
    if nth.isdecimal() and len(nth) < 6:
        await site.front.versions.choose(asked, int(nth), line)
    else:
        how: Wish = "more" if data.get("how", "") == "more" else "again"
        await site.front.versions.want(asked, how, line)
    return form_response(request, place.room)


@get("/rooms/{room:str}/pins")
async def pins(site: PageContext, place: RoomAccess) -> Template:
    """The lines that are pinned in this room."""
    found = await site.front.pins(place.room, place.sight)
    lines = [
        (event, await site.hub.render.line(event, place.scene, place.owner)) for event in found
    ]
    return render_page("pinned-lines.html", place.visitor, here="rooms", place=place, lines=lines)


async def _words(site: PageContext, place: RoomAccess, line: str) -> str:
    """The words of a line of people or mates. Raises Unknown where this person may not see it."""
    words = spoken_text(await _line(site, place, line))
    if words is not None:
        return words
    raise Unknown(NOWHERE)


async def _line(site: PageContext, place: RoomAccess, line: str) -> Event:
    """A line as it stands; its words may be forgotten. Raises Unknown where it may not be seen."""
    event = await site.front.line(place.room, line, place.sight)
    if place.sight.follows(event):
        return event
    raise Unknown(NOWHERE)
