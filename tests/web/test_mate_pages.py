"""Mates in the browser: looked at by everybody, written by the owner, never over unseen work."""

import asyncio
import html
import json
import re
from pathlib import Path

import httpx
import pytest

from loopforge.core.text.erasable_text import FORGOTTEN
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.mates.version_history import version_hash
from tests.web.conftest import Guest, Town, words

BOT = "---\nname: {name}\nrole: {role}\n---\nYou are {name}.\n\n> Hi!\nHello there.\n"
BROKEN = "---\nname: Bob\ntier: 9\npolicy: wild\n---\nYou are Bob.\n"


def typed(answer: httpx.Response) -> str:
    """What stands in the editor."""
    found = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", answer.text, re.DOTALL)
    assert found
    return html.unescape(found[1])


def field(answer: httpx.Response, name: str) -> str:
    """The value of a hidden field."""
    found = re.search(rf'name="{name}" value="([^"]*)"', answer.text)
    assert found
    return found[1]


def file_of(site: Town, name: str) -> Path:
    """A mate's file on disk."""
    return site.path / "mates" / name


async def test_the_list_shows_who_is_here_and_where(site: Town, owner: Guest) -> None:
    """Each mate has a card with its role and the rooms shared with the visitor, and no others."""
    await site.room(owner, "Bread talk", "maya")
    page = words(await owner.get("/mates"))
    for told in ("@maya", "@merlin", "@zuzu", "Bread talk", "runs"):
        assert told in page
    other = await site.guest("bea", by=owner)
    assert "Bread talk" not in (await other.get("/mates")).text
    assert "Bread talk" not in (await other.get("/mates/maya")).text
    assert "Bread talk" in (await owner.get("/mates/maya")).text


async def test_one_mate_in_full(site: Town) -> None:
    """Its character, how it talks, traits as words, what it asks and its file stand there."""
    file_of(site, "otto.md").write_text(
        "---\nname: Otto\nrole: baker\nvoice: floury\ntraits: {patience: very high}\n"
        "interests: [dough]\ntemperature: 0.5\ntriggers: [mention]\ntools: [clock]\n---\n"
        "You are Otto.\n\n> My bread fell.\nIt was tired.\n"
    )
    owner = await site.owner()
    page = words(await owner.get("/mates/otto"))
    for told in (
        "baker", "floury", "patience very high", "dough", "temperature 0.5", "mention", "clock",
        "You are Otto.", "My bread fell. It was tired.", str(file_of(site, "otto.md")), "tier 1",
    ):  # fmt: skip
        assert told in page
    other = await site.guest("bea", by=owner)
    seen = words(await other.get("/mates/otto"))
    assert str(site.path) not in seen
    assert "otto.md" in seen


async def test_an_empty_home_teaches_how_to_begin(site: Town) -> None:
    """Without mates, the page shows a whole mate's file and where to make one."""
    for path in (site.path / "mates").glob("*.md"):
        path.rename(path.with_suffix(".off"))
    owner = await site.owner()
    page = await owner.get("/mates")
    assert "Nobody lives here yet" in page.text
    assert "name: Otto" in page.text
    assert 'href="/mates/new"' in page.text


async def test_a_broken_file_is_explained_at_its_line(site: Town) -> None:
    """List and page show each flaw, its line's number, the line itself marked, and what to do."""
    file_of(site, "bob.md").write_text(BROKEN)
    owner = await site.owner()
    for path in ("/mates", "/mates/bob.md", "/mates/bob"):
        page = words(await owner.get(path))
        assert "Line 3 tier is a whole number from 1" in page
        assert "▶ 3 tier: 9" in page
        assert "▶ 4 policy: wild" in page
        assert "No mate answers by" in page
    check = await owner.get("/mates/bob.md/edit")
    assert "2 things are in the way" in check.text
    assert typed(check) == BROKEN
    file_of(site, "bob.md").write_text("---\nname: Bob\nrle: x\n---\nx\n")
    assert "did you mean role ?" in (told := words(await owner.get("/mates/bob")))
    assert "?." not in told


