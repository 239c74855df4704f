"""People and invites on the owner's pages: closing, forgetting, and links that are shown once."""

import asyncio
import re
from pathlib import Path

from loopforge.core.people_events import AccountClosed, InviteTaken
from loopforge.core.room_vocabulary import PersonJoined, Weighed
from loopforge.ledger_opening import open_ledger_of
from tests.web.conftest import PASSWORD, Guest, Town, town


async def test_an_account_is_closed_after_a_question(site: Town, owner: Guest) -> None:
    """Looking at the question closes nothing; the answer does, ends every session, leaves all rooms.

    Mates then take the owner, who is left there, for the only person.
    """
    room = await site.room(owner, "Ovens", "maya", "merlin")
    ana = await site.guest("ana", room, by=owner)
    asked = await owner.get(f"/admin/people/{ana.person}/close")
    assert "Close the account of ana?" in asked.text
    assert "1 open session ends" in asked.text
    assert (await ana.get("/")).status_code == 200
    done = await owner.post(f"/admin/people/{ana.person}/close")
    assert "The account is closed" in done.text
    assert "account closed" in done.text
    assert (await ana.get("/")).status_code == 401
    assert "It is closed already" in (await owner.get(f"/admin/people/{ana.person}/close")).text
    while ana.person in (await site.app.rooms.state(room)).people:
        await asyncio.sleep(0.02)
    await owner.says(room, "I am thinking of baking")
    await site.rest(room)
    weighed = [event.body for event in await site.events(room) if isinstance(event.body, Weighed)]
    assert weighed[0].weights[0].reasons["one person"]


async def test_who_was_closed_out_as_the_home_ended_leaves_at_its_next_start(
    tmp_path: Path,
) -> None:
    """Whether an account was closed is looked at by a home that begins."""
    async with town(tmp_path) as site:
        owner = await site.owner()
        room = await site.room(owner, "Ovens", "maya")
        ana = await site.guest("ana", room, by=owner)
        settings, stamp = site.app.settings, site.app.stamp
    async with open_ledger_of(settings) as ledger:
        closed = stamp.fact(AccountClosed(person=ana.person, by=owner.person), actor="runtime")
        await ledger.append("people", [closed])
    async with town(tmp_path) as site:
        while ana.person in (await site.app.rooms.state(room)).people:
            await asyncio.sleep(0.02)
        assert owner.person in (await site.app.rooms.state(room)).people


async def test_the_owner_closes_and_forgets_nobody_like_themselves(owner: Guest) -> None:
    """Their own account has no buttons, and its addresses refuse."""
    page = (await owner.get("/admin/people")).text
    assert "Nobody else yet" in page
    assert f"/admin/people/{owner.person}/" not in page
    for way in ("close", "forget"):
        assert (await owner.get(f"/admin/people/{owner.person}/{way}")).status_code == 400
        assert (await owner.post(f"/admin/people/{owner.person}/{way}")).status_code == 400
        assert (await owner.get(f"/admin/people/nobody/{way}")).status_code == 404
    assert (await owner.get("/admin/people")).status_code == 200


async def test_what_a_person_said_is_forgotten_after_a_preview(site: Town, owner: Guest) -> None:
    """The preview counts and forgets nothing; then the words are gone, and the account with them."""
    room = await site.room(owner, "Ovens", "maya")
    ana = await site.guest("ana", room, by=owner)
    await ana.says(room, "maya, my bread rose like a balloon")
    await owner.says(room, "mine did not")
    await site.rest(room)
    preview = (await owner.get(f"/admin/people/{ana.person}/forget")).text
    figures = re.findall(r"<dd>(\d+) texts?", preview)
    assert len(figures) == 2
    assert all(int(figure) > 0 for figure in figures)
    assert f"room:{room}" in preview
    assert "balloon" in (await owner.get(f"/rooms/{room}")).text
    done = await owner.post(f"/admin/people/{ana.person}/forget", {"sure": "yes"})
    assert done.status_code == 200
    assert "Forgotten" in done.text
    after = (await owner.get(f"/rooms/{room}")).text
    assert "balloon" not in after
    assert "mine did not" in after
    assert "balloon" not in "".join([line async for line in site.app.ledger.export()])
    assert (await ana.get("/")).status_code == 401
    assert (
        "Nothing of theirs is left" in (await owner.get(f"/admin/people/{ana.person}/forget")).text
    )


