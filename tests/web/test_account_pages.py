"""The door: who comes in by which link, under which name, and what it does not tell."""

import re
from pathlib import Path

import httpx
import pytest

from tests.web.conftest import PASSWORD, Guest, Town
from tests.web.test_event_stream import open_page


def link_in(answer: httpx.Response, kind: str) -> str:
    """The path of the one-time link on a page."""
    found = re.search(rf"/{kind}/[\w-]{{20,}}", answer.text)
    assert found, answer.text
    return found[0]


async def joined(site: Town, token: str, name: str) -> tuple[Guest, httpx.Response]:
    """Somebody new who takes an invite by its path."""
    guest = await site.stranger(name)
    return guest, await guest.post(token, {"name": name, "password": PASSWORD})


# ---------------------------------------------------------------- invites


async def test_nobody_shows_more_of_a_room_than_they_may_see(site: Town, owner: Guest) -> None:
    """Who came late cannot invite anybody to the past: not a friend, and not themselves."""
    room = await site.room(owner, "Tea")
    await owner.says(room, "the old secret")
    late = await site.guest("late", room, by=owner)
    refused = await late.post(f"/rooms/{room}/invite", {"past": "yes"})
    assert refused.status_code == 400
    assert "not been here for all" in refused.text
    _, token = await site.app.accounts.links.invite(late.person, room, True)
    shown = (await (await site.stranger()).get(f"/join/{token}")).text
    assert "nothing from before" in shown
    friend, answer = await joined(site, f"/join/{token}", "friend")
    assert answer.url.path == f"/rooms/{room}"
    assert "the old secret" not in answer.text
    await owner.post(f"/rooms/{room}/invite", {"past": "yes"})
    heir = await site.guest("heir", room, by=owner, past=True)
    assert "the old secret" in (await heir.get(f"/rooms/{room}")).text
    allowed = await heir.post(f"/rooms/{room}/invite", {"past": "yes"})
    assert allowed.status_code == 200
    assert "the old secret" not in (await friend.get(f"/rooms/{room}")).text


async def test_who_invites_is_told_that_mates_have_the_conversation_in_mind(
    site: Town, owner: Guest
) -> None:
    """Where the newcomer is not to see what was said before, there is a way that mates tell none."""
    room = await site.room(owner, "Tea")
    hint = "Mates have this conversation in mind"
    assert hint in (await owner.post(f"/rooms/{room}/invite")).text
    assert hint not in (await owner.post(f"/rooms/{room}/invite", {"past": "yes"})).text


async def test_an_invite_ends_with_the_stay_of_who_made_it(site: Town, owner: Guest) -> None:
    """Who left a room cannot come back by an invite of their own, nor send anybody in."""
    room = await site.room(owner, "Tea")
    ben = await site.guest("ben", room, by=owner)
    own = link_in(await ben.post(f"/rooms/{room}/invite"), "join")
    await ben.post(f"/rooms/{room}/leave")
    assert (await ben.get(own)).status_code == 404
    assert (await ben.post(own)).status_code == 404
    assert (await ben.get(f"/rooms/{room}")).status_code == 404
    _, answer = await joined(site, own, "cat")
    assert answer.status_code == 404
    assert [one.name for one in await site.app.accounts.signing.accounts()] == ["olu", "ben"]


async def test_who_is_in_a_room_spends_no_invite_into_it(site: Town, owner: Guest) -> None:
    """They are told to pass it on, and whoever it was meant for comes in by it."""
    room = await site.room(owner, "Tea")
    link = link_in(await owner.post(f"/rooms/{room}/invite"), "join")
    refused = await owner.post(link)
    assert refused.status_code == 400
    assert "You are in this room already" in refused.text
    _, answer = await joined(site, link, "cat")
    assert answer.url.path == f"/rooms/{room}"


async def test_an_invite_into_a_deleted_room_opens_no_account(site: Town, owner: Guest) -> None:
    """Its link is spent, and does not say what the room was called."""
    room = await site.room(owner, "Tea")
    token = link_in(await owner.post(f"/rooms/{room}/invite"), "join")
    await owner.post(f"/rooms/{room}/delete", {"sure": "yes"})
    stranger = await site.stranger()
    shown = await stranger.get(token)
    assert shown.status_code == 404
    assert room not in shown.text
    _, answer = await joined(site, token, "ben")
    assert answer.status_code == 404
    assert len(await site.app.accounts.signing.accounts()) == 1


