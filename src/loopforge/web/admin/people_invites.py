"""People and invites, as the owner sees them: accounts, strangers who knock, what somebody said.

Forgetting is shown in figures before it is done. The owner cannot close or forget themselves here:
nobody could let them in again but the machine itself.
"""

from collections.abc import Mapping
from typing import Any

from litestar import Response, get, post
from litestar.response import Redirect, Template
from msgspec import Struct

from loopforge.chat.room.guest_rules import NONE
from loopforge.chat.room.room_store import stream_of
from loopforge.errors import InputError, Unknown
from loopforge.ledger.erasure.text_erasure import Erasure, ErasureRequest
from loopforge.people.accounts.account_values import Account, Invite, Visitor
from loopforge.web.admin.hidden_rooms import HiddenRooms, veil_of
from loopforge.web.server.page_context import Asked, Fields, PageContext, render_page

LATEST = 30
"""Invites of the past that are listed."""
GUESTS = (
    "who_may_invite",
    "guest_rooms",
    "guest_files",
    "answers_per_person_a_day",
    "upload_limit_bytes",
    "guest_mates",
)
"""The settings of what guests may use, as the form has them."""
SAVED = "Saved. It holds from now on."
OPENED = (
    "Set. Close the home and start it again: from then on it is open to the network that this "
    "machine is on, and a link that you make then opens on a phone, too."
)


# ---------------------------------------------------------------- people


@get("/admin/people")
async def people(site: PageContext, owner: Visitor, told: str = "") -> Template:
    """Everybody who has or had an account, and who knocks."""
    return await _people(site, owner, told=TOLD.get(told, ""))


async def _people(site: PageContext, owner: Visitor, **more: Any) -> Template:
    shown: dict[str, Any] = {
        "accounts": await site.accounts.signing.accounts(),
        "waiting": await site.pairing.waiting(),
        "selves": {},
        "answers": {},
        "most": site.live.now.answers_per_person_a_day,
        "told": "",
        "error": "",
        **more,
    }
    for each in shown["accounts"]:
        shown["answers"][each.person] = await site.front.rooms.quota.had(f"person:{each.person}")
        selves = [one for one in site.people.selves(each.person) if one.linked]
        shown["selves"][each.person] = ", ".join(f"{one.surface} {one.account}" for one in selves)
    return render_page("admin-people.html", owner, here="admin", section="people", **shown)


@post("/admin/knocks/admit")
async def admit(site: PageContext, owner: Visitor, data: Fields) -> Response[Any]:
    """Let a stranger talk to mates in private, by their code or account."""
    try:
        await site.pairing.admit(data.get("which", "")[:200], owner.person)
    except InputError as error:
        return await _people(site, owner, error=str(error), status=400)
    return Redirect("/admin/people?told=admitted", status_code=303)


@post("/admin/knocks/refuse")
async def refuse(site: PageContext, owner: Visitor, data: Fields) -> Response[Any]:
    """Answer somebody no more in private."""
    try:
        await site.pairing.refuse(data.get("which", "")[:200], owner.person)
    except InputError as error:
        return await _people(site, owner, error=str(error), status=400)
    return Redirect("/admin/people?told=refused", status_code=303)


TOLD = {
    "closed": "The account is closed, and every session of it has ended.",
    "forgotten": "Forgotten. What happened is still counted; the words are gone.",
    "partly": (
        "Forgotten. Somebody was reading just then, so traces may lie in the database's file until "
        "you ask for it once more."
    ),
    "nothing": "Nothing was left to forget.",
    "admitted": "Let in. Mates answer them in private from now on.",
    "refused": "Refused. Mates do not answer them in private; admit them to undo that.",
}


async def _account(site: PageContext, owner: Visitor, person: str) -> Account:
    """Somebody else's account. Raises Unknown, InputError."""
    found = next(
        (each for each in await site.accounts.signing.accounts() if each.person == person), None
    )
    if found is None:
        raise Unknown("There is no such account.")
    if person == owner.person:
        raise InputError(
            "That is you. Nobody could let you in again from here; "
            "`loopforge ledger erase` on the machine forgets what you said."
        )
    return found


@get("/admin/people/{person:str}/close")
async def closing(site: PageContext, owner: Visitor, person: str) -> Template:
    """Are you sure?"""
    account = await _account(site, owner, person)
    return render_page(
        "admin-account-close.html", owner, here="admin", section="people", account=account
    )


@post("/admin/people/{person:str}/close")
async def close(site: PageContext, owner: Visitor, person: str) -> Redirect:
    """Close an account; what was said stays."""
    account = await _account(site, owner, person)
    await site.accounts.signing.close(account.person, owner.person)
    return Redirect("/admin/people?told=closed", status_code=303)


@post("/admin/people/{person:str}/renewal")
async def renewal(site: PageContext, owner: Visitor, person: str) -> Template:
    """A link by which this person sets a new password; it is shown here and never again."""
    account = await _account(site, owner, person)
    token = await site.accounts.links.renewal(account.person, owner.person)
    shown: dict[str, Any] = {"account": account, "path": f"/renew/{token}"}
    return render_page(
        "admin-password-link.html", owner, here="admin", section="people", status=201, **shown
    )


class ErasureReach(Struct, frozen=True, kw_only=True):
    """What an erasure would take: texts of one's own, texts that quote them, by room."""

    named: int
    quoting: int
    rooms: tuple[tuple[str, int], ...]
    unlooked: str


