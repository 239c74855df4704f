"""Guests: whose room they come into, who is there, how to leave; and what they may use."""

import re

import httpx
import pytest

from loopforge.chat.commands.command_request import CommandRequest
from loopforge.core.room_vocabulary import Heard, Told
from loopforge.core.text.erasable_text import Words
from loopforge.errors import InputError
from tests.web.conftest import PASSWORD, Guest, Town, words


async def saved(owner: Guest, **limits: object) -> httpx.Response:
    """Save what guests may use, by the form."""
    return await owner.post("/admin/invites/guests", dict(limits))


async def told(site: Town, room: str) -> list[str]:
    """What the room itself told its people."""
    return [
        str(event.body.text) for event in await site.events(room) if isinstance(event.body, Told)
    ]


async def said(site: Town, room: str) -> list[str]:
    """Which mates said something, in order."""
    return [event.actor for event in await site.events(room) if event.kind == "room.said"]


# ---------------------------------------------------------------- coming in


async def test_an_invite_says_whose_room_it_is_and_who_is_there(site: Town, owner: Guest) -> None:
    """Before they come in and as they do: the home's owner, the people, the mates, and the way out."""
    room = await site.room(owner, "Ovens", "maya")
    ana = await site.guest("ana", room, by=owner)
    made = await ana.post(f"/rooms/{room}/invite")
    link = re.search(r"/join/[\w-]+", made.text)
    assert link
    ben = await site.stranger("ben")
    door = words(await ben.get(link[0]))
    assert "ana invites you to “Ovens”" in door
    assert "in olu’s home" in door
    assert "2 people (olu, ana) and the mate Maya" in door
    assert "You can leave at any time" in door
    came = await ben.post(link[0], {"name": "ben", "password": PASSWORD})
    assert came.url.path == f"/rooms/{room}"
    assert "This is a room in olu’s home. Here as you came in: 3 people (olu, ana, ben)" in words(
        came
    )
    assert f'href="/rooms/{room}/settings#leave"' in came.text
    assert "Where you are" not in (await ben.get(f"/rooms/{room}")).text
    assert "opened it" in words(await ben.get(f"/rooms/{room}"))
    left = await ben.post(f"/rooms/{room}/leave")
    assert left.url.path == "/"
    assert (await ben.get(f"/rooms/{room}")).status_code == 404


async def test_an_invite_into_the_home_says_whose_it_is(site: Town, owner: Guest) -> None:
    """Without a room there is nobody to name but the owner."""
    made = await owner.post("/admin/invites", {"days": "2"})
    link = re.search(r"/join/[\w-]+", made.text)
    assert link
    assert "This is olu’s home." in words(await (await site.stranger()).get(link[0]))


# ---------------------------------------------------------------- what they may use


async def test_mates_that_are_not_for_guests_answer_the_owner_alone(
    site: Town, owner: Guest
) -> None:
    """A guest who calls one is told; neither by another mate nor by bringing it in is it reached."""
    answer = await saved(owner, guest_mates="", mates=["maya", "zuzu"])
    assert "Saved. It holds from now on." in answer.text
    room = await site.room(owner, "Ovens", "maya", "merlin")
    ben = await site.guest("ben", room, by=owner)
    await ben.says(room, "@merlin are you there?")
    await site.rest(room)
    assert await said(site, room) == []
    assert await told(site, room) == ["Merlin does not answer guests of this home."]
    await ben.says(room, "@maya and you?")
    await site.rest(room)
    assert set(await said(site, room)) == {"mate:maya"}
    await owner.says(room, "@merlin are you there?")
    await site.rest(room)
    assert "mate:merlin" in await said(site, room)
    theirs = await ben.post("/rooms", {"title": "Mine", "mates": ["merlin"]})
    assert theirs.status_code == 400
    assert "not for guests" in words(theirs)
    own = await site.room(ben, "Mine", "maya")
    brought = await ben.post(f"/rooms/{own}/settings", {"act": "add", "mate": "merlin"})
    assert brought.status_code == 400
    assert 'value="merlin"' not in (await ben.get(f"/rooms/{own}/settings")).text
    assert 'value="merlin"' not in (await ben.get("/")).text
    assert (await ben.post("/mates/merlin/try")).status_code == 400
    await saved(owner, guest_mates="", mates=["maya", "zuzu", "merlin"])
    await ben.says(room, "@merlin and now?")
    await site.rest(room)
    assert (await said(site, room))[-1] == "mate:merlin"


async def test_a_guest_is_one_wherever_they_are(site: Town, owner: Guest) -> None:
    """By an account elsewhere that is linked to them they reach no more than in the browser."""
    await saved(owner, guest_mates="", mates=["maya", "zuzu"])
    room = await site.room(owner, "Ovens", "maya", "merlin")
    ben = await site.guest("ben", room, by=owner)
    code = await site.app.linking.offer_code(ben.person)
    await site.app.linking.claim(code, "discord", "7")
    there = (await site.app.people.meet("discord", "7", "Benny")).id

    async def says(person: str, text: str, *, owner: bool = False) -> None:
        line = Heard(person=person, text=Words(text), surface="discord:1", owner=owner)
        await site.app.front.rooms.hear(room, line)
        await site.rest(room)

    await says(there, "@merlin are you there?")
    assert await said(site, room) == []
    asked = CommandRequest(room=room, person=there, argument="merlin", surface="discord:1")
    with pytest.raises(InputError, match="not for guests"):
        await site.app.front.commands.carry_out("add", asked)
    await says(owner.person, "@merlin are you there?", owner=True)
    assert await said(site, room) == ["mate:merlin"]