async def test_the_owner_comes_in_though_the_first_room_is_gone(site: Town, owner: Guest) -> None:
    """The one-time link leads to the list of rooms when the room of the house was deleted."""
    await owner.post("/rooms/commons/delete", {"sure": "yes"})
    again = await site.stranger()
    token = await site.app.accounts.links.offer()
    answer = await again.post(f"/enter/{token}")
    assert (answer.status_code, answer.url.path) == (200, "/")


# ---------------------------------------------------------------- names


@pytest.mark.parametrize(
    "name", ["Maya", "mErLiN", "room", "You", "everybody", "Keepers", "Somebody", "ｍａｙａ"]
)
async def test_a_name_that_would_confuse_is_refused(site: Town, name: str, owner: Guest) -> None:
    """Nobody is called like a mate, nor by a word that means something else in a room."""
    _, token = await site.app.accounts.links.invite(owner.person)
    guest, answer = await joined(site, f"/join/{token}", name)
    assert answer.status_code == 400
    assert "Take another name" in answer.text
    taken = await guest.post(f"/join/{token}", {"name": "Mayana", "password": PASSWORD})
    assert taken.status_code == 200


async def test_the_owner_is_no_mate_either(site: Town) -> None:
    """The very first name is looked at too; the link stays good."""
    stranger = await site.stranger()
    token = await site.app.accounts.links.offer()
    refused = await stranger.post(f"/enter/{token}", {"name": "Zuzu"})
    assert refused.status_code == 400
    assert "is a mate of this home" in refused.text
    assert (await stranger.post(f"/enter/{token}", {"name": "Zusanna"})).status_code == 200


async def test_who_gives_their_own_name_is_one_person(site: Town) -> None:
    """The terminal goes by the name of the machine's account, and means the owner by it too."""
    login = site.app.live.now.person
    before = await site.app.front.rooms.enter("commons", login, "terminal")
    ana = await site.owner("Ana")
    after = await site.app.front.rooms.enter("commons", login, "terminal")
    assert before.you != after.you == ana.person
    assert (await site.app.front.rooms.enter("commons", "Ana", "terminal")).you == ana.person
    assert [one.name.text for one in await site.app.people.everybody()] == ["Ana"]
    assert [name for _, name in after.people] == ["Ana"]


async def test_who_keeps_the_name_has_one_self(site: Town) -> None:
    """Nothing is linked where the terminal knows them by that name already."""
    olu = await site.owner(site.app.live.now.person)
    assert [one.linked for one in site.app.people.selves(olu.person)] == [False]


# ---------------------------------------------------------------- lost passwords


async def test_a_lost_password_is_set_anew(site: Town, owner: Guest) -> None:
    """The owner makes a link, the person sets a password by it, once; old sessions are over."""
    ben = await site.guest("ben", by=owner)
    assert f"/admin/people/{ben.person}/renewal" in (await owner.get("/admin/people")).text
    made = await owner.post(f"/admin/people/{ben.person}/renewal")
    assert made.status_code == 201
    link = link_in(made, "renew")
    elsewhere = await site.stranger()
    for _ in range(2):
        assert "Welcome back, ben" in (await elsewhere.get(link)).text
    short = await elsewhere.post(link, {"password": "short"})
    assert short.status_code == 400
    assert "at least" in short.text or "fewer than" in short.text
    done = await elsewhere.post(link, {"password": "another horse entirely"})
    assert (done.status_code, done.url.path) == (200, "/")
    assert (await ben.get("/")).status_code == 401
    assert (await ben.post(link, {"password": "and a third one"})).status_code == 404
    third = await site.stranger()
    old = await third.post("/sign-in", {"name": "ben", "password": PASSWORD})
    assert old.status_code == 400
    new = await third.post("/sign-in", {"name": "ben", "password": "another horse entirely"})
    assert new.url.path == "/"