async def test_a_guest_is_not_told_what_the_owner_has_to_mend(site: Town, owner: Guest) -> None:
    """Of a broken file a guest reads one plain sentence on its page, and nothing in the list."""
    ben = await site.guest("ben", by=owner)
    file_of(site, "bob.md").write_text(BROKEN)
    file_of(site, "maya.md").write_text("---\nname: Maya\ntier: 9\n---\nx\n")
    for path in ("/mates", "/mates/bob.md", "/mates/maya"):
        page = words(await ben.get(path))
        assert "whole number" not in page
        assert "Needs mending" not in page
    assert "It cannot answer just now" in words(await ben.get("/mates/bob.md"))
    assert "It cannot answer just now" not in words(await ben.get("/mates/maya"))


async def test_a_room_tells_the_owner_alone_where_a_file_is_broken(
    site: Town, owner: Guest
) -> None:
    """Everybody reads that a mate cannot answer; the file and its line, only who can mend it."""
    room = await site.room(owner, "Tea", "maya")
    file_of(site, "maya.md").unlink()
    ben = await site.guest("ben", room, by=owner)
    while "maya" in site.app.rooms.mates:  # a look at the files holds for a moment
        await asyncio.sleep(0)
    await ben.says(room, "@maya hello")
    await site.rest(room)
    for guest, told in ((owner, True), (ben, False)):
        page = await guest.get(f"/rooms/{room}")
        assert "Maya cannot answer just now: its file is gone." in words(page)
        assert ("put it back from its history" in words(page)) is told
        assert ('(Mates). <a href="/mates">Mates</a></span>' in page.text) is told


async def test_a_mate_whose_file_broke_goes_on_by_its_last_good_version(
    site: Town, owner: Guest
) -> None:
    """The page says so, shows the flaw, and shows the version that runs."""
    assert (await owner.get("/mates/maya")).status_code == 200
    file_of(site, "maya.md").write_text("---\nname: Maya\ntier: 9\n---\nx\n")
    page = words(await owner.get("/mates/maya"))
    assert "last version that was good" in page
    assert "▶ 3 tier: 9" in page
    assert "You are Maya" in page


async def test_the_live_check_finds_everything(site: Town, owner: Guest) -> None:
    """The fragment tells each flaw by line as one types, or shows the mate; it writes nothing."""
    before = file_of(site, "maya.md").read_text()
    bad = await owner.post("/mates/maya/check", {"text": BROKEN.replace("Bob", "Maya")})
    assert 'data-flaws="3,4"' in bad.text
    assert "<html" not in bad.text
    good = await owner.post("/mates/maya/check", {"text": BOT.format(name="Maya", role="seer")})
    assert "This is a mate." in good.text
    assert "seer" in good.text
    renamed = await owner.post("/mates/maya/check", {"text": BOT.format(name="Eve", role="x")})
    assert "handle: maya" in words(renamed)
    new = await owner.post("/mates/new/check", {"text": BOT.format(name="Maya", role="x")})
    assert "@maya is taken" in words(new)
    assert file_of(site, "maya.md").read_text() == before


async def test_saving_makes_a_version_with_its_author(site: Town, owner: Guest) -> None:
    """A saved text is the file, byte for byte with plain line ends, and history tells by whom."""
    page = await owner.get("/mates/maya/edit")
    text = typed(page) + "And one line more.\n"
    sent = {"text": text.replace("\n", "\r\n"), "base": field(page, "base")}
    saved = await owner.post("/mates/maya/edit", sent)
    assert str(saved.url).endswith("/mates/maya?told=saved")
    assert "Saved." in saved.text
    assert file_of(site, "maya.md").read_bytes() == text.encode()
    history = words(await owner.get("/mates/maya/history"))
    assert "by olu" in history
    assert "lines added: +1 lines taken away: −0" in history
    version = await owner.get(f"/mates/maya/versions/{version_hash(text)}")
    assert "+ " in words(version)
    assert re.search(r"<ins[^>]*>.*And one line more\.", version.text)
    again = await owner.post("/mates/maya/edit", {"text": text, "base": version_hash(text)})
    assert str(again.url).endswith("told=same")


async def test_a_broken_text_is_kept_in_the_editor(site: Town, owner: Guest) -> None:
    """Saving what is no mate writes nothing and gives back what was typed, with the flaws."""
    before = file_of(site, "maya.md").read_text()
    text = BROKEN.replace("Bob", "Maya") + "<b>bold & brave</b>\n"
    base = version_hash(before)
    answer = await owner.post("/mates/maya/edit", {"text": text, "base": base})
    assert answer.status_code == 400
    assert typed(answer) == text
    assert field(answer, "base") == base
    assert "Line 3" in words(answer)
    assert file_of(site, "maya.md").read_text() == before


