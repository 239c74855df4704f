"""Account pages: how people come in and go out, and their own sessions.

A one-time link and an invite first show a page, and are spent only by its button: programs that
fetch links to preview them spend nothing.

An account on a platform becomes the visitor's by a code, made here and typed there, or the other
way round; either way the visitor stays who they are. Knows no platform.
"""

import re
from typing import Any

from litestar import Response, get, post
from litestar.datastructures import Cookie
from litestar.response import Redirect, Template
from msgspec.structs import replace

from loopforge.errors import BadAccount, InputError, NotLetIn, Unknown
from loopforge.people.accounts.account_values import Invite, Visitor
from loopforge.people.accounts.avatar_records import of_person
from loopforge.people.accounts.login_sessions import LASTS
from loopforge.people.identity.account_names import RESERVED_NAMES, fold_name
from loopforge.web.server.access_guards import visitor_of
from loopforge.web.server.connection_limits import place_of
from loopforge.web.server.form_csrf import COOKIE, DEVICE, YEAR, FormSigner, seal_of
from loopforge.web.server.page_context import Asked, Fields, PageContext, render_page

SHORT = 20_000
"""Bytes of a form at the door: a name and a password."""
NAMELESS = "guest"
"""What the setting `person` is where the machine tells no name; it is proposed to nobody."""


def agent_of(request: Asked) -> str:
    """What the browser calls itself, shortened."""
    return request.headers.get("user-agent", "a browser")[:200]


def let_in(request: Asked, site: PageContext, visitor: Visitor, token: str, to: str) -> Redirect:
    """On to a page, with the session's cookie, and one that knows the device from now on."""
    signer: FormSigner = request.app.state["signer"]
    kept = (
        (COOKIE, token, round(LASTS.total_seconds())),
        (DEVICE, signer.device(visitor.name), YEAR),
    )
    cookies = [
        Cookie(
            key=name,
            value=value,
            path="/",
            httponly=True,
            samesite="lax",
            secure=site.secure,
            max_age=age,
        )
        for name, value, age in kept
    ]
    return Redirect(to, status_code=303, cookies=cookies)


def name_of(site: PageContext, person: str) -> str:
    """A person's name, or "somebody"."""
    known = site.people.person(person)
    return str(known.name) if known else "somebody"


def unlike(site: PageContext, name: str) -> None:
    """Raise BadAccount for a name by which nobody would know who is meant."""
    wanted = fold_name(name)
    if wanted.lstrip("@") in RESERVED_NAMES:
        raise BadAccount(f"“{name}” means something else in a room. Take another name.")
    for mate in site.roster.mates().values():
        if wanted in (fold_name(mate.handle), fold_name(mate.name)):
            raise BadAccount(
                f"{mate.name} is a mate of this home, and nobody would know which of you is "
                "meant. Take another name."
            )


def inside(path: str) -> str:
    """Where to go on to: a path of this site, or its beginning."""
    return path if re.fullmatch(r"/(?![/\\])[\w\-./?=&%]{0,300}", path) else "/"


# ---------------------------------------------------------------- the owner's one-time link


@get("/enter/{token:str}")
async def enter_page(request: Asked, site: PageContext, token: str) -> Template:
    """Ask the owner's name, the first time; a button that spends the link."""
    if not await site.accounts.links.waits(token):
        return render_page("link-spent.html", await visitor_of(request, site), status=404)
    new = not site.accounts.decisions.book.owner()
    name = site.live.now.person
    proposed = "" if name == NAMELESS else name
    return render_page("sign-in-link.html", None, token=token, new=new, name=proposed)


@post("/enter/{token:str}")
async def enter(request: Asked, site: PageContext, token: str, data: Fields) -> Response[Any]:
    """Sign the owner in."""
    name = data.get("name", "").strip() or site.live.now.person
    try:
        if not site.accounts.decisions.book.owner():
            unlike(site, name)
        visitor, session = await site.accounts.links.enter(
            token, name, agent_of(request), seal_of(request), site.live.now.person
        )
    except InputError as error:
        new = not site.accounts.decisions.book.owner()
        shown: dict[str, Any] = {"token": token, "new": new, "name": name, "error": str(error)}
        return render_page("sign-in-link.html", None, status=400, **shown)
    try:
        await site.front.rooms.come_in(site.live.now.room, visitor.person, visitor.name)
    except Unknown:
        return let_in(request, site, visitor, session, "/")  # that room was deleted
    return let_in(request, site, visitor, session, f"/rooms/{site.live.now.room}")


# ---------------------------------------------------------------- invites


async def good(site: PageContext, token: str) -> Invite | None:
    """The invite as it stands: nothing, where who made it is not in that room any more."""
    invite = await site.accounts.links.invited(token)
    if invite is None or not invite.room:
        return invite
    if not (await site.front.lobby.sight(invite.room, invite.by)).here:
        return None
    past = invite.past and await site.front.lobby.whole(invite.room, invite.by)
    return replace(invite, past=past)


