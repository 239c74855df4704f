"""Mates as pages: who is here, one in full, its file with a live check, its versions, a try-out.

Everybody who is signed in may look at mates and try them; the owner of the home alone writes. A
page is addressed by the mate's handle; a file that holds no mate, by its name (bob.md).
"""

import asyncio
import fnmatch
from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import quote

from litestar import get, post
from litestar.datastructures import UploadFile
from litestar.params import Parameter
from litestar.response import Redirect, Template

from loopforge.artifacts.artifact_store import is_hash
from loopforge.artifacts.avatar_upload import shrink_avatar
from loopforge.artifacts.media_types import PICTURES, media_of
from loopforge.chat.service.room_list import RoomListEntry
from loopforge.core.mates.character_card import LARGEST, is_card
from loopforge.core.mates.mate_changes import MateChange
from loopforge.core.mates.mate_file import TRIGGERS, Mate, parse_dialogue, parse_mate
from loopforge.core.mates.unprompted_times import describe_unprompted_times
from loopforge.core.text.erasable_text import FORGOTTEN
from loopforge.core.text.quantity_bands import BANDS
from loopforge.errors import BadMate, Changed, InputError, Unknown
from loopforge.mates.cards.card_import import read_file
from loopforge.mates.mate_editing import MateEditing, select_tool_entries
from loopforge.mates.mate_listing import asked_model
from loopforge.mates.mate_roster import RosterStanding
from loopforge.mates.new_mate import draft_mate_file
from loopforge.mates.retired_mates import list_retired_mates
from loopforge.mates.version_history import MateVersion, normalize_line_endings, version_hash
from loopforge.people.accounts.account_values import Visitor
from loopforge.people.accounts.avatar_records import of_mate
from loopforge.runtime.ports import Tool
from loopforge.web.account.account_pages import name_of
from loopforge.web.rendering.tool_groups import group_tools
from loopforge.web.room.mate_editor import (
    ShownFlaw,
    check_mate_text,
    count_changed_lines,
    diff_lines,
    locate_problems,
)
from loopforge.web.room.mate_statistics import figures_of
from loopforge.web.server.page_context import Asked, Fields, PageContext, render_page

Word = Annotated[str, Parameter(max_length=200)]
NAMED = ("new", "retired")
"""Words that stand for pages of their own; a mate of such a handle goes by its file's name."""
COUNTED = 30
"""Versions of a history whose changes are counted."""
TOLD = {
    "saved": "Saved. The next thing it says, it says by this file.",
    "same": "Nothing was different, so nothing was saved.",
    "new": "It is here. Try it out, or bring it into a room. "
    "A room for all mates, as the common room is, it joins with the next line there.",
    "back": "Back it is, as a new version.",
    "shelved": "It is archived; its file lies in mates/retired and nothing of it is lost.",
    "returned": "It is back among the others.",
}


def key_of(one: RosterStanding) -> str:
    """What a mate's pages are addressed by."""
    return one.handle if one.handle and one.handle not in NAMED else one.file


def path_of(key: str, *more: str) -> str:
    """The path of a mate's page."""
    return "/".join(("/mates", quote(key, safe=""), *more))


async def standing_of(site: PageContext, key: str) -> RosterStanding:
    """The mate or the file behind a key. Raises Unknown."""
    standings = site.roster.standings()
    for wanted in (key, f"{key}.md"):
        for one in standings:
            if key == one.handle or wanted == one.file:
                return one
    if await site.chronicle.history(key):
        return RosterStanding(key, "gone", f"{key}.md", None, ())
    raise Unknown(f"There is no mate {key!r} here.")


def _flaws_at_lines(site: PageContext, one: RosterStanding) -> list[ShownFlaw]:
    """What is wrong with a file, each at its line."""
    return locate_problems(one.problems, site.chronicle.text(one.file) or "")