async def test_a_lost_update_is_refused(site: Town, owner: Guest) -> None:
    """A file that changed since it was opened is not written over; both texts are shown."""
    page = await owner.get("/mates/maya/edit")
    theirs = typed(page) + "Written on disk.\n"
    file_of(site, "maya.md").write_text(theirs)
    mine = typed(page) + "Written here.\n"
    answer = await owner.post("/mates/maya/edit", {"text": mine, "base": field(page, "base")})
    assert answer.status_code == 409
    assert file_of(site, "maya.md").read_text() == theirs
    assert typed(answer) == mine
    told = words(answer)
    assert "changed after you opened it" in told
    assert "Written on disk." in told
    knowing = await owner.post("/mates/maya/edit", {"text": mine, "base": field(answer, "base")})
    assert knowing.status_code == 200
    assert file_of(site, "maya.md").read_text() == mine
    assert words(await owner.get("/mates/maya/history")).count("changed on disk") == 2


async def test_a_new_mate_begins_with_a_sketch(site: Town, owner: Guest) -> None:
    """A name gives a sketch; nothing is written before it is saved; then it can be tried out."""
    assert "Name" in words(await owner.get("/mates/new"))
    page = await owner.get("/mates/new", params={"name": "Otto", "role": "baker", "tier": "2"})
    text = typed(page)
    assert "name: Otto\nrole: baker\ntier: 2\n" in text
    assert "This is a mate." in page.text
    assert not file_of(site, "otto.md").exists()
    taken = await owner.post("/mates/new", {"text": text.replace("Otto", "Maya")})
    assert taken.status_code == 400
    assert "@maya is taken" in words(taken)
    made = await owner.post("/mates/new", {"text": text})
    assert str(made.url).endswith("/mates/otto?told=new")
    assert file_of(site, "otto.md").read_text() == text
    room = await owner.post("/mates/otto/try")
    assert "/rooms/" in str(room.url)
    assert "Trying out Otto" in room.text


async def test_a_try_out_room_is_private_and_holds_this_mate_alone(
    site: Town, owner: Guest
) -> None:
    """Anybody signed in may try a mate; nobody else sees the room."""
    bea = await site.guest("bea", by=owner)
    answer = await bea.post("/mates/zuzu/try")
    found = re.search(r"/rooms/([a-z0-9-]+)", str(answer.url))
    assert found
    state = await site.app.front.rooms.state(found[1])
    assert list(state.mates) == ["zuzu"]
    assert (await owner.get(f"/rooms/{found[1]}")).status_code == 404


async def test_an_old_version_is_put_back_as_a_new_one(site: Town, owner: Guest) -> None:
    """Putting back writes the old text again; what stood there stays on record."""
    first = file_of(site, "maya.md").read_text()
    second = first + "More.\n"
    await owner.post("/mates/maya/edit", {"text": second, "base": version_hash(first)})
    page = await owner.get(f"/mates/maya/versions/{version_hash(first)}")
    path, base = f"/mates/maya/versions/{version_hash(first)}", field(page, "base")
    file_of(site, "maya.md").write_text(second + "Meanwhile.\n")
    stale = await owner.post(path, {"base": base})
    assert stale.status_code == 400
    assert file_of(site, "maya.md").read_text() == second + "Meanwhile.\n"
    done = await owner.post(path, {"base": field(stale, "base")})
    assert "Back it is" in done.text
    assert file_of(site, "maya.md").read_text() == first
    versions = await site.app.chronicle.versions("maya")
    assert [one.hash for one in versions] == [
        version_hash(text) for text in (first, second + "Meanwhile.\n", second, first)
    ]


