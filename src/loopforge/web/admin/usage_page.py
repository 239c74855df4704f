"""Usage as a page: what models were asked, by day, mate, model, room and person, and its cost.

Bars are SVG with presentation attributes, for the content security policy allows no style
attribute; each figure stands beside its bar in words.
"""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Annotated

from litestar import get
from litestar.params import Parameter
from litestar.response import Template
from msgspec import Struct
from msgspec.structs import replace

from loopforge.budgets.model_usage import Key, UsageRow
from loopforge.chat.room.room_store import PREFIX
from loopforge.chat.service.room_list import titled_for
from loopforge.people.accounts.account_values import Visitor
from loopforge.web.account.account_pages import name_of
from loopforge.web.admin.hidden_rooms import HiddenRooms, veil_of
from loopforge.web.server.page_context import PageContext, render_page

SPANS = (7, 30, 90)
LONGEST = 400
"""Days that are drawn at most."""
TALL = 60
"""Units of a full column."""
DRAWN: tuple[Key, ...] = ("mate", "model", "stream", "person")
"""What is drawn over time, each by itself."""


class UsageColumn(Struct, frozen=True, kw_only=True):
    """One day as it is drawn: `left` and `height` in units, and the figures it stands for."""

    row: UsageRow
    left: int
    height: float


def columns(rows: Sequence[UsageRow], first: date, last: date) -> list[UsageColumn]:
    """A column for each day from the first to the last, also where nothing was used."""
    known = {row.day: row for row in rows}
    count = min((last - first).days + 1, LONGEST)
    days = [(last - timedelta(days=count - 1 - nth)).isoformat() for nth in range(count)]
    most = max((row.tokens for row in rows), default=0) or 1
    made = []
    for nth, day in enumerate(days):
        row = known.get(day, UsageRow(day=day))
        height = round(row.tokens / most * TALL, 2)
        made.append(UsageColumn(row=row, left=nth * 10, height=max(height, 1) if row.tokens else 0))
    return made


async def named(site: PageContext, owner: Visitor, row: UsageRow, veil: HiddenRooms) -> UsageRow:
    """The row with its room called as the owner may know it: by its title, if they are in it."""
    called = veil.room(row.stream)
    if row.stream.startswith(PREFIX) and veil.here(row.stream):
        scene = await site.front.rooms.scene(row.stream.removeprefix(PREFIX), owner.person)
        called = titled_for(scene, veil.sights[row.stream]).title or called
    return replace(row, stream=called)


async def _past(
    site: PageContext, key: Key, since: date | None, first: date, last: date
) -> dict[str, list[UsageColumn]]:
    """For each mate (model, room, person) what it used day by day."""
    by_name: dict[str, list[UsageRow]] = {}
    for row in await site.usage.by(("day", key), since):
        by_name.setdefault(getattr(row, key), []).append(row)
    return {name: columns(rows, first, last) for name, rows in by_name.items()}


def _met(site: PageContext, row: UsageRow) -> UsageRow:
    """The row with its person called by name."""
    return replace(row, person=name_of(site, row.person) if row.person else "")


@get("/admin/usage")
async def usage(
    site: PageContext, owner: Visitor, days: Annotated[int, Parameter(ge=0, le=LONGEST)] = 30
) -> Template:
    """What was used in the last days; with 0, ever."""
    today = site.clock.now().date()
    since = today - timedelta(days=days - 1) if days else None
    veil = await veil_of(site.ledger, owner.person)
    by_day = await site.usage.by(("day",), since)
    first = since or (date.fromisoformat(by_day[-1].day) if by_day else today)
    rooms = await site.usage.by(("stream",), since)
    past = {key: await _past(site, key, since, first, today) for key in DRAWN}
    people = await site.usage.by(("person",), since)
    return render_page(
        "admin-usage.html",
        owner,
        here="admin",
        section="usage",
        days=days,
        spans=SPANS,
        total=await site.usage.total(since),
        columns=columns(by_day, first, today),
        by_day=by_day,
        by_mate=await site.usage.by(("mate",), since),
        by_model=await site.usage.by(("model",), since),
        by_room=[(row.stream, await named(site, owner, row, veil)) for row in rooms],
        by_person=[(row.person, _met(site, row)) for row in people],
        by_surface=await site.usage.by(("surface",), since),
        past=past,
        tall=TALL,
    )
