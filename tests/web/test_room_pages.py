"""Rooms in the browser, by their forms: what people do, and what others then see."""

import asyncio
import re
from pathlib import Path

import httpx
import pytest

from loopforge.core.delivery_states import Accepted
from loopforge.core.limits.turn_bounds import TurnBounds
from loopforge.core.room_vocabulary import File, Heard
from loopforge.core.text.erasable_text import Words
from loopforge.errors import TooLarge
from loopforge.models.scripted_model import ScriptedAnswer
from tests.models.hearing import OGG
from tests.rooms.conftest import START
from tests.rooms.test_voice_notes import hears
from tests.sim_clock import SimClock
from tests.web.conftest import Guest, Town, town
from tests.web.test_event_stream import Page, open_page


async def test_the_list_teaches_when_it_is_empty(site: Town, owner: Guest) -> None:
    """Somebody in no room is told what a room is, and is given the form that makes one."""
    ben = await site.guest("ben", by=owner)
    text = (await ben.get("/")).text
    assert "<form" in text
    assert 'action="/rooms"' in text
    room = await site.room(ben, "Bread and circuses", "zuzu")
    text = (await ben.get("/")).text
    assert "Bread and circuses" in text
    assert f"/rooms/{room}" in text
    assert room not in (await owner.get("/")).text


async def test_the_address_of_the_rooms_leads_to_their_list(owner: Guest) -> None:
    """Whoever types it, or goes back to it, is not told that it did not work."""
    answer = await owner.get("/rooms")
    assert answer.status_code == 200
    assert 'action="/rooms"' in answer.text


async def test_what_is_new_is_counted_until_it_was_seen(site: Town, owner: Guest) -> None:
    """Unread lines are counted for each person, up to where their page was shown."""
    room = await site.room(owner, "Tea")
    ben = await site.guest("ben", room, by=owner)
    await owner.post(f"/rooms/{room}/seen", {"seq": "999"})
    for number in range(3):
        await ben.says(room, f"line {number}")
    assert re.search(r"\b3\b[^<]*(?:new|unread)|unread[^<]*>\s*3", (await owner.get("/")).text)
    last = (await site.events(room))[-1].seq
    assert (await owner.post(f"/rooms/{room}/seen", {"seq": str(last)})).status_code == 204
    reads = await site.app.accounts.decisions.vault.reads(owner.person)
    (plate,) = [
        p for p in await site.app.front.lobby.rooms_of(owner.person, reads) if p.room == room
    ]
    assert plate.unread == 0


async def test_a_line_that_was_shown_is_delivered(site: Town, owner: Guest) -> None:
    """A mate's line is accepted once a page says that it was shown, by whom and where."""
    room = await site.talk(owner, "Tea", "@maya hello")
    events = await site.events(room)
    await owner.post(f"/rooms/{room}/seen", {"seq": str(events[-1].seq)})
    (accepted,) = [e.body for e in await site.events(room) if isinstance(e.body, Accepted)]
    assert accepted.message_id.startswith(f"web:{owner.person}:")


async def test_history_loads_in_pages(site: Town, owner: Guest) -> None:
    """A long room comes in pages, each before the last, with nothing twice and nothing missing."""
    room = await site.room(owner)
    await site.heard(room, owner, *(f"line number {number}." for number in range(150)))
    pages = [(await owner.get(f"/rooms/{room}")).text]
    while True:
        found = re.findall(r'data-seq="(\d+)"', pages[-1])
        text = (await owner.get(f"/rooms/{room}/before", params={"seq": min(map(int, found))})).text
        if not re.findall(r'data-seq="(\d+)"', text):
            break
        pages.append(text)
    seen = [n for page in pages for n in re.findall(r"line number (\d+)\.</p>", page)]
    assert sorted(map(int, seen)) == list(range(150))