async def _shared_rooms(site: PageContext, visitor: Visitor) -> dict[str, list[RoomListEntry]]:
    """The rooms the visitor shares with each mate."""
    where: dict[str, list[RoomListEntry]] = {}
    for plate in await site.front.lobby.rooms_of(visitor.person, {}):
        for card in plate.mates:
            where.setdefault(card.handle, []).append(plate)
    return where


# ---------------------------------------------------------------- who is here


@get("/mates")
async def mates(site: PageContext, visitor: Visitor, told: Word = "") -> Template:
    """Everybody who is here, what is broken, and who was laid aside."""
    standings = site.roster.standings()
    return render_page(
        "mates.html",
        visitor,
        here="mates",
        running=[(key_of(one), one) for one in standings if one.state.startswith("runs")],
        broken=[
            (key_of(one), one, _flaws_at_lines(site, one)) for one in standings if one.problems
        ],
        gone=[(key_of(one), one) for one in standings if one.state == "gone"],
        shelf=list_retired_mates(site.roster),
        where=await _shared_rooms(site, visitor),
        folder=str(site.roster.folder),
        asks=asked_model,
        told=TOLD.get(told, ""),
    )


@get("/mates/{handle:str}")
async def mate(site: PageContext, visitor: Visitor, handle: Word, told: Word = "") -> Template:
    """One mate in full."""
    one = await standing_of(site, handle)
    told = TOLD.get(told, "")
    return await shown_mate(site, visitor, one, told=told)


async def shown_mate(
    site: PageContext, visitor: Visitor, one: RosterStanding, **more: Any
) -> Template:
    """A mate's page, with what is told on it."""
    versions = await site.chronicle.versions(one.handle) if one.handle else []
    plates = [
        (plate, one.handle in [card.handle for card in plate.mates])
        for plate in await site.front.lobby.rooms_of(visitor.person, {})
    ]
    return render_page(
        "mate.html",
        visitor,
        here="mates",
        key=key_of(one),
        one=one,
        mate=one.mate,
        flaws=_flaws_at_lines(site, one),
        talk=parse_dialogue(one.mate.prompt) if one.mate else None,
        where=[plate for plate, inside in plates if inside],
        elsewhere=[plate for plate, inside in plates if not inside],
        text=site.chronicle.text(one.file),
        path=str(site.roster.folder / one.file) if visitor.right == "owner" else one.file,
        versions=versions,
        newest=_versions_with_authors(site, versions[:1]),
        figures=await site.beliefs.figures(one.handle),
        did=await figures_of(site, one.handle) if one.handle else None,
        asks=asked_model,
        speaks_up=describe_unprompted_times,
        bands=BANDS,
        triggers=TRIGGERS,
        switches=group_tools(_tools_for(site, one.mate)) if one.mate else [],
        base=version_hash(site.chronicle.text(one.file)),
        fits=fnmatch.fnmatchcase,
        pictured=bool(one.handle and site.pictures.name(of_mate(one.handle))),
        **{"told": "", "error": "", **more},
    )


def _tools_for(site: PageContext, mate: Mate) -> list[Tool]:
    """The tools that a mate can be given; those that come with any other are not among them."""
    known = site.tools.known()
    return [
        tool for tool in known if not tool.always and (not tool.mates or mate.handle in tool.mates)
    ]


@post("/mates/{handle:str}/tools")
async def give_tools(
    request: Asked, site: PageContext, owner: Visitor, handle: Word
) -> Template | Redirect:
    """Give a mate the tools that are ticked, and take from it those that are not."""
    one, form = await standing_of(site, handle), await request.form()
    found = site.roster.get(one.handle or handle)
    known = [tool.name for tool in _tools_for(site, found)]
    tools = select_tool_entries(
        found.tools, known, {str(name) for name in form.getall("tools", [])}
    )
    workshop = MateEditing(site.growth)
    base = str(form.get("base", ""))
    try:
        await workshop.give_tools(found.handle, tools, owner.person, base)
    except InputError as error:
        return await shown_mate(site, owner, one, error=str(error))
    return Redirect(f"{path_of(key_of(one))}?told=saved", status_code=303)


