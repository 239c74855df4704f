"""Admin: the owner's pages. What there is, who may come in, what answers, what it costs.

Every handler names `owner`, so for anybody else these pages do not exist. Being the owner is no
leave to read along: see hidden_rooms.py. Here are the overview, rooms and models; settings
are in settings_page.py, people and invites in people_invites.py, usage in usage_page.py, the ledger
in ledger_page.py.
"""

import asyncio
from datetime import datetime
from typing import Any

from litestar import get, post
from litestar.response import Redirect, Template
from msgspec import Struct

from loopforge.chat.room.room_statistics import RoomCounts, closed_rooms, room_counts
from loopforge.chat.room.room_store import PREFIX
from loopforge.chat.service.room_list import titled_for
from loopforge.models.files.model_library import free_memory
from loopforge.models.providers.known_services import PLACES
from loopforge.people.accounts.account_values import Visitor
from loopforge.web.admin import ledger_page
from loopforge.web.admin.hidden_rooms import HiddenRooms, veil_of
from loopforge.web.server.flash_messages import FlashMessages
from loopforge.web.server.page_context import Asked, Fields, PageContext, render_page

# ---------------------------------------------------------------- the overview


@get("/admin")
async def overview(request: Asked, site: PageContext, owner: Visitor) -> Template:
    """The few figures that matter, and the ways on."""
    accounts = await site.accounts.signing.accounts()
    invites = await site.accounts.links.every()
    heads = await site.ledger.heads()
    month = site.clock.now().date().replace(day=1)
    models = site.models.rows()
    closed = await site.ledger.look(closed_rooms)
    return render_page(
        "admin.html",
        owner,
        here="admin",
        section="admin",
        people=sum(not account.closed for account in accounts),
        sessions=sum(account.sessions for account in accounts),
        invites=sum(invite.state == "open" for invite in invites),
        rooms=sum(name.startswith(PREFIX) and name not in closed for name in heads),
        events=sum(heads.values()),
        usable=sum(not row.needs for row in models),
        keyless=site.models.keyless,
        month=await site.usage.total(since=month),
        set=sum(each.source != "default" for each in site.live.states()),
        examiner=ledger_page.examiner_of(request),
        platforms=_platforms(site),
        owed=len(await site.front.owed.every(most=50)),
        backed_up=await asyncio.to_thread(site.backed_up),
        backup_to=site.live.now.backup_to,
    )


class PlatformRow(Struct, frozen=True, kw_only=True):
    """An account of a platform: whose it is, and how it stands, in words. Knows no token."""

    platform: str
    mates: str
    state: str
    well: bool


def _platforms(site: PageContext) -> list[PlatformRow]:
    known = site.front.rooms.mates
    rows = []
    for platform, accounts in site.platforms().items():
        for handles, state in accounts.items():
            names = (known[h].name if h in known else h for h in handles.split(", "))
            rows.append(
                PlatformRow(
                    platform=site.surfaces.get(platform, platform.capitalize()),
                    mates="all mates" if handles == "*" else ", ".join(names),
                    state=state,
                    well=state.startswith("connected"),
                )
            )
    return rows


# ---------------------------------------------------------------- rooms


class RoomRow(Struct, frozen=True, kw_only=True):
    """A room as its housekeeper sees it. `title` is "" where they are not in it.

    `size` is in bytes, events and texts; -1 where it was not measured.
    """

    name: str
    slug: str
    title: str
    here: bool
    veiled: bool
    people: int
    mates: tuple[str, ...]
    lines: int
    last: datetime | None
    size: int


@get("/admin/rooms")
async def rooms(site: PageContext, owner: Visitor, sizes: bool = False) -> Template:
    """All rooms; with `sizes`, how much each takes."""
    veil = await veil_of(site.ledger, owner.person)
    closed = await site.ledger.look(closed_rooms)
    streams = [name for name in await site.ledger.heads(PREFIX) if name not in closed]
    census = await site.ledger.look(lambda found: room_counts(found, streams, sizes=sizes))
    rows = [await _room(site, owner, veil, census, stream) for stream in streams]
    rows.sort(key=lambda row: (row.last is not None, row.last), reverse=True)
    return render_page(
        "admin-rooms.html",
        owner,
        here="admin",
        section="rooms",
        rows=rows,
        sizes=sizes,
        hidden=sum(not row.here for row in rows),
    )


async def _room(
    site: PageContext, owner: Visitor, veil: HiddenRooms, census: RoomCounts, stream: str
) -> RoomRow:
    here, slug = veil.here(stream), stream.removeprefix(PREFIX)
    title = ""
    if here:
        scene = await site.front.rooms.scene(slug, owner.person)
        title = titled_for(scene, veil.sights[stream]).title
    return RoomRow(
        name=veil.room(stream),
        slug=slug if here else "",
        title=title,
        here=here,
        veiled=stream in veil.veiled,
        people=census.people.get(stream, 0),
        mates=tuple(census.mates.get(stream, ())),
        lines=census.lines.get(stream, 0),
        last=census.last.get(stream),
        size=census.sizes.get(stream, 0 if census.sizes else -1),
    )


# ---------------------------------------------------------------- models


@get("/admin/models")
async def models(request: Asked, site: PageContext, owner: Visitor, told: str = "") -> Template:
    """What is configured, which keys are there, and what answers."""
    await site.models.look()
    notes: FlashMessages = request.app.state["notes"]
    return await models_page(site, owner, told=notes.read(owner.person, told))


FORMS: dict[str, Any] = {
    "services": {name: each for name, each in PLACES.items() if each.base_url},
    "trial": None,
    "told": "",
    "error": "",
    "typed": {},
    "back": "",
}
"""What the forms for a better model are given before anything was typed."""


async def models_page(site: PageContext, owner: Visitor, **more: Any) -> Template:
    """The page of models; `more` is what came of what was done there."""
    rows = site.models.rows()
    return render_page(
        "admin-models.html",
        owner,
        here="admin",
        section="models",
        usable=[row for row in rows if not row.needs],
        missing=[row for row in rows if row.needs],
        notes=site.models.notes(),
        tiers=site.models.tiers(),
        places=site.models.places(),
        keyless=site.models.keyless,
        kept=site.live.kept_keys(),
        files=site.library.rows(site.live.saved.embedded_file),
        library=site.library,
        switch=site.switch,
        free=free_memory(),
        library_place=site.live.now.embedded_files_from,
        **{"found": None, **FORMS, **more},
    )


@post("/admin/models/check")
async def check(request: Asked, site: PageContext, owner: Visitor, data: Fields) -> Template:
    """Ask one model whether it is there; a fragment for a script, else the page."""
    found = await site.models.check(data.get("name", ""))
    if request.headers.get("hx-request"):
        return render_page("admin-model-answer.html", owner, found=found, status=200)
    return await models_page(site, owner, found=found, status=200)


# ---------------------------------------------------------------- addresses of before


@get(["/house", "/house/{rest:path}"])
async def house(owner: Visitor, rest: str = "") -> Redirect:  # noqa: ARG001
    """These pages had another name."""
    return Redirect(f"/admin{rest.rstrip('/')}")
