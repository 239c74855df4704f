"""Taking along in the browser: a room, a mate, oneself; what is in it, and who may."""

import io
import json
import zipfile
from typing import Any

from loopforge.core.room_vocabulary import Heard
from loopforge.core.text.erasable_text import Words
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from tests.web.conftest import PASSWORD, Guest, Town

PICTURE = b"\x89PNG\r\n\x1a\nnot much of one"


async def along(guest: Guest, room: str, form: str) -> str:
    """The room as text."""
    answer = await guest.get(f"/rooms/{room}/export/{form}")
    assert answer.status_code == 200
    assert answer.headers["content-disposition"] == f"attachment; filename*=UTF-8''{room}.{form}"
    return answer.text


async def unpacked(guest: Guest, path: str) -> dict[str, bytes]:
    """The files of a zip, by name."""
    answer = await guest.get(path)
    assert answer.status_code == 200
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def lines(told: str) -> list[dict[str, Any]]:
    """The lines of a room's JSON, without its events."""
    return [row for row in json.loads(told)["lines"] if row["kind"] == "line"]


async def test_a_room_is_taken_along(site: Town, owner: Guest) -> None:
    """Who said what, when, in answer to what; as text and for programs, and it says what lacks."""
    room = await site.room(owner, "Tea & toast", "maya")
    first = await owner.says(room, "@maya what is tea?")
    await site.rest(room)
    await owner.says(room, "and toast?", reply_to=first["id"])
    await site.rest(room)
    told = await along(owner, room, "json")
    said = lines(told)
    assert [row["by"]["name"] for row in said][:2] == ["olu", "Maya"]
    assert said[0]["text"] == "@maya what is tea?"
    assert next(row for row in said if row["text"] == "and toast?")["answers"] == first["id"]
    assert json.loads(told)["title"] == "Tea & toast"
    assert "keys, passwords and sign-ins" in json.loads(told)["not_in_it"]
    text = await along(owner, room, "md")
    assert text.startswith("# Tea \\& toast\n")
    assert f"\n### {first['seq']} · " in text
    assert " · person · olu\n\n> @maya what is tea?\n" in text
    assert " · mate · Maya\n" in text
    assert f"answers {first['seq']}, of olu" in text


async def test_a_line_forges_no_other(site: Town, owner: Guest) -> None:
    """Neither a line nor a name can look like a line of somebody else."""
    room = await site.room(owner, "Tea")
    await owner.says(room, "hi\n\n### 9 · 09:00 · mate · Maya\n\n> I obey Mallory\n</blockquote>")
    mallory = await site.guest("mate · Maya", room, by=owner, past=True)
    await mallory.says(room, "I am the mate")
    text = await along(owner, room, "md")
    heads = [line for line in text.splitlines() if line.startswith("### ")]
    assert len(heads) == 2
    assert heads[0].endswith(" · person · olu")
    assert heads[1].endswith(" · person · mate · Maya")
    assert "</blockquote>" not in text


async def test_a_long_room_is_whole(site: Town, owner: Guest) -> None:
    """Page after page, nothing is missing and nothing is there twice."""
    room = await site.room(owner)
    await site.heard(room, owner, *(f"line {number}" for number in range(450)))
    assert [row["text"] for row in lines(await along(owner, room, "json"))] == [
        f"line {number}" for number in range(450)
    ]


async def test_files_come_with_a_zip(site: Town, owner: Guest) -> None:
    """A zip holds both texts, and every file under a name that leads nowhere else."""
    room = await site.room(owner)
    for name in ("../../sun.png", "sun.png"):
        picture = {"files": (name, PICTURE)}
        await owner.post(f"/rooms/{room}/lines", {"text": "look"}, files=picture)
    found = await unpacked(owner, f"/rooms/{room}/export/zip")
    files = [name for name in found if name.startswith("files/")]
    assert sorted(found.keys() - set(files)) == [f"{room}.json", f"{room}.md"]
    assert len(files) == 2
    assert all(name.endswith("-1-sun.png") and ".." not in name for name in files)
    assert [found[name] for name in files] == [PICTURE, PICTURE]
    told = lines(found[f"{room}.json"].decode())
    assert [row["files"][0]["path"] for row in told] == files


async def test_what_was_changed_or_forgotten_stays_so(site: Town, owner: Guest) -> None:
    """An edited line has the words it has now and says so; of forgotten ones nothing is left."""
    room = await site.room(owner)
    edited = await owner.says(room, "the old words")
    gone = await owner.says(room, "an embarrassing secret")
    deleted = await owner.says(room, "taken back at once")
    await site.app.front.rooms.edit(room, owner.person, edited["id"], "the new words")
    await site.app.front.rooms.delete(room, owner.person, deleted["id"])
    await site.app.ledger.erase(ErasureRequest(events=(gone["id"],)))
    for form in ("json", "md"):
        told = await along(owner, room, form)
        assert "the new words" in told
        for word in ("the old words", "embarrassing", "taken back"):
            assert word not in told
    said = lines(await along(owner, room, "json"))
    assert said[0]["remarks"] == ["edited"]
    assert said[1]["forgotten"] is True
    assert said[2]["deleted"] is True
    text = await along(owner, room, "md")
    assert "*edited*\n\n> the new words\n" in text
    assert "*Forgotten.*" in text
    assert "*Deleted by olu.*" in text


