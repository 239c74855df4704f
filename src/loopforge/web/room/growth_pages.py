"""How a mate grew, as a page: its story with the lines behind it; undo, fork, merge, traits.

Everybody who is signed in may read the story; what came from a talk stands there for those alone
who may see the lines that it rests on. The owner of the home alone changes anything.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, get_args

from litestar import get, post
from litestar.response import Redirect, Template
from msgspec import Struct

from loopforge.chat.room.room_store import PREFIX
from loopforge.core.growth.growth_events import MergeTake
from loopforge.core.room_vocabulary import Heard, Said
from loopforge.errors import BadMate, InputError, Unknown
from loopforge.mates.growth_story import StoryReader
from loopforge.mates.mate_merging import MergePlan
from loopforge.mates.mate_roster import RosterStanding
from loopforge.people.accounts.account_values import Visitor
from loopforge.web.account.account_pages import name_of
from loopforge.web.room.mate_editor import diff_lines
from loopforge.web.room.mate_pages import Word, key_of, path_of, standing_of
from loopforge.web.server.page_context import Fields, PageContext, render_page

TOLD = {
    "undone": "Taken back, as a new change; what it was stays on record.",
    "yes": "It is so from now on.",
    "no": "It stays as it is.",
    "merged": "Merged. Undo takes it back.",
}


class SeenLine(Struct, frozen=True, kw_only=True):
    """A line that led to a change, as whoever may see it reads it; `path` is where it stands."""

    who: str
    text: str
    at: datetime
    path: str


async def evidence_of(
    site: PageContext, visitor: Visitor, lines: Sequence[str]
) -> dict[str, SeenLine]:
    """Those of these lines that still stand and that a visitor may see, by their ids."""
    found: dict[str, SeenLine] = {}
    for id in lines:
        try:
            room = (await site.ledger.event(id)).stream.removeprefix(PREFIX)
            sight = await site.front.lobby.sight(room, visitor.person)
            if not sight.here:
                continue
            event = await site.front.line(room, id, sight)
        except Unknown:
            continue
        body = event.body
        if isinstance(body, Heard | Said) and body.text.text is not None:
            who = body.mate if isinstance(body, Said) else name_of(site, body.person)
            path = f"/rooms/{room}?at={event.seq}#l-{event.seq}"
            found[id] = SeenLine(who=who, text=str(body.text), at=event.at, path=path)
    return found


def _reader(site: PageContext, visitor: Visitor, seen: Mapping[str, SeenLine]) -> StoryReader:
    """The visitor, as the one who is told; what rests on no line is for the owner alone."""

    def sees(lines: Sequence[str]) -> bool:
        return all(line in seen for line in lines) if lines else visitor.right == "owner"

    return StoryReader(lambda by: name_of(site, by), sees)


@get("/mates/{handle:str}/growth")
async def growth(site: PageContext, visitor: Visitor, handle: Word, told: Word = "") -> Template:
    """The story of a mate, and what it asks for."""
    one = await standing_of(site, handle)
    return await _growth(site, visitor, one, told=TOLD.get(told, ""))


async def _growth(
    site: PageContext, visitor: Visitor, one: RosterStanding, *, told: str = "", error: str = ""
) -> Template:
    lines: dict[str, SeenLine] = {}

    async def reader(cited: Sequence[str]) -> StoryReader:
        lines.update(await evidence_of(site, visitor, cited))
        return _reader(site, visitor, lines)

    handle = one.handle
    story = await site.growth.changes.story(handle, reader) if handle else []
    sees = _reader(site, visitor, lines).sees
    changes = await site.growth.changes.changes(handle) if handle else []
    return render_page(
        "mate-growth.html",
        visitor,
        here="mates",
        key=key_of(one),
        one=one,
        story=story[::-1],
        lines=lines,
        changes={change.number: change for change in changes},
        newest=changes[-1].number if changes else 0,
        asked=[(each, sees(each.lines)) for each in await site.growth.traits.open(handle)]
        if handle
        else [],
        others=[mate for mate in site.roster.mates().values() if mate.handle != handle],
        told=told,
        error=error,
        status=400 if error else 200,
    )


@post("/mates/{handle:str}/growth/undo")
async def undo(
    site: PageContext, owner: Visitor, handle: Word, data: Fields
) -> Template | Redirect:
    """Take one change back."""
    one, number = await standing_of(site, handle), data.get("number", "")
    try:
        wanted = int(number[:15]) if number.isdecimal() else 0
        await site.growth.changes.undo(one.handle, wanted, owner.person)
    except InputError as error:
        return await _growth(site, owner, one, error=str(error))
    return Redirect(f"{path_of(key_of(one), 'growth')}?told=undone", status_code=303)


@post("/mates/{handle:str}/growth/trait")
async def decide(
    site: PageContext, owner: Visitor, handle: Word, data: Fields
) -> Template | Redirect:
    """Say yes or no to what a mate asks for."""
    one, answer = await standing_of(site, handle), data.get("answer", "")
    try:
        if answer not in ("yes", "no"):
            raise InputError("Say yes or no.")
        await site.growth.traits.decide(
            data.get("proposal", ""), approved=answer == "yes", by=owner.person
        )
    except InputError as error:
        return await _growth(site, owner, one, error=str(error))
    return Redirect(f"{path_of(key_of(one), 'growth')}?told={answer}", status_code=303)


@post("/mates/{handle:str}/growth/fork")
async def fork(
    site: PageContext, owner: Visitor, handle: Word, data: Fields
) -> Template | Redirect:
    """Make two mates of one."""
    one = await standing_of(site, handle)
    try:
        made = await site.growth.forking.fork(one.handle, data.get("name", ""), owner.person)
    except InputError as error:
        return await _growth(site, owner, one, error=str(error))
    return Redirect(f"{path_of(made.handle)}?told=new", status_code=303)


# ---------------------------------------------------------------- merging


@get("/mates/{handle:str}/growth/merge")
async def merge_page(
    site: PageContext, owner: Visitor, handle: Word, other: Word = ""
) -> Template | Redirect:
    """What taking in another mate comes to, with each conflict to be decided."""
    one = await standing_of(site, handle)
    try:
        plan = await site.growth.merging.plan(one.handle, other)
    except InputError as error:
        return await _growth(site, owner, one, error=str(error))
    return await _plan(site, owner, one, plan)


async def _plan(
    site: PageContext,
    owner: Visitor,
    one: RosterStanding,
    plan: MergePlan,
    *,
    error: str = "",
    takes: Mapping[str, MergeTake] = {},
) -> Template:
    rows = {each.about: diff_lines(each.a, each.b) for each in plan.conflicts}
    cited = [line for each in plan.conflicts for line in each.lines]
    sees = _reader(site, owner, await evidence_of(site, owner, cited)).sees
    hidden = {each.about for each in plan.conflicts if each.memory and not sees(each.lines)}
    more: dict[str, Any] = {"status": 400} if error else {}
    return render_page(
        "mate-merge.html",
        owner,
        here="mates",
        key=key_of(one),
        one=one,
        plan=plan,
        rows=rows,
        hidden=hidden,
        takes=takes,
        error=error,
        **more,
    )


@post("/mates/{handle:str}/growth/merge")
async def merge(
    site: PageContext, owner: Visitor, handle: Word, data: Fields
) -> Template | Redirect:
    """Merge as it was decided, if both are as they were shown."""
    one = await standing_of(site, handle)
    ways: tuple[MergeTake, ...] = get_args(MergeTake)
    said = {name.removeprefix("take-"): v for name, v in data.items() if name.startswith("take-")}
    takes = {about: way for about, v in said.items() for way in ways if way == v}
    try:
        plan = await site.growth.merging.plan(one.handle, data.get("other", ""))
    except InputError as error:
        return await _growth(site, owner, one, error=str(error))
    if data.get("prints", "") != " ".join(plan.prints):
        changed = "One of the two was changed meanwhile. Nothing was merged; look again."
        return await _plan(site, owner, one, plan, error=changed)
    try:
        await site.growth.merging.merge(plan, takes, owner.person)
    except (InputError, BadMate) as error:
        return await _plan(site, owner, one, plan, error=str(error), takes=takes)
    return Redirect(f"{path_of(key_of(one), 'growth')}?told=merged", status_code=303)