async def test_a_forgotten_version_says_so(site: Town, owner: Guest) -> None:
    """Its page shows no word of it, offers no way to put it back, and refuses to."""
    first = file_of(site, "maya.md").read_text()
    await owner.post("/mates/maya/edit", {"text": first + "More.\n", "base": version_hash(first)})
    events = await site.app.ledger.read("mates")
    mine = [event.id for event in events if getattr(event.body, "mate", "") == "maya"]
    await site.app.ledger.erase(ErasureRequest(events=(mine[0],), by=owner.person, exactly=True))
    path = f"/mates/maya/versions/{version_hash(first)}"
    page = await owner.get(path)
    assert FORGOTTEN in page.text
    assert "Put this version back" not in page.text
    assert "You are Maya" not in page.text
    assert (await owner.post(path, {"base": ""})).status_code == 400
    assert (await owner.get("/mates/maya/history")).status_code == 200
    newest = version_hash(first + "More.\n")
    assert "nothing to compare" in (await owner.get(f"/mates/maya/versions/{newest}")).text


async def test_laid_aside_and_brought_back(site: Town, owner: Guest) -> None:
    """A retired mate's file is moved and kept; it comes back whole, and history tells by whom."""
    before = file_of(site, "zuzu.md").read_text()
    answer = await owner.post("/mates/zuzu/retire")
    assert "archived" in answer.text
    assert not file_of(site, "zuzu.md").exists()
    assert (site.path / "mates" / "retired" / "zuzu.md").read_text() == before
    assert "zuzu" not in site.app.roster.mates()
    assert "archived by olu" in words(await owner.get("/mates/zuzu/history"))
    await owner.post("/mates/retired", {"file": "zuzu.md"})
    assert file_of(site, "zuzu.md").read_text() == before
    assert (await owner.post("/mates/retired", {"file": "../loopforge.toml"})).status_code == 404


async def refused(site: Town, guest: Guest) -> list[tuple[str, int]]:
    """Every way to write mates, and what came of it; nobody is let through by any of them."""
    text = BOT.format(name="Maya", role="changed")
    hash = version_hash(file_of(site, "maya.md").read_text())
    ways = [
        ("/mates/maya/edit", {"text": text, "base": hash}),
        ("/mates/maya/check", {"text": text}),
        ("/mates/new", {"text": BOT.format(name="Eve", role="x")}),
        ("/mates/new/check", {"text": text}),
        ("/mates/maya/retire", {}),
        ("/mates/retired", {"file": "maya.md"}),
        (f"/mates/maya/versions/{hash}", {"base": hash}),
    ]
    pages = ["/mates/new", "/mates/maya/edit"]
    found = [(path, (await guest.post(path, data)).status_code) for path, data in ways]
    guest.http.follow_redirects = False
    return found + [(path, (await guest.get(path)).status_code) for path in pages]


async def test_only_the_owner_writes(site: Town, owner: Guest) -> None:
    """For a member no way to write exists, and the pages say why; a stranger sees no page at all."""
    bea = await site.guest("bea", by=owner)
    before = {path.name: path.read_text() for path in (site.path / "mates").glob("*.md")}
    page = await bea.get("/mates/maya")
    assert "Only the owner of this home can change mates" in page.text
    assert 'href="/mates/maya/edit"' not in page.text
    assert "Only the owner" in (await bea.get("/mates")).text
    for _, status in await refused(site, bea):
        assert status == 404
    stranger = await site.stranger()
    for path in ("/mates", "/mates/maya", "/mates/maya/history"):
        answer = await stranger.http.get(path, follow_redirects=False)
        assert answer.status_code in (303, 401)
        assert "Maya" not in answer.text
    for path, status in await refused(site, stranger):
        assert status in (303, 401), path
    after = {path.name: path.read_text() for path in (site.path / "mates").glob("*.md")}
    assert after == before


EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&{{7777*7}}"