async def test_forgetting_wants_to_be_sure(site: Town, owner: Guest) -> None:
    """A form without its tick forgets nothing."""
    ana = await site.guest("ana", by=owner)
    assert (await owner.post(f"/admin/people/{ana.person}/forget")).status_code == 400
    assert (await ana.get("/")).status_code == 200


# ---------------------------------------------------------------- invites


async def test_a_link_is_shown_once_and_lets_somebody_in(site: Town, owner: Guest) -> None:
    """It brings them into the room that was named, with its past if that was ticked."""
    assert "Nobody new can come in" in (await owner.get("/admin/invites")).text
    room = await site.talk(owner, "Ovens", "long before")
    made = await owner.post("/admin/invites", {"room": room, "past": "yes", "days": "2"})
    assert made.status_code == 201
    assert "It is shown only now." in made.text
    found = re.search(rf'value="{site.address}(/join/[\w-]+)"', made.text)
    assert found
    again = (await owner.get("/admin/invites")).text
    assert found[1] not in again
    assert "Into " in again
    assert "with what was said before" in again
    ben = await site.stranger("ben")
    came = await ben.post(found[1], {"name": "ben", "password": "horses in the rain"})
    assert came.url.path == f"/rooms/{room}"
    assert "long before" in came.text
    assert "taken by ben" in (await owner.get("/admin/invites")).text


async def test_an_invite_is_withdrawn(site: Town, owner: Guest) -> None:
    """Its link lets nobody in any more; it stands among those of the past."""
    made = await owner.post("/admin/invites", {"room": "", "days": "2"})
    link = re.search(r"/join/[\w-]+", made.text)
    way = re.search(r"/admin/invites/\w+/withdraw", made.text)
    assert link
    assert way
    page = (await owner.post(way[0])).text
    assert "None. Nobody new" in page
    assert "withdrawn" in page
    assert (await (await site.stranger()).get(link[0])).status_code == 404


async def test_a_wrong_form_comes_back_with_a_sentence(site: Town, owner: Guest) -> None:
    """Days that are none, and a room that the owner is not in, make no invite."""
    ana = await site.guest("ana", by=owner)
    room = await site.room(ana, "Hers")
    wrong = [("", "soon", "whole number"), ("", "999", "365"), (room, "7", "not in that room")]
    for named, days, told in wrong:
        answer = await owner.post("/admin/invites", {"room": named, "days": days})
        assert answer.status_code == 400
        assert told in answer.text
        assert "/join/" not in answer.text
        assert "None. Nobody new" in answer.text


# ---------------------------------------------------------------- taken, and not yet in


async def test_who_took_an_invite_as_the_home_ended_comes_in_at_its_next_start(
    tmp_path: Path,
) -> None:
    """An invite is spent for nothing nowhere: its room is entered by a home that begins, once.

    Who went again is not brought back by it.
    """
    async with town(tmp_path) as site:
        owner = await site.owner()
        ovens = await site.room(owner, "Ovens", "maya")
        tea = await site.room(owner, "Tea", "maya")
        ben = await site.guest("ben", ovens, by=owner)
        await site.app.rooms.leave(ovens, ben.person)
        invite, _ = await site.app.accounts.links.invite(owner.person, tea)
        settings, stamp = site.app.settings, site.app.stamp
    async with open_ledger_of(settings) as ledger:
        taken = stamp.fact(InviteTaken(invite=invite.invite, person=ben.person), actor="runtime")
        await ledger.append("people", [taken])
    async with town(tmp_path) as site:
        while ben.person not in (await site.app.rooms.state(tea)).people:
            await asyncio.sleep(0.02)
        assert ben.person not in (await site.app.rooms.state(ovens)).people
        came = [e.body for e in await site.events(tea) if isinstance(e.body, PersonJoined)]
        assert [(body.person, body.by) for body in came[1:]] == [(ben.person, owner.person)]


async def test_who_took_an_invite_comes_in_though_its_page_never_ended(
    site: Town, owner: Guest
) -> None:
    """The taking alone lets in: what else a page does is no part of it."""
    room = await site.room(owner, "Ovens", "maya")
    links = site.app.accounts.links
    _, token = await links.invite(owner.person, room)
    visitor, _, _ = await links.take(token, "ben", PASSWORD, "Firefox")
    while visitor.person not in (await site.app.rooms.state(room)).people:
        await asyncio.sleep(0.02)
    _, again = await links.invite(owner.person, room)
    await site.app.rooms.leave(room, visitor.person)
    await links.take_as(again, visitor)
    while visitor.person not in (await site.app.rooms.state(room)).people:
        await asyncio.sleep(0.02)
