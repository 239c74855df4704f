"""Taking along: a room, a mate, and everything about oneself, as files that a browser saves.

They are made while they are sent. Who may see a room takes along what they see of it; a mate's file
may be had by everybody who may read it; and what is told of a person, by that person alone.
"""

import asyncio
from collections.abc import AsyncIterator

from litestar import Response, get
from litestar.response import Stream

from loopforge.chat.export.person_export import PersonExport
from loopforge.chat.export.room_export import FORMS, RoomExport
from loopforge.errors import Unknown
from loopforge.mates.cards.card_export import CardForm, export_card
from loopforge.people.accounts.account_values import Visitor
from loopforge.web.room.mate_pages import Word, standing_of
from loopforge.web.server.access_guards import RoomAccess
from loopforge.web.server.file_response import content_disposition
from loopforge.web.server.page_context import PageContext

DEAR = 10
"""How many changes it counts as: six at once, then one in twenty seconds."""


def _saved(chunks: AsyncIterator[bytes], name: str, media: str) -> Stream:
    headers = {
        "Content-Disposition": content_disposition(name, inline=False),
        "Cache-Control": "no-store",
    }
    return Stream(chunks, media_type=media, headers=headers)


@get("/rooms/{room:str}/export/{form:str}")
async def room(site: PageContext, place: RoomAccess, form: Word) -> Stream:
    """The room as its visitor may see it."""
    site.paces.changes.take(place.visitor.person, DEAR)
    export = RoomExport(
        site.front, site.artifacts, place.scene, place.sight, site.clock.now(), site.live.zone
    )
    chunks = export.stream(form)
    return _saved(chunks, f"{place.room}.{form}", FORMS[form])


@get("/mates/{handle:str}/export")
async def mate(site: PageContext, visitor: Visitor, handle: Word) -> Response[bytes]:
    """The mate's file, which is all that it is, as it lies in the home."""
    site.paces.changes.take(visitor.person)
    one = await standing_of(site, handle)
    text = site.chronicle.text(one.file)
    if text is None:
        raise Unknown("Its file is gone; its history has what it was.")
    return Response(
        text.encode("utf-8", "replace"),
        media_type="text/markdown",
        headers={"Content-Disposition": content_disposition(one.file, inline=False)},
    )


@get("/mates/{handle:str}/export/{form:str}")
async def card(
    site: PageContext, visitor: Visitor, handle: Word, form: CardForm
) -> Response[bytes]:
    """The mate as a character card: its portrait with the card in it, or JSON."""
    site.paces.changes.take(visitor.person)
    one = await standing_of(site, handle)
    mate = site.roster.get(one.handle or handle)
    name = f"{mate.handle}.{'png' if form == 'png' else 'json'}"
    portrait = await site.portraits.picture(mate.handle, mate.colour) if form == "png" else b""
    return Response(
        await asyncio.to_thread(export_card, mate, form, portrait),
        media_type="image/png" if form == "png" else "application/json",
        headers={"Content-Disposition": content_disposition(name, inline=False)},
    )


@get("/you/export")
async def you(site: PageContext, visitor: Visitor) -> Stream:
    """Everything about the visitor."""
    site.paces.changes.take(visitor.person, DEAR)
    export = PersonExport(
        site.ledger,
        site.accounts,
        site.artifacts,
        visitor.person,
        site.clock.now(),
        site.live.zone,
        site.beliefs,
    )
    return _saved(export.stream(), "me.zip", FORMS["zip"])