async def test_words_of_a_mate_are_never_markup(site: Town, owner: Guest) -> None:
    """Whatever a file holds, good or broken, stands on every page as text."""
    first = BOT.format(name="Eve", role="quiet")
    evil = (
        f"---\nname: Eve & Co'\nhandle: eve\nrole: >-\n  {EVIL}\nvoice: >-\n  {EVIL}\n"
        "traits: {'<b>x</b>': high}\ninterests: ['</textarea><b>y']\n"
        f"---\n{EVIL}\n\n> {EVIL}\n{EVIL}\n"
    )
    file_of(site, "eve.md").write_text(first)
    await site.app.chronicle.look()
    file_of(site, "eve.md").write_text(evil)
    file_of(site, "x<b>y.md").write_text(f"---\nname: {EVIL}\n{EVIL}: 1\n---\n{EVIL}\n")
    await site.app.chronicle.look()
    assert site.app.roster.mates()["eve"].role == EVIL
    paths = [
        "/mates", "/mates/eve", "/mates/eve/edit", "/mates/eve/history",
        f"/mates/eve/versions/{version_hash(evil)}", "/mates/x%3Cb%3Ey.md", "/mates/x%3Cb%3Ey.md/edit",
        "/mates/new?name=%3Cscript%3Ealert(1)%3C/script%3E", "/mates/new?role=%22%3E%3Cscript%3E",
    ]  # fmt: skip
    pages = [await owner.get(path) for path in paths]
    pages.append(await owner.post("/mates/eve/check", {"text": evil}))
    pages.append(await owner.post("/mates/eve/check", {"text": EVIL}))
    for answer in pages:
        assert answer.status_code == 200, answer.url
        for mark in ("<script>alert", "<img src=x", "<b>x", "<b>y", "</textarea><b>", "54439"):
            assert mark not in answer.text, answer.url
        assert " style=" not in answer.text
        assert not re.search(r"<[^>]+\son\w+=", answer.text)


async def test_what_is_not_there_is_a_page_that_says_so(site: Town, owner: Guest) -> None:
    """Unknown mates, versions and files outside the folder are 404; a gone mate keeps its history."""
    for path in ("/mates/nobody", "/mates/nobody/edit", "/mates/maya/versions/0000",
                 "/mates/..%2Floopforge.toml", "/mates/README"):  # fmt: skip
        assert (await owner.get(path)).status_code == 404, path
    text = file_of(site, "zuzu.md").read_text()
    file_of(site, "zuzu.md").unlink()
    await site.app.chronicle.look()
    assert "Gone" in (await owner.get("/mates/zuzu")).text
    assert typed(await owner.get("/mates/zuzu/edit")) == text
    back = await owner.post(f"/mates/zuzu/versions/{version_hash(text)}", {"base": ""})
    assert back.status_code == 200
    assert file_of(site, "zuzu.md").read_text() == text


@pytest.mark.parametrize("name", ["New", "Retired"])
async def test_a_mate_may_be_called_like_a_page(name: str, owner: Guest) -> None:
    """A mate whose handle is a page's word is reached by its file's name."""
    made = await owner.post("/mates/new", {"text": BOT.format(name=name, role="odd one")})
    assert f"/mates/{name.lower()}.md?told=new" in str(made.url)
    assert "odd one" in words(made)
    assert f'href="/mates/{name.lower()}.md"' in (await owner.get("/mates")).text
    page = await owner.get(f"/mates/{name.lower()}.md/edit")
    sent = {"text": BOT.format(name=name, role="odder"), "base": field(page, "base")}
    assert "odder" in words(await owner.post(f"/mates/{name.lower()}.md/edit", sent))


async def test_a_character_card_is_read_before_it_is_saved(site: Town, owner: Guest) -> None:
    """A card makes a draft that is told what it lacks; the mate is taken along as a card again."""
    fields = {
        "name": "Sera",
        "description": "{{char}} guards <b>it</b>.",
        "character_book": {"entries": [{"keys": ["/x/"], "use_regex": True, "content": "Never."}]},
    }
    files = {"file": ("sera.json", json.dumps(fields).encode())}
    draft = await owner.post("/mates/new/file", files=files)
    assert "Sera guards <b>it</b>." in typed(draft)
    assert "Somebody else wrote it" in draft.text
    assert "called by patterns" in draft.text
    assert not file_of(site, "sera.md").exists()
    assert "told=new" in str((await owner.post("/mates/new", {"text": typed(draft)})).url)
    assert "Never." in words(await owner.get("/mates/sera"))
    png = await owner.get("/mates/sera/export/png")
    assert png.headers["content-type"] == "image/png"
    again = await owner.post("/mates/new/file", files={"file": ("sera.png", png.content)})
    assert "Sera guards <b>it</b>." in typed(again)
    wrong = await owner.post("/mates/new/file", files={"file": ("x.png", png.content[:200])})
    assert "damaged" in wrong.text
    assert (await owner.get("/mates/sera/export/exe")).status_code == 400