async def test_no_mate_may_be_for_guests(site: Town, owner: Guest) -> None:
    """With none ticked, people talk among themselves."""
    await saved(owner, guest_mates="")
    room = await site.room(owner, "Ovens", "maya")
    ben = await site.guest("ben", room, by=owner)
    await ben.says(room, "@maya hello")
    await site.rest(room)
    assert await said(site, room) == []
    assert "No mate is for guests here." in words(await ben.get("/"))


async def test_guests_open_no_rooms_where_that_is_set(site: Town, owner: Guest) -> None:
    """Neither by the form, which is gone, nor without it; the owner does."""
    await saved(owner, guest_rooms="false")
    ben = await site.guest("ben", "", by=owner)
    assert "new-room" not in (await ben.get("/")).text
    refused = await ben.post("/rooms", {"title": "Mine", "mates": ["maya"]})
    assert refused.status_code == 400
    assert "its owner can invite you" in words(refused)
    assert (await ben.post("/mates/maya/try")).status_code == 400
    assert "Try it out" not in (await ben.get("/mates/maya")).text
    await site.room(owner, "Ovens", "maya")


async def test_guests_give_the_files_that_are_set(site: Town, owner: Guest) -> None:
    """Pictures or all files are refused with a sentence, and nothing of them is kept."""
    room = await site.room(owner, "Ovens")
    ben = await site.guest("ben", room, by=owner)
    picture = b"GIF89a\x01\x00\x01\x00\x00\x00\x00;"

    async def gives(who: Guest, name: str, data: bytes) -> int:
        sent = await who.post(
            f"/rooms/{room}/lines",
            {"text": "here"},
            files={"files": (name, data)},
            headers={"accept": "application/json"},
        )
        return sent.status_code

    assert await gives(ben, "a.gif", picture) == 200
    await saved(owner, guest_files="no-pictures")
    assert await gives(ben, "b.gif", picture + b" ") == 400
    assert await gives(ben, "b.txt", b"words") == 200
    await saved(owner, guest_files="none")
    assert await gives(ben, "c.txt", b"words") == 400
    assert await gives(owner, "d.gif", picture) == 200
    assert re.search(r'title="Add files" hidden', (await ben.get(f"/rooms/{room}")).text)
    assert not re.search(r'title="Add files" hidden', (await owner.get(f"/rooms/{room}")).text)


async def test_the_form_shows_what_holds_and_refuses_what_cannot(site: Town, owner: Guest) -> None:
    """A wrong number is said; what was not in the form is left as it is; guests see no such page."""
    await saved(owner, who_may_invite="owner", answers_per_person_a_day="5")
    shown = (await owner.get("/admin/invites")).text
    assert '<option value="owner" selected>' in shown
    assert re.search(r'name="answers_per_person_a_day"[^>]* value="5"', shown)
    wrong = await saved(owner, answers_per_person_a_day="many")
    assert wrong.status_code == 400
    assert "answers_per_person_a_day" in words(wrong)
    assert site.app.live.now.answers_per_person_a_day == 5
    assert site.app.live.now.guest_mates == ""
    for size in ("2000000", "9000000"):
        page = (await saved(owner, upload_limit_bytes=size)).text
        assert re.search(rf'name="upload_limit_bytes"[^>]* value="{size}"', page)
    now = str(site.app.live.now.upload_limit_bytes)
    page = (await saved(owner, upload_limit_bytes=now)).text
    assert re.search(rf'name="upload_limit_bytes"[^>]* value="{now}"', page)
    ben = await site.guest("ben", "", by=owner)
    assert (await ben.post("/admin/invites/guests", {"guest_rooms": "false"})).status_code == 404
    assert site.app.live.now.guest_rooms


async def test_rights_in_a_room_are_ticked_and_shown(site: Town, owner: Guest) -> None:
    """What holds stands there in words; ticks set it, for everybody or for one; none is none."""
    room = await site.room(owner, "Ovens", "maya")
    ben = await site.guest("ben", room, by=owner)
    at = f"/rooms/{room}/settings"
    shown = words(await owner.get(at))
    assert "Everybody here may be answered by mates, stop mates, change the room" in shown
    form = {"act": "rights", "who": ben.person, "right": ["talk", "stop"]}
    assert "ben may be answered by mates and stop mates." in words(await owner.post(at, form))
    refused = await ben.post(at, {"act": "title", "title": "Mine"})
    assert refused.status_code == 400
    nothing = await owner.post(at, {"act": "rights", "who": "everyone"})
    assert "Everybody here may do nothing here but read." in words(nothing)
    wrong = {"act": "rights", "who": "everyone", "right": ["fly"]}
    assert (await owner.post(at, wrong)).status_code == 400


async def test_how_many_answers_each_had_today_stands_by_their_name(
    site: Town, owner: Guest
) -> None:
    """Beside what is allowed; the owner may have as many as they like."""
    room = await site.room(owner, "Ovens", "maya")
    ben = await site.guest("ben", room, by=owner)
    await ben.says(room, "@maya hello")
    await site.rest(room)
    people = words(await owner.get("/admin/people"))
    assert "1 answer of mates today of 200" in people
    assert "0 answers of mates today" in people