async def test_a_link_to_an_old_line_shows_it(site: Town, owner: Guest) -> None:
    """A room can be opened at any line of it."""
    room = await site.room(owner)
    first = await owner.says(room, "the very first")
    await site.heard(room, owner, *(f"line {number}" for number in range(100)))
    assert "the very first" not in (await owner.get(f"/rooms/{room}")).text
    text = (await owner.get(f"/rooms/{room}", params={"at": first["seq"]})).text
    assert "the very first" in text


async def test_lines_are_found(site: Town, owner: Guest) -> None:
    """Search finds lines by their words, whatever the case, and says so when there are none."""
    room = await site.room(owner, "Tea", "maya")
    await owner.says(room, "The lighthouse is out of order.")
    text = (await owner.get(f"/rooms/{room}/search", params={"words": "LIGHTHOUSE order"})).text
    assert "out of order" in text
    nothing = (await owner.get(f"/rooms/{room}/search", params={"words": "submarine"})).text
    assert "submarine" in nothing
    assert "data-seq" not in nothing


async def test_a_file_comes_back_byte_for_byte(site: Town, owner: Guest) -> None:
    """A text file is read by mates and handed back as it was; a picture is shown, not run."""
    room = await site.room(owner, "Tea", "maya")
    data = b"one\r\nzwei\r\n<script>alert(1)</script>"
    png = bytes.fromhex("89504e470d0a1a0a") + b"\x00" * 40
    answer = await owner.post(
        f"/rooms/{room}/lines",
        {"text": "@maya look"},
        files=[("files", ("notes.html", data, "text/html")), ("files", ("x.png", png))],
        headers={"accept": "application/json"},
    )
    assert answer.status_code == 200, answer.text
    await site.rest(room)
    (heard,) = [e for e in await site.events(room) if isinstance(e.body, Heard)]
    assert isinstance(heard.body, Heard)
    assert "zwei" in str(heard.body.files[0].text)
    text = await owner.get(f"/rooms/{room}/files/{heard.id}/0")
    assert text.content == data
    assert text.headers["content-type"] == "application/octet-stream"
    assert text.headers["content-disposition"].startswith("attachment")
    assert "sandbox" in text.headers["content-security-policy"]
    picture = await owner.get(f"/rooms/{room}/files/{heard.id}/1")
    assert (picture.content, picture.headers["content-type"]) == (png, "image/png")
    assert (await owner.get(f"/rooms/{room}/files/{heard.id}/2")).status_code == 404
    part = await owner.get(f"/rooms/{room}/files/{heard.id}/1", headers={"range": "bytes=0-1"})
    assert (part.status_code, part.content) == (206, png[:2])
    assert part.headers["content-range"] == f"bytes 0-1/{len(png)}"
    late = await owner.get(f"/rooms/{room}/files/{heard.id}/1", headers={"range": "bytes=99-"})
    assert (late.status_code, late.headers["content-range"]) == (416, f"bytes */{len(png)}")


async def test_a_line_with_files_waits_once_for_all_of_them(tmp_path: Path) -> None:
    """What is too much just now is not counted: whoever waits as long as they are told gets in."""
    clock = SimClock(START)
    async with town(tmp_path, upload_limit_bytes=1000, clock=clock) as site:
        owner = await site.owner()
        room = await site.room(owner)

        async def three() -> httpx.Response:
            return await owner.post(
                f"/rooms/{room}/lines",
                {"text": "look"},
                files=[("files", (f"{nth}.txt", b"x" * 900)) for nth in range(3)],
                headers={"accept": "application/json"},
            )

        for _ in range(3):
            assert (await three()).status_code == 200
        for _ in range(4):
            refused = await three()
            assert refused.status_code == 429
        seconds = re.search(r"Wait (\d+) seconds", refused.json()["error"])
        assert seconds
        await clock.advance(int(seconds[1]))
        assert (await three()).status_code == 200


