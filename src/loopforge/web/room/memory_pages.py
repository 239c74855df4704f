"""What mates know of you, and what a mate keeps: with the lines behind, and forms to change it.

    /you/memory            what concerns the visitor, by mate
    /mates/HANDLE/memory   what the visitor may see of one mate's memory, and the audit's figures

Who may see and do what is decided in chat/memories/memory_service.py.
"""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from litestar import Response, get, post
from litestar.response import Redirect, Template

from loopforge.chat.commands.memory_commands import DONE
from loopforge.chat.memories.belief_wording import belief_labels
from loopforge.chat.memories.memory_service import Belief, MemoryReader
from loopforge.chat.room.room_store import PREFIX, stream_of
from loopforge.core.memory.memory_vocabulary import EVERYWHERE
from loopforge.errors import InputError, Unknown
from loopforge.people.accounts.account_values import Visitor
from loopforge.web.room.mate_pages import Word, key_of, standing_of
from loopforge.web.server.page_context import Fields, PageContext, render_page

TOLD = {
    **DONE,
    "correct": "Corrected. It is used where you alone are with the mate, until you share it.",
    "drop": "Let go. You can bring it back.",
    "share": "Where it may be used is changed.",
    "undo": "Your last change is taken back.",
    "off": "Nothing of you is kept from now on. What was kept before stays until you forget it.",
    "on": "Mates may keep what they learn of you.",
}


def _reader(visitor: Visitor) -> MemoryReader:
    return MemoryReader(visitor.person, visitor.right == "owner")


async def _shown(
    site: PageContext, visitor: Visitor, beliefs: Sequence[Belief], back: str, **more: Any
) -> Template:
    """A page of items, by mate, with the rooms in which the visitor may share them."""
    plates = await site.front.lobby.rooms_of(visitor.person, {})
    titles = {PREFIX + plate.room: plate.title for plate in plates}
    mates = site.roster.mates()
    kept = await site.beliefs.keeps(visitor.person)
    groups = [
        (handle, mates.get(handle), [one for one in beliefs if one.item.mate == handle])
        for handle in dict.fromkeys(one.item.mate for one in beliefs)
    ]
    shown = {"told": "", "error": "", "figures": None, "key": "", "status": 200, **more}
    known = mates.get(str(shown["key"]))
    return render_page(
        "memory.html",
        visitor,
        called=known.name if known else shown["key"],
        here="you" if back == "/you/memory" else "mates",
        groups=groups,
        titles={**titles, EVERYWHERE: "everywhere"},
        rooms=titles,
        marks=lambda one: belief_labels(one, site.live.zone),
        back=back,
        kept=kept,
        **shown,
    )


@get("/you/memory")
async def yours(site: PageContext, visitor: Visitor, told: Word = "") -> Template:
    """What mates know of the visitor."""
    return await _yours(site, visitor, told=TOLD.get(told, ""))


async def _yours(site: PageContext, visitor: Visitor, **more: Any) -> Template:
    await site.people.refresh()
    found = await site.beliefs.beliefs(_reader(visitor))
    beliefs = [one for one in found if one.item.state != "forgotten"]
    gone = len(found) - len(beliefs)
    return await _shown(site, visitor, beliefs, "/you/memory", gone=gone, **more)


@get("/mates/{handle:str}/memory")
async def of_mate(site: PageContext, visitor: Visitor, handle: Word, told: Word = "") -> Template:
    """What one mate keeps, as far as the visitor may see it."""
    return await _of_mate(site, visitor, handle, told=TOLD.get(told, ""))


async def _of_mate(site: PageContext, visitor: Visitor, handle: str, **more: Any) -> Template:
    one = await standing_of(site, handle)
    await site.people.refresh()
    found = await site.beliefs.beliefs(_reader(visitor), one.handle, all=True)
    beliefs = [each for each in found if each.item.state != "forgotten"]
    figures = await site.beliefs.figures(one.handle)
    back = f"/mates/{quote(key_of(one), safe='')}/memory"
    gone = figures.forgotten
    more = {"key": key_of(one), "figures": figures, "gone": gone, **more}
    return await _shown(site, visitor, beliefs, back, **more)


@post("/you/memory")
async def change(site: PageContext, visitor: Visitor, data: Fields) -> Response[Any]:
    """Correct, lock, let go, restore, forget or share an item."""
    site.paces.changes.take(visitor.person)
    back, act = data.get("back", ""), data.get("act", "")
    try:
        await _do(site, visitor, act, data)
    except InputError as error:
        if back.startswith("/mates/") and not isinstance(error, Unknown):
            handle = data.get("mate", "")
            return await _of_mate(site, visitor, handle, error=str(error), status=400)
        return await _yours(site, visitor, error=str(error), status=400)
    mates = {one.handle: key_of(one) for one in site.roster.standings()}
    key = mates.get(data.get("mate", ""), "")
    path = f"/mates/{quote(key, safe='')}/memory" if back.startswith("/mates/") and key else ""
    told = "share" if act == "unshare" else act
    return Redirect(f"{path or '/you/memory'}?told={told}", status_code=303)


async def _do(site: PageContext, visitor: Visitor, act: str, data: dict[str, str]) -> None:
    """One change. Raises InputError, Unknown."""
    memories, reader = site.beliefs, _reader(visitor)
    await site.people.refresh()
    match act:
        case "undo":
            await memories.undo(reader)
            return
        case "on" | "off":
            await memories.set_keeping(visitor.person, act)
            return
        case _:
            number = data.get("number", "")
            if not number.isdecimal() or len(number) > 15:
                raise InputError("Say which item is meant.")
            one = await memories.find(reader, data.get("mate", ""), int(number))
    match act:
        case "correct":
            await memories.correct(reader, one, data.get("text", ""))
        case "lock" | "unlock":
            await memories.lock(reader, one, on=act == "lock")
        case "drop":
            await memories.drop(reader, one)
        case "restore":
            await memories.restore(reader, one)
        case "forget":
            if data.get("sure", "") != "yes":
                raise InputError("Tick that you are sure; what is forgotten cannot come back.")
            await memories.forget(reader, one)
        case "share" | "unshare":
            room = data.get("room", "")
            to = EVERYWHERE if room == EVERYWHERE else stream_of(room)
            await memories.share(reader, one, to, on=act == "share")
        case _:
            raise InputError("There is nothing of that kind to be done with a memory.")