@post("/mates/{handle:str}/try")
async def try_out(site: PageContext, visitor: Visitor, handle: Word) -> Redirect:
    """A private room with this mate alone, where it says its greeting."""
    site.paces.changes.take(visitor.person)
    one = await standing_of(site, handle)
    found = site.roster.get(one.handle or handle)
    room = await site.front.rooms.open(
        visitor.person,
        visitor.name,
        f"Trying out {found.name}",
        (found.handle,),
        guest=visitor.guest,
    )
    await site.front.rooms.come_in(room, visitor.person, visitor.name)
    return Redirect(f"/rooms/{room}", status_code=303)


# ---------------------------------------------------------------- the file


@get("/mates/new")
async def new_page(
    site: PageContext, owner: Visitor, name: Word = "", role: Word = "", tier: int = 1
) -> Template:
    """Ask how the new one is called; then show a sketch to start from. Nothing is written yet."""
    if not name.strip():
        return render_page("mate-new.html", owner, here="mates", role=role, error="")
    text = draft_mate_file(name.strip(), role.strip(), min(4, max(1, tier)))
    return _editor_page(site, owner, None, text, base="", name=name)


@post("/mates/new")
async def new(site: PageContext, owner: Visitor, data: Fields) -> Template | Redirect:
    """Put a new mate into the home, if its text is one."""
    text, portrait = normalize_line_endings(data.get("text", "")), data.get("portrait", "")
    try:
        made = await site.chronicle.new(text, owner.person)
    except InputError as error:
        return _editor_page(
            site, owner, None, text, base="", error=str(error), portrait=portrait, status=400
        )
    if is_hash(portrait) and await site.artifacts.has(portrait):
        await site.pictures.give(of_mate(made.handle), portrait, owner.person)
    return Redirect(f"{path_of(_key_of_made(site, made))}?told=new", status_code=303)


@post("/mates/new/file", request_max_body_size=LARGEST + 100_000)
async def new_file(request: Asked, site: PageContext, owner: Visitor) -> Template:
    """Show the new mate that a file or a card makes, to be saved. Nothing is written yet."""
    given = (await request.form()).get("file")
    if not isinstance(given, UploadFile):
        raise InputError("Choose a mate's file, such as maya.md, or a character card.")
    data = await given.read()
    try:
        brought = await asyncio.to_thread(read_file, data, given.filename)
    except InputError as error:
        return render_page("mate-new.html", owner, here="mates", role="", error=str(error))
    more = {
        "card": is_card(data),
        "left": brought.told,
        "portrait": await _keep_portrait(site, data),
    }
    return _editor_page(site, owner, None, normalize_line_endings(brought.text), base="", **more)


async def _keep_portrait(site: PageContext, data: bytes) -> str:
    """The picture of a card that is one, made small and kept until the mate is saved; or ""."""
    if media_of(data[:64]) not in PICTURES:
        return ""
    try:
        return await site.artifacts.put(await shrink_avatar(data))
    except InputError:
        return ""


def _key_of_made(site: PageContext, made: Mate) -> str:
    return site.roster.path(made.handle).name if made.handle in NAMED else made.handle


@post("/mates/new/check")
async def new_check(site: PageContext, owner: Visitor, data: Fields) -> Template:
    """What is wrong with a text that is to be a new mate, as a fragment."""
    return _check_page(site, owner, None, normalize_line_endings(data.get("text", "")))


@get("/mates/{handle:str}/edit")
async def edit_page(site: PageContext, owner: Visitor, handle: Word) -> Template:
    """A mate's file, to be written on."""
    one = await standing_of(site, handle)
    text = site.chronicle.text(one.file)
    base, versions = version_hash(text), await site.chronicle.versions(one.handle)
    if text is None and versions:
        text = await site.chronicle.version(one.handle, versions[0].hash)
    return _editor_page(site, owner, one, text or "", base=base)