async def test_what_is_too_large_is_refused_with_its_size(tmp_path: Path) -> None:
    """A file above the limit is refused in a sentence with both figures; the line is not lost."""
    async with town(tmp_path, upload_limit_bytes=1000) as site:
        owner = await site.owner()
        room = await site.room(owner)
        answer = await owner.post(
            f"/rooms/{room}/lines",
            {"text": "look"},
            files=[("files", ("big.txt", b"x" * 2000))],
            headers={"accept": "application/json"},
        )
        assert answer.status_code == 413
        assert "2,000" in answer.json()["error"]
        assert "1,000" in answer.json()["error"]
        assert [e.kind for e in await site.events(room)].count("room.heard") == 0


async def test_only_what_is_too_large_is_said_to_be_so(site: Town, owner: Guest) -> None:
    """A file that is empty is a wrong form and not a large one, whatever it is called."""
    room = await site.room(owner)
    answer = await owner.post(
        f"/rooms/{room}/lines", {"text": "look"}, files=[("files", ("bytes.txt", b" \n"))]
    )
    assert answer.status_code == 400
    assert "bytes.txt is empty" in answer.text


async def test_a_long_text_that_comes_as_it_is_is_too_large(site: Town, owner: Guest) -> None:
    """A surface that hands a file's text to the room is told by the error's kind, too."""
    room = await site.room(owner)
    text = Words("x" * (site.app.settings.file_limit_bytes + 1))
    file = File(name=Words("long.txt"), size=1, text=text)
    with pytest.raises(TooLarge, match=r"long\.txt has .* bytes"):
        await site.app.front.rooms.hear(
            room, Heard(person=owner.person, text=Words("look"), surface="web", files=(file,))
        )


async def test_how_a_room_works_is_set_by_forms(site: Town, owner: Guest) -> None:
    """Title, mates, policy, triggers, energy and conversation: each form does what it says."""
    room = await site.room(owner, "", "maya")

    async def set(act: str, **fields: object) -> str:
        answer = await owner.post(f"/rooms/{room}/settings", {"act": act, **fields})
        assert answer.status_code == 200, answer.text
        return answer.text

    assert "The room is called Tea." in await set("title", title="Tea")
    await set("add", mate="zuzu")
    await set("policy", mate="zuzu", policy="stub")
    await set("triggers", mate="maya", calls=["mention", "reply"])
    await set("energy", capacity="3", refill="2")
    assert 'value="0.05"' in await set("bounds", calls="2", seconds="", money="0.05")
    state = await site.app.front.rooms.state(room)
    assert str(state.title) == "Tea"
    assert list(state.mates) == ["maya", "zuzu"]
    assert state.policy("zuzu") == "stub"
    assert state.triggers["maya"] == ("mention", "reply")
    assert (state.energy.capacity, state.energy.refill) == (3, 2)
    assert state.bounds == TurnBounds(calls=2, money=0.05)
    await set("triggers", mate="maya")
    assert (await site.app.front.rooms.state(room)).triggers["maya"] == ()
    await set("triggers", mate="maya", own="yes", calls="name")
    assert (await site.app.front.rooms.state(room)).triggers == {}
    await set("policy", mate="zuzu", policy="own")
    assert (await site.app.front.rooms.state(room)).policy("zuzu") == ""
    await set("remove", mate="zuzu")
    await set("new")
    await set("end")
    state = await site.app.front.rooms.state(room)
    assert list(state.mates) == ["maya"]
    assert state.conversation == ""
    assert "only when they are called" in await set("talk", talk="called")
    await set("add", mate="zuzu")
    assert "Zuzu answers lines that name no mate" in await set("mate", mate="zuzu")
    assert "<li>olu may be answered by mates" in await set("rights", rights="olu all")
    assert "Everybody here may" in await set("rights", rights="")
    state = await site.app.front.rooms.state(room)
    assert (state.quiet, state.default_mate) == (True, "zuzu")
    assert state.rights[owner.person].rights == ("talk", "stop", "change", "tools")
    for act, told in (
        ("status", "People here: olu."),
        ("usage", "In this room, this month"),
        ("model", "set in its file"),
        ("mates", "Merlin (@merlin)"),
    ):
        assert told in await set(act)
    wrong = await owner.post(f"/rooms/{room}/settings", {"act": "energy", "capacity": "lots"})
    assert wrong.status_code == 400
    assert "no number of lines" in wrong.text