async def _where(site: PageContext, invite: Invite) -> dict[str, Any]:
    """Whose home it is, and the room: what it is called, unless of what the guest will not see."""
    shown = {"host": name_of(site, invite.by), "house": site.accounts.decisions.book.owner_name}
    if not invite.room:
        return {**shown, "title": "", "scene": None}
    scene = await site.front.rooms.scene(invite.room)
    title = scene.title if invite.past or not scene.titled_at else ""
    return {**shown, "title": title, "scene": scene}


@get("/join/{token:str}")
async def join_page(request: Asked, site: PageContext, token: str) -> Template:
    """Who invites, and a name and password to choose; or a button, for somebody signed in."""
    invite = await good(site, token)
    visitor = await visitor_of(request, site)
    if invite is None:
        return render_page("link-spent.html", visitor, status=404)
    return render_page(
        "invite-accept.html", visitor, token=token, invite=invite, **await _where(site, invite)
    )


@post("/join/{token:str}")
async def join(request: Asked, site: PageContext, token: str, data: Fields) -> Response[Any]:
    """Come in by an invite: as somebody new, or as who is signed in already."""
    visitor, session = await visitor_of(request, site), ""
    invite = await good(site, token)
    if invite is None:
        return render_page("link-spent.html", visitor, status=404)
    try:
        if visitor is not None:
            await _check_outside(site, invite.room, visitor)
            invite = await site.accounts.links.take_as(token, visitor)
        else:
            unlike(site, data.get("name", ""))
            name, password = data.get("name", ""), data.get("password", "")
            visitor, session, invite = await site.accounts.links.take(
                token, name, password, agent_of(request), seal_of(request)
            )
    except InputError as error:
        shown: dict[str, Any] = {"token": token, "invite": invite, "typed": data.get("name", "")}
        shown |= {**await _where(site, invite), "error": str(error)}
        return render_page("invite-accept.html", visitor, status=400, **shown)
    to = await _brought_in(site, invite, visitor) if invite.room else "/"
    if not session:
        return Redirect(to, status_code=303)
    return let_in(request, site, visitor, session, to)


async def _brought_in(site: PageContext, invite: Invite, visitor: Visitor) -> str:
    """Where to go on to: the room to which an invite lets in, which they come into now."""
    person, name = visitor.person, visitor.name
    try:
        await site.front.bring(invite.room, invite.by, person, name, past=invite.past)
    except Unknown:
        return "/"  # that room was deleted meanwhile
    return f"/rooms/{invite.room}?welcome=yes"


async def _check_outside(site: PageContext, room: str, visitor: Visitor) -> None:
    """Raises InputError where they are in that room: nobody's invite is spent for nothing."""
    if room and (await site.front.lobby.sight(room, visitor.person)).here:
        raise InputError("You are in this room already; this invite is for another. Pass it on.")


# ---------------------------------------------------------------- a lost password


@get("/renew/{token:str}")
async def renew_page(request: Asked, site: PageContext, token: str) -> Template:
    """A new password to choose; nothing is spent by looking."""
    person = await site.accounts.links.renewing(token)
    if not person:
        return render_page("link-spent.html", await visitor_of(request, site), status=404)
    return render_page("password-renew.html", None, token=token, name=name_of(site, person))


@post("/renew/{token:str}")
async def renew(request: Asked, site: PageContext, token: str, data: Fields) -> Response[Any]:
    """Set the new password, and come in."""
    person = await site.accounts.links.renewing(token)
    if not person:
        return render_page("link-spent.html", await visitor_of(request, site), status=404)
    try:
        visitor, session = await site.accounts.links.renew(
            token, data.get("password", ""), agent_of(request), seal_of(request)
        )
    except InputError as error:
        shown = {"token": token, "name": name_of(site, person), "error": str(error)}
        return render_page("password-renew.html", None, status=400, **shown)
    return let_in(request, site, visitor, session, "/")


# ---------------------------------------------------------------- another device


@get("/device/{token:str}")
async def device_page(request: Asked, site: PageContext, token: str) -> Template:
    """A button that signs somebody in here, too; nothing is spent by looking."""
    person = await site.accounts.links.joining(token)
    if not person:
        return render_page("link-spent.html", await visitor_of(request, site), status=404)
    return render_page("sign-in-device.html", None, token=token, name=name_of(site, person))


@post("/device/{token:str}")
async def device(request: Asked, site: PageContext, token: str) -> Response[Any]:
    """Sign in by a link that was made where they are signed in."""
    try:
        visitor, session = await site.accounts.links.join(
            token, agent_of(request), seal_of(request)
        )
    except NotLetIn:
        return render_page("link-spent.html", await visitor_of(request, site), status=404)
    return let_in(request, site, visitor, session, "/")


# ---------------------------------------------------------------- name and password


@get("/sign-in")
async def sign_in_page(request: Asked, site: PageContext, next: str = "/") -> Response[Any]:
    """Name and password, and how to come in without."""
    if await visitor_of(request, site) is not None:
        return Redirect(inside(next), status_code=303)
    return render_page(
        "sign-in.html",
        None,
        next=inside(next),
        owner=bool(site.accounts.decisions.book.owner()),
    )


