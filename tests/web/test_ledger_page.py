"""The ledger on the owner's page: newest first, page by page, by stream and kind; and verified."""

import asyncio
import html
import re
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

from loopforge.core.room_vocabulary import Heard, Told
from loopforge.core.text.erasable_text import Words
from loopforge.host import serve_web_room
from loopforge.sink_opening import open_sinks
from tests.web.conftest import Guest, Town, reachable, town


def kinds(page: str) -> list[str]:
    """The kinds of the events on a page, in order."""
    return re.findall(r'admin-event"><strong>([\w.]+)</strong>', page)


async def test_the_newest_come_first_and_one_pages_on(site: Town, owner: Guest) -> None:
    """Every event of a stream is on exactly one page."""
    room = await site.room(owner, "Ovens")
    facts = [
        site.app.stamp.fact(Told(text=Words(f"notice {nth}.")), actor="room") for nth in range(120)
    ]
    await site.app.ledger.append(f"room:{room}", facts)
    seen: list[str] = []
    path, pages = f"/admin/ledger?stream=room:{room}&kind=room.told", 0
    while path:
        page, pages = (await owner.get(path)).text, pages + 1
        seen += re.findall(r"notice \d+\.", page)
        assert set(kinds(page)) == {"room.told"}
        more = re.search(r'href="(/admin/ledger\?[^"]+)">Older', page)
        path = html.unescape(more[1]) if more else ""
    assert seen == [f"notice {nth}." for nth in reversed(range(120))]
    assert pages == 3


async def test_one_line_leads_to_its_flight_record(site: Town, owner: Guest) -> None:
    """What a mate said in a room of one's own links to its why; prompts do not stand in the list."""
    room = await site.talk(owner, "Ovens", "a question about yeast")
    page = (await owner.get(f"/admin/ledger?stream=room:{room}")).text
    said = [event for event in await site.events(room) if event.kind == "room.said"]
    assert said
    assert f"/rooms/{room}/why/{said[0].id}" in page
    events = re.findall(r'admin-event"><strong>([\w.]+)</strong>(.*?)</li>', page, re.DOTALL)
    assert [kind for kind, _ in events if kind == "turn.asked"]
    telling = {kind for kind, said in events if "a question about yeast" in said}
    assert "room.heard" in telling
    assert telling <= {"room.heard", "room.said"}


async def test_where_it_goes_is_said(tmp_path: Path) -> None:
    """Each sink: whether it has everything, else how much is to go, since when, what went wrong."""
    there = tmp_path / "there"
    environ = {"LOOPFORGE_JSONL_PATH": str(there / "events.jsonl")}
    there.write_text("a file where a folder should be")
    async with town(tmp_path, environ=environ) as site, AsyncExitStack() as stack:
        assert "Where it goes" not in (await (await site.owner()).get("/admin/ledger")).text
        sinks = await stack.enter_async_context(open_sinks(site.app))
        address = await stack.enter_async_context(serve_web_room(site.app, sinks=sinks))
        await reachable(address)
        owner = await replace(site, address=address, stack=stack).owner()
        while "What went wrong last" not in (page := (await owner.get("/admin/ledger")).text):
            await site.app.stamp.clock.sleep(0.05)
        assert "could not say yet" in page or "to go, the oldest of" in page
        there.unlink()
        while "has everything" not in (await owner.get("/admin/ledger")).text:
            await site.app.stamp.clock.sleep(0.05)


async def test_odd_filters_find_nothing(owner: Guest) -> None:
    """Names that nobody has, and places that are none, give an empty list or the beginning."""
    assert "Nothing of that kind" in (await owner.get("/admin/ledger?stream=room:nowhere")).text
    odd = await owner.get("/admin/ledger", params={"kind": "\x00'; DROP", "before": "'zz"})
    assert odd.status_code == 200
    assert (
        "<script"
        not in (await owner.get("/admin/ledger?stream=<script>x")).text.partition("main")[2]
    )
    assert (await owner.get("/admin/ledger", params={"stream": "x" * 500})).status_code == 400


async def verified(olu: Guest) -> str:
    """What a verifying finds, once it is over."""
    page = await olu.post("/admin/ledger/verify")
    assert page.url.path == "/admin/ledger"
    while "hx-get" in (told := (await olu.get("/admin/ledger/verified")).text):
        await asyncio.sleep(0.02)
    return told


async def test_verifying_says_what_it_went_over(site: Town, owner: Guest) -> None:
    """It runs beside everything else; then the page has counts and the time."""
    assert "Not verified since" in (await owner.get("/admin/ledger")).text
    told = await verified(owner)
    events = sum((await site.app.ledger.heads()).values())
    assert "All of it is as it was written." in told
    assert f"{events} events" in told
    assert "sound, as of" in (await owner.get("/admin")).text


async def test_what_is_wrong_is_said_without_the_names_of_private_rooms(
    site: Town, owner: Guest
) -> None:
    """Findings stand one by one; a room the owner is not in keeps its name."""
    ana = await site.guest("ana", by=owner)
    room = await site.room(ana, "Planning a surprise")
    fact = site.app.stamp.fact(
        Heard(person=ana.person, text=Words("quiet now")), actor=f"person:{ana.person}"
    )
    await site.app.ledger.append(f"room:{room}", [fact])
    await site.app.ledger.change(
        lambda found: found.exec_driver_sql(f"DELETE FROM texts WHERE event = '{fact.id}'")
    )
    told = await verified(owner)
    # the text, and what had it: the search for words, and the one for meaning
    assert "3 things are not as they were written." in told
    assert "missing:" in told
    assert "surprise" not in told
    assert "something is wrong" in (await owner.get("/admin")).text