def reach_of(erasure: Erasure, veil: HiddenRooms) -> ErasureReach:
    """An erasure in figures."""
    rooms = [(veil.name(stream), len(refs)) for stream, refs in erasure.texts.items() if refs]
    return ErasureReach(
        named=erasure.named,
        quoting=erasure.quoting,
        rooms=tuple(sorted(rooms)),
        unlooked=erasure.unlooked.strip(),
    )


@get("/admin/people/{person:str}/forget")
async def forgetting(site: PageContext, owner: Visitor, person: str) -> Template:
    """What would be forgotten, in figures."""
    account = await _account(site, owner, person)
    veil = await veil_of(site.ledger, owner.person)
    would = await site.ledger.erase(ErasureRequest(person=person), pretend=True)
    return render_page(
        "admin-account-erase.html",
        owner,
        here="admin",
        section="people",
        account=account,
        reach=reach_of(would, veil),
        beyond=site.beyond(),
    )


@post("/admin/people/{person:str}/forget")
async def forget(site: PageContext, owner: Visitor, person: str, data: Fields) -> Redirect:
    """Forget everything this person said, and what quotes it; the account goes with the name."""
    account = await _account(site, owner, person)
    if data.get("sure") != "yes":
        raise InputError("Nothing was forgotten: say that you are sure, by the tick in the form.")
    if not account.closed:
        await site.accounts.signing.close(account.person, owner.person)
    wish = ErasureRequest(person=account.person, by=owner.person, why="the owner's page")
    done = await site.ledger.erase(wish)
    told = "partly" if not done.clean else "forgotten" if done.refs else "nothing"
    return Redirect(f"/admin/people?told={told}", status_code=303)


# ---------------------------------------------------------------- invites


@get("/admin/invites")
async def invites(site: PageContext, owner: Visitor, told: str = "") -> Template:
    """Open invites, what became of others, a form for a new one, and what guests may use."""
    done, opened = {"saved": (SAVED, ""), "opened": ("", OPENED)}.get(told, ("", ""))
    return await _invites(site, owner, told=done, opened=opened)


async def _invites(site: PageContext, owner: Visitor, **more: Any) -> Template:
    veil = await veil_of(site.ledger, owner.person)
    plates = await site.front.lobby.rooms_of(owner.person, {})
    names = {each.person: each.name for each in await site.accounts.signing.accounts()}
    titles = {plate.room: plate.title for plate in plates}
    rows = [_row(each, names, titles, veil) for each in await site.accounts.links.every()]
    shown: dict[str, Any] = {
        "open": [row for row in rows if row.invite.state in ("open", "held")],
        "past": [row for row in rows if row.invite.state not in ("open", "held")][:LATEST],
        "plates": plates,
        "not_inviting": await site.front.inviting.why_not(owner.person),
        "path": "",
        "form": {},
        "error": "",
        "told": "",
        "opened": "",
        "wrong": "",
        "limits": {name: site.setting(name) for name in GUESTS},
        "mates": site.roster.mates(),
        "allowed": site.front.rooms.guests,
        **more,
    }
    return render_page("admin-invites.html", owner, here="admin", section="invites", **shown)


class InviteRow(Struct, frozen=True, kw_only=True):
    """An invite in words: who wrote it, into which room, who took it."""

    invite: Invite
    by: str
    room: str
    taker: str


def _row(
    invite: Invite, names: Mapping[str, str], titles: Mapping[str, str], veil: HiddenRooms
) -> InviteRow:
    slug = veil.room(stream_of(invite.room)) if invite.room else ""
    room = titles.get(invite.room, slug)
    by, taker = names.get(invite.by, "somebody"), names.get(invite.person, "")
    return InviteRow(invite=invite, by=by, room=room, taker=taker)


@post("/admin/invites")
async def invite(site: PageContext, owner: Visitor, data: Fields) -> Template:
    """A new invite; its link is shown here and never again."""
    room, days = data.get("room", ""), data.get("days", "7")
    try:
        if not days.isascii() or not days.isdigit():
            raise InputError("Say for how many days it is valid, as a whole number.")
        _, token = await site.front.inviting.invite(
            owner.person, room, past=data.get("past") == "yes", days=int(days[:9]), owner=True
        )
    except InputError as error:
        return await _invites(site, owner, form=data, error=str(error), status=400)
    return await _invites(site, owner, path=f"/join/{token}", status=201)


@post("/admin/invites/{id:str}/withdraw")
async def withdraw(site: PageContext, owner: Visitor, id: str) -> Redirect:
    """An invite is valid no longer."""
    await site.accounts.links.withdraw(id, owner.person)
    return Redirect("/admin/invites", status_code=303)


# ---------------------------------------------------------------- what guests may use


@post("/admin/invites/guests")
async def limit_guests(request: Asked, site: PageContext, owner: Visitor) -> Response[Any]:
    """Save what guests may use: each setting that the form has and that was changed."""
    form = await request.form()
    for name in GUESTS:
        if name == "guest_mates":
            typed = _mates(site, [str(each) for each in form.getall("mates", [])])
        else:
            typed = str(form.get(name, ""))[:100].strip()
        state = site.setting(name)
        if state.fixed or typed == (state.next or state.value) or name not in form:
            continue
        try:
            await site.live.change(name, typed or None, f"person:{owner.person}")
        except InputError as error:
            return await _invites(site, owner, wrong=str(error), status=400)
    return Redirect("/admin/invites?told=saved#guests", status_code=303)


def _mates(site: PageContext, ticked: list[str]) -> str:
    """The mates that are for guests, as the setting says it: nothing where all of them are."""
    known = site.roster.mates()
    chosen = [handle for handle in known if handle in ticked]
    return "" if len(chosen) == len(known) else ", ".join(chosen) or NONE