async def test_what_begins_with_a_slash_is_for_the_room(site: Town, owner: Guest) -> None:
    """A command is done for whoever typed it and said to nobody; what is none, is told so."""
    room = await site.room(owner, "Bread talk", "maya")
    path, json = f"/rooms/{room}/command", {"accept": "application/json"}
    told = await owner.post(path, {"text": " /title Rye "}, headers=json)
    assert "Rye" in told.json()["told"]
    assert str((await site.app.front.rooms.state(room)).title) == "Rye"
    for text, why in (("/dance", "no command"), ("/link K7QF-2MXD", "under your picture")):
        refused = await owner.post(path, {"text": text}, headers=json)
        assert refused.status_code in (400, 404)
        assert why in refused.json()["error"]
    assert not [each for each in await site.events(room) if isinstance(each.body, Heard)]


@pytest.mark.parametrize(
    ("typed", "told"),
    [("/status", "People here: olu."), (" /Status ", "People here: olu."), ("/title\nRye", "Rye")],
)
async def test_a_plain_form_says_no_command_to_anybody(
    site: Town, owner: Guest, typed: str, told: str
) -> None:
    """Without scripts, too, what begins with a slash is done and answered on the page, alone."""
    room = await site.room(owner, "Bread talk")
    shown = await owner.post(f"/rooms/{room}/lines", {"text": typed}, files={"none": ("", b"")})
    found = re.search(r'<p[^>]*id="told"([^>]*)>([^<]*)', shown.text)
    assert found
    assert (told in found[2], "hidden" in found[1]) == (True, False)
    assert not [each for each in await site.events(room) if isinstance(each.body, Heard)]
    for text in ("/etc/passwd is a file", "//who", "/ who"):
        await owner.post(f"/rooms/{room}/lines", {"text": text}, files={"none": ("", b"")})
    said = [str(each.body.text) for each in await site.events(room) if isinstance(each.body, Heard)]
    assert said == ["/etc/passwd is a file", "//who", "/ who"]


async def test_marks_are_put_on_lines(site: Town, owner: Guest) -> None:
    """A line can be kept or let go; a line of another room can not."""
    room, other = await site.room(owner), await site.room(owner)
    line = await owner.says(room, "never forget this")
    assert (
        await owner.post(f"/rooms/{room}/mark", {"line": line["id"], "mark": "keep"})
    ).is_success
    wrong = await owner.post(f"/rooms/{other}/mark", {"line": line["id"], "mark": "keep"})
    assert wrong.status_code == 404
    assert [event.kind for event in await site.events(room)].count("room.marked") == 1


async def test_people_come_by_invite_and_see_what_they_may(site: Town, owner: Guest) -> None:
    """An invite works once; its maker decides whether the past is seen; who came is told."""
    room = await site.room(owner, "Tea")
    await owner.says(room, "before you came")
    page = (await owner.post(f"/rooms/{room}/invite", {"past": "yes"})).text
    found = re.search(r"/join/([\w-]+)", page)
    assert found
    ben = await site.stranger("ben")
    asked = (await ben.get(f"/join/{found[1]}")).text
    assert "Tea" in asked
    answer = await ben.post(f"/join/{found[1]}", {"name": "ben", "password": "long enough"})
    assert "before you came" in answer.text
    cat = await site.stranger("cat")
    assert (await cat.get(f"/join/{found[1]}")).status_code == 404
    assert "ben" in (await owner.get(f"/rooms/{room}")).text


async def test_without_a_script_everything_is_a_form(site: Town, owner: Guest) -> None:
    """A browser that runs no script says a line by a form and is led back to the room."""
    room = await site.room(owner, "Tea", "maya")
    answer = await owner.post(
        f"/rooms/{room}/lines", {"text": "@maya plainly"}, files={"n": ("", b"")}
    )
    assert answer.url.path == f"/rooms/{room}"
    assert "plainly" in answer.text