@post("/mates/{handle:str}/edit")
async def edit(
    site: PageContext, owner: Visitor, handle: Word, data: Fields
) -> Template | Redirect:
    """Save a mate's file, if it is a mate and nobody else changed it meanwhile."""
    one = await standing_of(site, handle)
    text, base = normalize_line_endings(data.get("text", "")), data.get("base", "")
    now = site.chronicle.text(one.file)
    if now is not None and normalize_line_endings(now) == text and not one.problems:
        return Redirect(f"{path_of(key_of(one))}?told=same", status_code=303)
    made, flaws = check_mate_text(site.roster, one, text)
    if made is None:
        said = "Not saved: this is no mate yet. What you typed is still here."
        return _editor_page(site, owner, one, text, base=base, flaws=flaws, error=said, status=400)
    try:
        await site.chronicle.write(made.handle, text, owner.person, file=one.file, base=base)
    except Changed as error:
        return _overtaken_page(site, owner, one, text, str(error))
    except BadMate as error:
        flaws = locate_problems([error], text)
        return _editor_page(
            site, owner, one, text, base=base, flaws=flaws, error=str(error), status=400
        )
    except InputError as error:
        return _editor_page(site, owner, one, text, base=base, error=str(error), status=400)
    return Redirect(f"{path_of(_key_of_made(site, made))}?told=saved", status_code=303)


def _overtaken_page(
    site: PageContext, owner: Visitor, one: RosterStanding, text: str, error: str
) -> Template:
    """Show what stands on disk against what was typed; saving from here is knowingly done."""
    now = site.chronicle.text(one.file)
    other = diff_lines(now or "", text)
    return _editor_page(
        site, owner, one, text, base=version_hash(now), error=error, other=other, status=409
    )


@post("/mates/{handle:str}/check")
async def check(site: PageContext, owner: Visitor, handle: Word, data: Fields) -> Template:
    """What is wrong with a text that is to be this mate's file, as a fragment."""
    return _check_page(
        site, owner, await standing_of(site, handle), normalize_line_endings(data.get("text", ""))
    )


def _check_page(
    site: PageContext, owner: Visitor, one: RosterStanding | None, text: str
) -> Template:
    made, flaws = check_mate_text(site.roster, one, text)
    return render_page(
        "mate-check.html", owner, here="mates", mate=made, flaws=flaws, asks=asked_model
    )


def _editor_page(
    site: PageContext,
    owner: Visitor,
    one: RosterStanding | None,
    text: str,
    *,
    base: str,
    **more: Any,
) -> Template:
    made, found = check_mate_text(site.roster, one, text)
    key = key_of(one) if one else "new"
    flaws = more.pop("flaws", found)
    return render_page(
        "mate-edit.html",
        owner,
        here="mates",
        one=one,
        key=key,
        action=path_of(key, "edit") if one else path_of(key),
        text=text,
        base=base,
        mate=made,
        flaws=flaws,
        asks=asked_model,
        **{"error": "", "other": [], "name": "", "card": False, "left": (), "portrait": "", **more},
    )


# ---------------------------------------------------------------- laying aside


@post("/mates/{handle:str}/retire")
async def retire(site: PageContext, owner: Visitor, handle: Word) -> Redirect:
    """Lay a mate aside; its file is moved, not deleted."""
    one = await standing_of(site, handle)
    await site.chronicle.retire(one.file, owner.person)
    return Redirect("/mates?told=shelved", status_code=303)


@post("/mates/retired")
async def bring_back(site: PageContext, owner: Visitor, data: Fields) -> Redirect:
    """Take a mate off the shelf."""
    await site.chronicle.bring_back(data.get("file", ""), owner.person)
    return Redirect("/mates?told=returned", status_code=303)


# ---------------------------------------------------------------- versions


