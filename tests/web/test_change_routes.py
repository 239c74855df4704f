"""Every route that changes something, and who may: no form of anybody else, and none without its token."""

import html

import pytest

from loopforge.host import site_of
from loopforge.web.web_app import make_app
from loopforge.web.work.task_access import NOWHERE
from tests.web.conftest import Guest, Town
from tests.web.test_access_guards import filled, routes

SIGN_IN, NO_PAGE = "Sign in first.", "There is no such page."
NO_ROOM = "There is no such room, or you are not in it."
OUTSIDE, MEMBER, OWNER = "is in no room", "is in the room", "is the owner"
DOOR = dict[str, str]()
SIGNED_IN = {"": SIGN_IN}
IN_ROOM = SIGNED_IN | {OUTSIDE: NO_ROOM}
OPENER = IN_ROOM | {MEMBER: "Only who opened this room, or the owner of the home, may delete it."}
OWNERS = SIGNED_IN | dict.fromkeys((OUTSIDE, MEMBER), NO_PAGE)
GIVER = SIGNED_IN | dict.fromkeys(
    (OUTSIDE, MEMBER), "Only the owner of this home gives tasks here."
)
SEES_TASK = SIGNED_IN | dict.fromkeys((OUTSIDE, MEMBER, OWNER), NOWHERE)
"""Rights: what those are told who have it not ("" is nobody known). Of the last no task is there."""
NOWHERES = (NO_ROOM, NO_PAGE, NOWHERE)
REFUSALS = (*NOWHERES, SIGN_IN, OPENER[MEMBER], GIVER[MEMBER])
RIGHTS = {
    "/sign-in": DOOR,
    "/enter/{token}": DOOR,
    "/join/{token}": DOOR,
    "/renew/{token}": DOOR,
    "/device/{token}": DOOR,
    "/you/code": SIGNED_IN,
    "/you/device": SIGNED_IN,
    "/you/link": SIGNED_IN,
    "/you/memory": SIGNED_IN,
    "/you/password": SIGNED_IN,
    "/you/picture": SIGNED_IN,
    "/you/picture/remove": SIGNED_IN,
    "/you/sessions/end-others": SIGNED_IN,
    "/you/sessions/{session}/end": SIGNED_IN,
    "/you/unlink": SIGNED_IN,
    "/rooms": SIGNED_IN,
    "/rooms/{room}/command": IN_ROOM,
    "/rooms/{room}/invite": IN_ROOM,
    "/rooms/{room}/lines": IN_ROOM,
    "/rooms/{room}/lines/{line}/answer": IN_ROOM,
    "/rooms/{room}/lines/{line}/delete": IN_ROOM,
    "/rooms/{room}/lines/{line}/edit": IN_ROOM,
    "/rooms/{room}/lines/{line}/pin": IN_ROOM,
    "/rooms/{room}/lines/{line}/react": IN_ROOM,
    "/rooms/{room}/mark": IN_ROOM,
    "/rooms/{room}/owed": IN_ROOM,
    "/rooms/{room}/questions/{number}": IN_ROOM,
    "/rooms/{room}/reminders": IN_ROOM,
    "/rooms/{room}/rung/{event}": IN_ROOM,
    "/rooms/{room}/seen": IN_ROOM,
    "/rooms/{room}/settings": IN_ROOM,
    "/rooms/{room}/stop": IN_ROOM,
    "/rooms/{room}/typing": IN_ROOM,
    "/work": GIVER,
    "/work/{task}": SEES_TASK,
    "/lab": OWNERS,
    "/lab/{run}/fork": OWNERS,
    "/lab/{run}/resume": OWNERS,
    "/lab/{run}/stop": OWNERS,
    "/lab/{run}/title": OWNERS,
    "/lab/~/delete": OWNERS,
    "/mates/new": OWNERS,
    "/mates/new/check": OWNERS,
    "/mates/new/file": OWNERS,
    "/mates/{handle}/check": OWNERS,
    "/mates/{handle}/edit": OWNERS,
    "/mates/{handle}/growth/fork": OWNERS,
    "/mates/{handle}/growth/merge": OWNERS,
    "/mates/{handle}/growth/trait": OWNERS,
    "/mates/{handle}/growth/undo": OWNERS,
    "/mates/{handle}/picture": OWNERS,
    "/mates/{handle}/picture/remove": OWNERS,
    "/mates/{handle}/tools": OWNERS,
    "/mates/{handle}/try": SIGNED_IN,
    "/mates/{handle}/versions/{hash}": OWNERS,
    "/admin/budgets": OWNERS,
    "/admin/first/zone": OWNERS,
    "/admin/invites": OWNERS,
    "/admin/invites/guests": OWNERS,
    "/admin/invites/{id}/withdraw": OWNERS,
    "/admin/knocks/admit": OWNERS,
    "/admin/knocks/refuse": OWNERS,
    "/admin/ledger/verify": OWNERS,
    "/admin/models/check": OWNERS,
    "/admin/models/files/upload": OWNERS,
    "/admin/models/files/{verb}": OWNERS,
    "/admin/models/keys": OWNERS,
    "/admin/models/keys/{variable}/remove": OWNERS,
    "/admin/models/tiers": OWNERS,
    "/admin/owed": OWNERS,
    "/admin/people/{person}/close": OWNERS,
    "/admin/people/{person}/forget": OWNERS,
    "/admin/people/{person}/renewal": OWNERS,
    "/admin/settings/{name}": OWNERS,
    "/admin/settings/{name}/undo": OWNERS,
    "/admin/tools/{name}/revoke": OWNERS,
    "/admin/tools/{name}/{verb}": OWNERS,
    # what ends something for whoever sends it comes last
    "/mates/{handle}/retire": OWNERS,
    "/mates/retired": OWNERS,
    "/rooms/{room}/delete": OPENER,
    "/rooms/{room}/leave": IN_ROOM,
    "/sign-out": SIGNED_IN,
}
"""Who may send a form to a path: whoever adds a route says it here."""
People = dict[str, Guest]


