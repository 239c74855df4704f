"""Why?: the flight record of a line as a page, as a panel beside the room, as text and as JSON.

All four come from one record, made for this visitor: what they could not see at the time is
withheld from each of them alike. A record of another room, or of a time when they were not there,
does not exist.
"""

from typing import Any, Literal

import msgspec
from litestar import Response, get
from litestar.enums import MediaType
from litestar.response import Redirect, Template

from loopforge.chat.room.room_store import stream_of
from loopforge.chat.why.flight_record import LineRecord, RecordedCall, TurnRecord
from loopforge.chat.why.plain_summary import why_record_as_text, why_story
from loopforge.chat.why.record_building import build_redacted_record
from loopforge.errors import Unknown
from loopforge.runtime.ports import LineSource
from loopforge.web.server.access_guards import RoomAccess
from loopforge.web.server.page_context import Asked, PageContext, render_page
from loopforge.web.server.page_templates import marked_time

Format = Literal["page", "text", "json"]


@get("/rooms/{room:str}/calls/{event:str}")
async def calls(site: PageContext, place: RoomAccess, event: str) -> Template:
    """The tools that were used in the turn of a line, as a fragment to stand under it."""
    record = await _record(site, place, event)
    requests = record.requests if isinstance(record, TurnRecord) else ()
    found = [one for one in requests if isinstance(one, RecordedCall)]
    return render_page("line-calls.html", place.visitor, here="rooms", place=place, calls=found)


async def _record(site: PageContext, place: RoomAccess, event: str) -> TurnRecord | LineRecord:
    names = {card.handle: card.name for card in place.scene.mates}
    stream = stream_of(place.room)
    return await build_redacted_record(
        site.ledger, event, stream, place.sight, names, owner=place.owner
    )


async def source_of(site: PageContext, place: RoomAccess, line: str) -> LineSource | None:
    """Where more is told of a line that tells of what goes on beside the room."""
    try:
        said = await site.front.line(place.room, line, place.sight)
    except Unknown:
        return None
    return await site.front.commands.routed.source(said)


@get("/rooms/{room:str}/source/{event:str}")
async def line_source(site: PageContext, place: RoomAccess, event: str) -> Redirect:
    """To the page of what a line tells of."""
    if (source := await source_of(site, place, event)) is None:
        raise Unknown("That line tells of nothing that has a page.")
    return Redirect(source.page)


@get("/rooms/{room:str}/why/{event:str}")
async def why(
    site: PageContext,
    place: RoomAccess,
    event: str,
    request: Asked,
    format: Format = "page",
) -> Template | Response[Any]:
    """The record of a mate's turn, or of a person's line, as far as this visitor may know it."""
    if (source := await source_of(site, place, event)) is not None:
        return Redirect(f"{source.record}{'?format=json' if format == 'json' else ''}")
    record = await _record(site, place, event)
    if format == "json":
        pretty = msgspec.json.format(msgspec.json.encode(record), indent=2)
        return Response(pretty, media_type=MediaType.JSON)
    if format == "text":
        return Response(why_record_as_text(record, site.live.zone), media_type=MediaType.TEXT)
    panel = "hx-request" in request.headers
    about = record.id if isinstance(record, LineRecord) else record.turn
    return render_page(
        "why-panel.html" if panel else "why.html",
        place.visitor,
        here="rooms",
        record=record,
        story=why_story(record, marked_time),
        place=place,
        panel=panel,
        address=f"{site.address}/rooms/{place.room}/why/{about}",
    )