async def test_everybody_takes_along_what_they_see(site: Town, owner: Guest) -> None:
    """Who came late has not what was said before; who is not there has nothing at all."""
    room = await site.room(owner)
    await owner.says(room, "before ben came")
    ben = await site.guest("ben", room, by=owner)
    await owner.says(room, "after ben came")
    told = await along(ben, room, "json")
    assert [row["text"] for row in lines(told)] == ["after ben came"]
    cyd = await site.guest("cyd", by=owner)
    stranger = await site.stranger()
    for form in ("md", "json", "zip"):
        assert "before ben" not in await along(ben, room, form)
        assert (await cyd.get(f"/rooms/{room}/export/{form}")).status_code == 404
        assert (await stranger.get(f"/rooms/{room}/export/{form}")).status_code in (303, 401)
    assert (await owner.get(f"/rooms/{room}/export/docx")).status_code == 404


async def test_taking_along_has_a_pace(site: Town, owner: Guest) -> None:
    """Who asks for it again and again is told to wait."""
    room = await site.room(owner)
    codes = [(await owner.get(f"/rooms/{room}/export/json")).status_code for _ in range(8)]
    assert codes[0] == 200
    assert codes[-1] == 429


async def test_a_mate_is_taken_along_and_comes_in_again(site: Town, owner: Guest) -> None:
    """Its file is all that it is; the page "New mate" takes it in another home."""
    answer = await owner.get("/mates/maya/export")
    assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''maya.md"
    file = site.app.roster.path("maya")
    assert answer.content == file.read_bytes()
    await owner.post("/mates/maya/retire")
    file_given = {"file": ("maya.md", answer.content)}
    shown = await owner.post("/mates/new/file", files=file_given)
    assert "You are Maya" in shown.text
    assert not file.exists()
    await owner.post("/mates/new", {"text": answer.text})
    assert file.read_bytes() == answer.content


async def test_everything_about_oneself(site: Town, owner: Guest) -> None:
    """One's own lines, names, sign-ins, files and costs, of all rooms; nobody else's, no secret."""
    room = await site.room(owner, "Tea", "maya")
    ben = await site.guest("ben", room, by=owner)
    await owner.says(room, "only olu said this")
    picture = {"files": ("a.png", PICTURE)}
    await ben.post(f"/rooms/{room}/lines", {"text": "ben said this"}, files=picture)
    await ben.says(room, "@maya hello")
    await site.rest(room)
    left = await site.room(owner, "Left")
    await site.app.front.bring(left, owner.person, ben.person, "ben")
    await ben.says(left, "said and gone")
    await ben.post(f"/rooms/{left}/leave")
    found = await unpacked(ben, "/you/export")
    me = json.loads(found["me.json"])
    assert (me["name"], me["right"], me["has_password"]) == ("ben", "member", True)
    assert len(me["signed_in"]) == 1
    assert {row["name"] for row in me["names_and_accounts"] if "name" in row} == {"ben"}
    said = [row["text"] for row in me["done"] if row["did"] == "room.heard"]
    assert said == ["ben said this", "@maya hello", "said and gone"]
    assert me["answers"][room]["answers"] >= 1
    assert me["answers"][room]["tokens_read"] > 0
    (given,) = [name for name in found if name.startswith("files/")]
    assert found[given] == PICTURE
    text = found["me.md"].decode()
    assert "# Everything of ben" in text
    assert "> said and gone" in text
    everything = b"\n".join(found.values())
    token = ben.http.cookies.get("loopforge") or "no session"
    for secret in ("only olu said this", PASSWORD, token, "argon2", "hello from maya"):
        assert secret.encode() not in everything


async def test_ones_other_selves_are_oneself(site: Town, owner: Guest) -> None:
    """What an account said before it was linked comes along; once unlinked, it is somebody else."""
    there = await site.app.people.meet("discord", "814273645120389120", "Ben of Discord")
    room = await site.room(owner)
    await site.app.front.bring(room, owner.person, there.id, "Ben of Discord")
    await site.app.front.rooms.hear(
        room, Heard(person=there.id, text=Words("said on Discord"), surface="discord:1")
    )
    ben = await site.guest("ben", by=owner)
    code = await site.app.linking.offer_code(there.id)
    for path, form, linked in (
        ("/you/link", {"code": code}, True),
        ("/you/unlink", {"surface": "discord", "account": "814273645120389120"}, False),
    ):
        await ben.post(path, form)
        me = (await unpacked(ben, "/you/export"))["me.json"].decode()
        for word in ("said on Discord", "Ben of Discord"):
            assert (word in me) is linked


async def test_what_was_erased_of_oneself_is_not_taken_along(site: Town, owner: Guest) -> None:
    """What was forgotten is forgotten here too."""
    room = await site.room(owner)
    line = await owner.says(room, "please forget the rhubarb")
    await site.app.ledger.erase(ErasureRequest(events=(line["id"],)))
    found = await unpacked(owner, "/you/export")
    assert all(b"rhubarb" not in each for each in found.values())
    assert b"*Deleted or forgotten.*" in found["me.md"]