@post("/sign-in")
async def sign_in(
    request: Asked, site: PageContext, signer: FormSigner, data: Fields
) -> Response[Any]:
    """Sign in by name and password."""
    to, name = inside(data.get("next", "/")), data.get("name", "")
    place = place_of(request.client.host) if request.client else ""
    try:
        visitor, session = await site.accounts.signing.sign_in(
            name,
            data.get("password", ""),
            agent_of(request),
            seal_of(request),
            place,
            signer.known(request, name),
        )
    except InputError as error:
        shown: dict[str, Any] = {"next": to, "name": name, "owner": True, "error": str(error)}
        return render_page("sign-in.html", None, status=400, **shown)
    return let_in(request, site, visitor, session, to)


@post("/sign-out")
async def sign_out(site: PageContext, visitor: Visitor) -> Redirect:
    """End this session."""
    await site.accounts.signing.end(visitor.session, visitor.person)
    gone = Cookie(key=COOKIE, value="", path="/", max_age=0)
    return Redirect("/sign-in", status_code=303, cookies=[gone])


# ---------------------------------------------------------------- you


@get("/you")
async def you(site: PageContext, visitor: Visitor) -> Template:
    """One's sessions, password and other selves."""
    return await your_page(site, visitor)


async def your_page(site: PageContext, visitor: Visitor, **more: Any) -> Template:
    """The page "You" with what is told on it."""
    sessions = await site.accounts.signing.sessions(visitor.person)
    has = await site.accounts.signing.has_password(visitor.person)
    await site.people.refresh()
    selves = [one for one in site.people.selves(visitor.person) if one.linked]
    shown: dict[str, Any] = {"sessions": sessions, "has_password": has, "selves": selves}
    shown |= {"pictured": bool(site.pictures.name(of_person(visitor.person))), **more}
    return render_page("you.html", visitor, here="you", **shown)


@post("/you/device")
async def offer_device(site: PageContext, visitor: Visitor) -> Template:
    """A link for another device; it is shown here and never again."""
    site.paces.changes.take(visitor.person)
    token = await site.accounts.links.device(visitor.person)
    return await your_page(site, visitor, path=f"/device/{token}", status=201)


@post("/you/sessions/{session:str}/end")
async def end(site: PageContext, visitor: Visitor, session: str) -> Redirect:
    """End one of one's own sessions."""
    mine = {one.session for one in await site.accounts.signing.sessions(visitor.person)}
    if session not in mine:
        raise Unknown("There is no such session of yours.")
    await site.accounts.signing.end(session, visitor.person)
    return Redirect("/you", status_code=303)


@post("/you/sessions/end-others")
async def end_others(site: PageContext, visitor: Visitor) -> Redirect:
    """End all of one's sessions but this one."""
    await site.accounts.signing.end_all(visitor.person, visitor.person, but=visitor.session)
    return Redirect("/you", status_code=303)


@post("/you/password")
async def password(site: PageContext, visitor: Visitor, data: Fields) -> Response[Any]:
    """Set a new password; other sessions end."""
    try:
        await site.accounts.signing.set_password(
            visitor.person, data.get("old", ""), data.get("new", ""), visitor.session
        )
    except InputError as error:
        return await your_page(site, visitor, error=str(error), status=400)
    return await your_page(site, visitor, told="Your password is set. Other sessions have ended.")


# ---------------------------------------------------------------- accounts on platforms


@post("/you/code")
async def offer(site: PageContext, visitor: Visitor) -> Template:
    """A code for an account elsewhere; it is shown here and never again."""
    site.paces.changes.take(visitor.person)
    code = await site.linking.offer_code(visitor.person)
    return await your_page(site, visitor, code=code, status=201)


@post("/you/link")
async def claim(site: PageContext, visitor: Visitor, data: Fields) -> Template:
    """A code that was made elsewhere: whoever asked for it is the visitor from now on."""
    await site.people.refresh()
    before = len(site.people.selves(visitor.person))
    try:
        await site.linking.claim_as(data.get("code", "")[:100], visitor.person)
    except InputError as error:
        return await your_page(site, visitor, unlinked=str(error), status=400)
    new = site.people.selves(visitor.person)[before:]
    names = ", ".join(f"{one.name or one.account} on {one.surface}" for one in new)
    told = f"{names} is you from now on. If that is not your account, unlink it at once."
    return await your_page(site, visitor, linked=told)


@post("/you/unlink")
async def unlink(site: PageContext, visitor: Visitor, data: Fields) -> Template:
    """An account is one's own no more."""
    surface, account = data.get("surface", ""), data.get("account", "")
    try:
        await site.linking.unlink(visitor.person, surface, account, by=visitor.person)
    except InputError as error:
        return await your_page(site, visitor, unlinked=str(error), status=400)
    return await your_page(site, visitor, told="Unlinked. It is a person of its own again.")
