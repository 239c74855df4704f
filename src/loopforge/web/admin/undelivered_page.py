"""Undelivered: what did not arrive on a platform, or still waits, and sending it again.

The owner sees all of it, of rooms they are not in without a name; the people of a room see what is
owed to its places, as far as they may see what it was. Sending again is for who may change a room,
and for the owner, who keeps house.
"""

from litestar import get, post
from litestar.response import Redirect, Template
from msgspec import Struct

from loopforge.chat.room.permissions import may
from loopforge.chat.room.room_snapshot import RoomSnapshot
from loopforge.chat.room.room_store import PREFIX, stream_of
from loopforge.chat.service.failed_deliveries import FailedDelivery
from loopforge.errors import InputError, Unknown
from loopforge.people.accounts.account_values import Visitor
from loopforge.web.admin.hidden_rooms import veil_of
from loopforge.web.server.access_guards import RoomAccess
from loopforge.web.server.page_context import Fields, PageContext, render_page

WHAT = {
    "line": "A line",
    "reaction": "An emoji",
    "file": "A file",
    "reminder": "A reminder",
    "approval": "A question",
    "edit": "An edited line",
    "deletion": "Taking a line away",
}


class OwedRow(Struct, frozen=True, kw_only=True):
    """One thing that is owed, as a person may see it; `room` leads to it, if they may."""

    owed: FailedDelivery
    what: str
    who: str
    where: str
    platform: str
    room: str = ""
    title: str = ""


@get("/admin/owed")
async def owed(site: PageContext, owner: Visitor) -> Template:
    """All that is owed in this home."""
    veil = await veil_of(site.ledger, owner.person)
    rows = []
    for one in await site.front.owed.every():
        room = one.stream.removeprefix(PREFIX)
        scene = None
        if veil.here(one.stream) and veil.sees(one.stream, one.seq):
            scene = await site.front.rooms.scene(room, owner.person)
        rows.append(_row(site, one, scene))
    return render_page("admin-undelivered.html", owner, here="admin", section="owed", rows=rows)


@post("/admin/owed")
async def send_again(site: PageContext, owner: Visitor, data: Fields) -> Redirect:  # noqa: ARG001
    """Send one thing again, whichever room it is of."""
    event = await site.ledger.event(data.get("delivery", ""))
    if not event.stream.startswith(PREFIX):
        raise Unknown("Nothing of that kind is owed.")
    await site.front.owed.send_again(event.stream, event.id)
    return Redirect("/admin/owed", status_code=303)


@get("/rooms/{room:str}/owed")
async def owed_here(site: PageContext, place: RoomAccess) -> Template:
    """What is owed to the places of this room."""
    every = await site.front.owed.every(stream_of(place.room))
    rows = [_row(site, one, place.scene) for one in every if place.sight.sees(one.seq)]
    changes = await _changes(site, place)
    return render_page(
        "room-undelivered.html",
        place.visitor,
        here="rooms",
        place=place,
        rows=rows,
        changes=changes,
    )


@post("/rooms/{room:str}/owed")
async def send_again_here(site: PageContext, place: RoomAccess, data: Fields) -> Redirect:
    """Send one thing of this room again."""
    if not await _changes(site, place):
        raise InputError("You may not change this room; who may, can send it again.")
    await site.front.owed.send_again(stream_of(place.room), data.get("delivery", ""))
    return Redirect(f"/rooms/{place.room}/owed", status_code=303)


async def _changes(site: PageContext, place: RoomAccess) -> bool:
    state = await site.front.rooms.state(place.room)
    return may(state, place.visitor.person, "change", owner=place.owner)


def _row(site: PageContext, one: FailedDelivery, scene: RoomSnapshot | None) -> OwedRow:
    platform = one.place.partition(":")[0]
    who = ""
    if scene is not None and one.who:
        who = scene.mate(one.who).name if scene.has(one.who) else scene.person(one.who)
    return OwedRow(
        owed=one,
        what=WHAT[one.what],
        who=who,
        where=one.name if scene is not None else "",
        platform=site.surfaces.get(platform, platform.capitalize()),
        room=scene.room if scene else "",
        title=scene.called if scene else "",
    )