async def test_where_voice_notes_are_recorded(tmp_path: Path) -> None:
    """The button is there where a model hears, for guests who may give files; sound plays in place."""
    ears = {"LOOPFORGE_TRANSCRIPTION_MODEL": "ears"}
    async with town(tmp_path, hears("Hello."), environ=ears, guest_files="none") as site:
        owner = await site.owner()
        room = await site.room(owner, "Kitchen", "maya")
        guest = await site.guest("ana", room, by=owner)
        data = {"text": ""}
        note = {"files": ("note.ogg", OGG)}
        assert (await owner.post(f"/rooms/{room}/lines", data, files=note)).status_code == 200
        await site.rest(room)
        shown = await owner.get(f"/rooms/{room}")
        assert 'id="voice"' in shown.text
        assert 'class="words transcribed"' in shown.text
        assert shown.text.count("<audio controls") == 1
        assert "microphone=(self)" in shown.headers["permissions-policy"]
        assert "media-src 'self'" in shown.headers["content-security-policy"]
        assert 'id="voice"' not in (await guest.get(f"/rooms/{room}")).text
        assert "Mates cannot hear this" not in shown.text
    (tmp_path / "deaf").mkdir()
    async with town(tmp_path / "deaf") as site:
        owner = await site.owner()
        room = await site.room(owner, "Kitchen", "maya")
        await owner.post(f"/rooms/{room}/lines", data, files=note)
        shown = await owner.get(f"/rooms/{room}")
        assert 'id="voice"' not in shown.text
        assert shown.text.count("Mates cannot hear this: the owner of this home has chosen no") == 1
        await owner.post("/admin/settings/transcription_model", {"value": "ears"})
        assert "Mates cannot hear this" not in (await owner.get(f"/rooms/{room}")).text


async def test_a_film_is_shown(site: Town, owner: Guest) -> None:
    """What is called an MP4 film is shown as one; the same bytes by a name of sound are sound."""
    room = await site.room(owner, "Tea", "maya")
    film = b"\0\0\0\x20ftypmp42film"
    for name in ("video note.MP4", "note.m4a"):
        await owner.post(f"/rooms/{room}/lines", {"text": ""}, files={"files": (name, film)})
    shown = (await owner.get(f"/rooms/{room}")).text
    assert (shown.count("<video controls"), shown.count("<audio controls")) == (1, 1)
    assert 'aria-label="video note.MP4"></video>' in shown


async def test_a_voice_note_that_is_being_written_down(tmp_path: Path) -> None:
    """Its line says so on every page, old and new, and no longer once that is over."""
    slow = ScriptedAnswer(text="Hello.", wait=60)
    ears = {"LOOPFORGE_TRANSCRIPTION_MODEL": "ears"}
    async with town(tmp_path, hears(slow), environ=ears) as site:
        owner = await site.owner()
        room = await site.room(owner, "Kitchen", "maya")
        async with open_page(owner, room) as page:
            note = {"files": ("note.ogg", OGG)}
            await owner.post(f"/rooms/{room}/lines", {"text": ""}, files=note)
            while (line := listened(page)) == "":
                await asyncio.sleep(0.01)
            (heard,) = [e for e in await site.events(room) if isinstance(e.body, Heard)]
            assert line == heard.id
            assert f'data-hearing="{line}"' in (await owner.get(f"/rooms/{room}")).text
            await owner.post(f"/rooms/{room}/stop")
            while listened(page):
                await asyncio.sleep(0.01)
            assert 'data-hearing=""' in (await owner.get(f"/rooms/{room}")).text


def listened(page: Page) -> str:
    """The line whose voice note is being written down, as the page was told last."""
    scenes = [data for name, _, data in page.given if name == "scene"]
    found = re.search('data-hearing="([^"]*)"', scenes[-1])
    return found[1] if found else ""