async def test_a_link_to_a_new_password_is_the_owners_to_make(site: Town, owner: Guest) -> None:
    """A member makes none, an earlier one is void, and none outlives the account."""
    ben, cat = await site.guest("ben", by=owner), await site.guest("cat", by=owner)
    assert (await cat.post(f"/admin/people/{ben.person}/renewal")).status_code == 404
    assert (await owner.post(f"/admin/people/{owner.person}/renewal")).status_code == 400
    first = link_in(await owner.post(f"/admin/people/{ben.person}/renewal"), "renew")
    second = link_in(await owner.post(f"/admin/people/{ben.person}/renewal"), "renew")
    assert (await cat.get(first)).status_code == 404
    assert (await cat.get(second)).status_code == 200
    await owner.post(f"/admin/people/{ben.person}/close")
    assert (await cat.get(second)).status_code == 404
    assert (await owner.post(f"/admin/people/{ben.person}/renewal")).status_code == 404


async def test_no_token_is_written_down(site: Town, owner: Guest) -> None:
    """Neither the ledger nor the log holds a session's token or a one-time link."""
    ben = await site.guest("ben", by=owner)
    renewal = link_in(await owner.post(f"/admin/people/{ben.person}/renewal"), "renew")
    invite = link_in(await owner.post("/admin/invites", {"days": "3"}), "join")
    link = await site.app.accounts.links.offer()
    for path in (f"/enter/{link}", invite, renewal):
        await (await site.stranger()).get(path)
    ledger = "".join([line async for line in site.app.ledger.export()])
    assert "people.renewal_offered" in ledger
    files = [path.read_bytes() for path in kept(site.path / "data")]
    secrets = [link, invite.rpartition("/")[2], renewal.rpartition("/")[2]]
    secrets += [guest.http.cookies["loopforge"] for guest in (owner, ben)]
    for secret in secrets:
        assert secret not in ledger
        assert not any(secret.encode() in data for data in files)


def kept(folder: Path) -> list[Path]:
    """Every file below a folder."""
    return [path for path in folder.rglob("*") if path.is_file()]


# ---------------------------------------------------------------- sessions


async def test_a_session_is_made_here_and_nowhere_else(site: Town, owner: Guest) -> None:
    """A cookie that somebody was given beforehand is never made good by signing in."""
    await site.guest("ben", by=owner)
    victim = await site.stranger()
    victim.http.cookies.set("loopforge", "planted-by-somebody-else-0123456789abcdef0")
    form = {"name": "ben", "password": PASSWORD}
    answer = await victim.post("/sign-in", form, follow_redirects=False)
    assert answer.status_code == 303
    assert "planted" not in answer.headers["set-cookie"]
    thief = await site.stranger()
    thief.http.cookies.set("loopforge", "planted-by-somebody-else-0123456789abcdef0")
    assert (await thief.get("/")).status_code == 401


async def test_signing_out_everywhere_else_cuts_streams(site: Town, owner: Guest) -> None:
    """One browser ends all others: their pages are told, and their next requests go nowhere."""
    await site.guest("ben", "commons", by=owner)
    form = {"name": "ben", "password": PASSWORD}
    here, there = await site.stranger(), await site.stranger()
    for guest in (here, there):
        assert (await guest.post("/sign-in", form)).status_code == 200
    async with open_page(there, "commons", after=1) as page:
        await here.post("/you/sessions/end-others")
        await page.until("gone")
    assert (await there.get("/")).status_code == 401
    assert (await here.get("/")).status_code == 200
    late = await there.http.post("/rooms/commons/lines", data={"text": "still here"})
    assert late.status_code == 401


async def test_what_is_wrong_is_told_at_the_field(site: Town, owner: Guest) -> None:
    """A door that did not open has the focus in a field that names the sentence below its heading."""
    _, invite = await site.app.accounts.links.invite(owner.person, "", past=False)
    eve = await site.stranger()
    for door, form in (("/sign-in", {"name": "olu"}), (f"/join/{invite}", {"name": "maya"})):
        told = (await eve.post(door, form | {"password": PASSWORD})).text
        assert '<p class="flash bad" role="alert" id="error">' in told
        assert (
            len(re.findall(r'<input id="\w+"[^>]* autofocus aria-describedby="error">', told)) == 1
        )