@pytest.fixture
async def room(site: Town, owner: Guest) -> str:
    """A room of the owner's."""
    return await site.room(owner, "Tea")


@pytest.fixture
async def people(site: Town, owner: Guest, room: str) -> People:
    """Nobody known; who is in no room of the owner's; who is in one; and the owner."""
    ana, ben = await site.guest("ana", room, by=owner), await site.guest("ben", by=owner)
    return {"": await site.stranger(), OUTSIDE: ben, MEMBER: ana, OWNER: owner}


async def sent(guest: Guest, path: str, room: str, token: str) -> tuple[int, str]:
    """The status of the answer to a form without any field, and what it says."""
    headers = {"accept": "application/json", "x-csrftoken": token}
    at, form = filled(path, room, "none"), {"none": ("", b"")}
    answer = await guest.http.post(at, headers=headers, files=form, follow_redirects=False)
    return answer.status_code, html.unescape(answer.text)


async def test_every_route_that_changes_something_says_who_may(site: Town) -> None:
    """A new one fails this until its right stands in the table; none goes by another method."""
    app = make_app(site_of(site.app, site.address), "x" * 32, frozenset({"127.0.0.1"}))
    changing = {route for route in routes(app) if route[0] != "GET"}
    assert changing == {("POST", path) for path in RIGHTS}


async def test_nobody_changes_what_is_not_theirs(site: Town, people: People, room: str) -> None:
    """Each right turns away whom it should, with its own words and nothing written; and no one else."""
    heads = await site.app.ledger.heads()
    for path, right in RIGHTS.items():
        for who, told in right.items():
            guest = people[who]
            status, text = await sent(guest, path, room, await guest.token())
            assert status == (401 if told == SIGN_IN else 404 if told in NOWHERES else 400), path
            assert told in text, (path, who)
    assert await site.app.ledger.heads() == heads
    for who, guest in people.items():
        for path, right in RIGHTS.items():
            if who not in right:
                status, text = await sent(guest, path, room, await guest.token())
                assert status not in (401, 403, 405), (path, who, text)
                assert not any(told in text for told in REFUSALS), (path, who, text)


async def test_no_form_changes_anything_without_its_token(
    site: Town, people: People, room: str
) -> None:
    """Neither the owner's nor a stranger's at a door: with none, a wrong one, or that of another."""
    heads = await site.app.ledger.heads()
    other = await people[OUTSIDE].token()
    for path, right in RIGHTS.items():
        for who in ("", OWNER) if right is DOOR else (MEMBER, OWNER):
            for token in ("", "0" * 64, other):
                assert (await sent(people[who], path, room, token))[0] == 403, (path, who, token)
    assert await site.app.ledger.heads() == heads