def _versions_with_authors(
    site: PageContext, versions: Sequence[MateVersion]
) -> list[tuple[MateVersion, str]]:
    """Versions with the names of those who wrote them."""
    return [(one, name_of(site, one.by) if one.by else "on disk") for one in versions]


@get("/mates/{handle:str}/history")
async def history(site: PageContext, visitor: Visitor, handle: Word) -> Template:
    """Every version on record, newest first: when, by whom, how much changed."""
    one = await standing_of(site, handle)
    changes = await site.growth.changes.changes(one.handle) if one.handle else []
    counts = await _line_counts(site, one.handle)
    return render_page(
        "mate-history.html",
        visitor,
        here="mates",
        key=key_of(one),
        one=one,
        told=[_shown_change(site, change, counts) for change in changes[::-1]],
    )


def _shown_change(
    site: PageContext, change: MateChange, counts: Mapping[int, tuple[int, int]]
) -> tuple[MateChange, str, tuple[int, int] | None]:
    """A change, who made it, and the lines that came and went by it, where they were counted."""
    by = name_of(site, change.by) if change.by else ""
    found = (counts[event.seq] for event in change.events if event.seq in counts)
    return change, by, next(found, None)


async def _line_counts(site: PageContext, handle: str) -> dict[int, tuple[int, int]]:
    """Lines added and taken away by each of the newest versions, by `seq`."""
    versions = (await site.chronicle.versions(handle))[: COUNTED + 1]
    texts = [await site.chronicle.version(handle, one.hash) for one in versions]
    counts = {}
    for n, one in enumerate(versions[:-1]):
        if FORGOTTEN not in (texts[n], texts[n + 1]):
            counts[one.seq] = count_changed_lines(texts[n + 1], texts[n])
    return counts


@get("/mates/{handle:str}/versions/{hash:str}")
async def version(site: PageContext, visitor: Visitor, handle: Word, hash: Word) -> Template:
    """One version, against the one before it."""
    one = await standing_of(site, handle)
    return await _version_page(site, visitor, one, hash)


async def _version_page(
    site: PageContext, visitor: Visitor, one: RosterStanding, hash: str, **more: Any
) -> Template:
    text = await site.chronicle.version(one.handle, hash)
    versions = await site.chronicle.versions(one.handle)
    place = next(n for n, each in enumerate(versions) if each.hash == hash)
    before = versions[place + 1] if place + 1 < len(versions) else None
    old = await site.chronicle.version(one.handle, before.hash) if before else ""
    now = site.chronicle.text(one.file)
    readable = FORGOTTEN not in (text, old)
    ((shown, by),) = _versions_with_authors(site, versions[place : place + 1])
    return render_page(
        "mate-version.html",
        visitor,
        here="mates",
        key=key_of(one),
        one=one,
        version=shown,
        by=by,
        before=before,
        after=versions[place - 1] if place else None,
        text="" if text == FORGOTTEN else text,
        rows=diff_lines(old, text) if before and readable else [],
        readable=readable,
        base=version_hash(now),
        current=now == text,
        **{"error": "", **more},
    )


@post("/mates/{handle:str}/versions/{hash:str}")
async def put_back(
    site: PageContext, owner: Visitor, handle: Word, hash: Word, data: Fields
) -> Template | Redirect:
    """Make an old version the file again. What stood there stays on record."""
    one = await standing_of(site, handle)
    text = await site.chronicle.version(one.handle, hash)
    if text == FORGOTTEN:
        raise InputError("The words of this version were forgotten; there is nothing to put back.")
    try:
        parse_mate(text, one.file)
        await site.chronicle.look()
        await site.chronicle.write(one.handle, text, owner.person, base=data.get("base", ""))
    except InputError as error:
        return await _version_page(site, owner, one, hash, error=str(error), status=400)
    return Redirect(f"{path_of(key_of(one))}?told=back", status_code=303)
