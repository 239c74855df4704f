"""Edits, deletions and reactions on pages: live over the stream, and as a page is loaded."""

import asyncio

from loopforge.chat.room.platform_channels import ChannelSpot
from loopforge.core.room_vocabulary import Heard, Said, TalkSet
from loopforge.core.text.erasable_text import Words
from tests.web.conftest import Guest, Town
from tests.web.test_event_stream import open_page


async def test_an_edit_is_told_live_and_stands_on_a_fresh_page(site: Town, owner: Guest) -> None:
    """The stream gives the new words as HTML; a page loaded later holds no word of the old."""
    room = await site.room(owner, "Tea")
    said = await owner.says(room, "I grow **turnips**")
    line, seq = said["id"], said["seq"]
    async with open_page(owner, room, after=seq) as page:
        await site.app.front.rooms.edit(room, owner.person, line, "I grow **leeks** & <b>")
        await page.until("change")
        (change,) = page.data("change")
    assert change["kind"] == "room.line_edited"
    assert change["line"] == line
    assert "<strong>leeks</strong> &amp; &lt;b&gt;" in change["html"]
    html = (await owner.get(f"/rooms/{room}")).text
    assert "<strong>leeks</strong>" in html
    assert '<span class="aside">edited</span>' in html
    assert "turnips" not in html
    for words, found in (("turnips", False), ("leeks", True)):
        page_of = (await owner.get(f"/rooms/{room}/search?words={words}")).text
        assert ("1 line holds" in page_of) is found


async def test_a_deletion_is_told_live_and_a_fresh_page_says_by_whom(site: Town) -> None:
    """The words go from open pages at once, with their files; a page loaded later says who."""
    owner = await site.owner("olu")
    room = await site.room(owner, "Tea")
    said = await owner.says(room, "my locker opens with rhubarb-4711")
    line, seq = said["id"], said["seq"]
    async with open_page(owner, room, after=seq) as page:
        await site.app.front.rooms.delete(room, owner.person, line)
        await page.until("change", 2)
        deleted, erased = page.data("change")
    assert deleted == {"kind": "room.line_deleted", "line": line, "told": "Deleted by olu."}
    assert erased["kind"] == "ledger.erased"
    html = (await owner.get(f"/rooms/{room}")).text
    assert "Deleted by olu." in html
    assert "rhubarb" not in html


async def test_a_persons_reaction_comes_with_their_name_and_can_be_taken_back(site: Town) -> None:
    """The stream tells who put what on which line, and that it was taken off again."""
    owner = await site.owner("olu")
    room = await site.room(owner, "Tea")
    said = await owner.says(room, "leeks")
    line, seq = said["id"], said["seq"]
    async with open_page(owner, room, after=seq) as page:
        await site.app.front.react(room, owner.person, line, "👍")
        await site.app.front.react(room, owner.person, line, "👍", back=True)
        await page.until("change", 2)
        put, taken = page.data("change")
    assert (put["emoji"], put["name"], put["who"]) == ("👍", "olu", f"person:{owner.person}")
    assert (put["back"], taken["back"]) == (False, True)


async def test_places_free_talk_and_who_is_not_known_are_told(site: Town, owner: Guest) -> None:
    """A place that joins and free talk are notices; a bot, a stranger, a late line bear a mark."""
    room = await site.room(owner, "Tea")
    front = site.app.front
    await front.rooms.join_place(ChannelSpot("discord:7", "general", "group"), (), room)
    await site.app.rooms.add(room, owner.person, TalkSet(free=False))
    await front.rooms.hear(
        room,
        Heard(
            person=owner.person,
            text=Words("hm"),
            surface="discord:7",
            source="1",
            bot=True,
            late=True,
            untrusted=True,
        ),
    )
    await front.rooms.leave_place(room, "discord:7", "the channel is gone")
    await asyncio.sleep(0)
    html = (await owner.get(f"/rooms/{room}")).text
    assert "“general” on Discord is part of this room now" in html
    assert "Mates may speak here only when they are called now." in html
    assert "no longer: the channel is gone" in html
    for mark in ("a bot", "not known here", "came late"):
        assert f'<span class="aside">{mark}</span>' in html


async def test_a_mates_line_that_was_taken_away_is_so_on_pages(site: Town) -> None:
    """It is told live as people's lines are, and a page loaded later holds no word of it."""
    owner = await site.owner("olu")
    room = await site.talk(owner, "Tea", "@maya rhubarb?")
    said = next(e for e in await site.events(room) if isinstance(e.body, Said))
    assert isinstance(said.body, Said)
    async with open_page(owner, room, after=said.seq) as page:
        await site.app.front.rooms.delete(room, "", said.id)
        await page.until("change")
        change = page.data("change")[0]
    assert change["kind"] == "room.line_deleted"
    assert (change["line"], change["told"]) == (
        said.id,
        "Deleted on the platform where it was said.",
    )
    html = (await owner.get(f"/rooms/{room}")).text
    assert "Deleted on the platform where it was said." in html
    assert str(said.body.text) not in html
