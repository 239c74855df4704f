"""First steps in the browser: a better model, the time zone, somebody else. Each can be left out.

The forms for a model are those of the page of models (models_page.py takes them), and bringing
somebody is the page of invites.
"""

from typing import Any
from zoneinfo import available_timezones

from litestar import Response, get, post
from litestar.response import Redirect, Template

from loopforge.errors import InputError
from loopforge.people.accounts.account_values import Visitor
from loopforge.web.admin.admin_pages import FORMS
from loopforge.web.server.flash_messages import FlashMessages
from loopforge.web.server.page_context import Asked, Fields, PageContext, render_page

BACK = "/admin/first"


@get(BACK)
async def first_steps(
    request: Asked, site: PageContext, owner: Visitor, told: str = ""
) -> Template:
    """The three steps, and how far they are."""
    await site.models.look()
    notes: FlashMessages = request.app.state["notes"]
    return await first_page(site, owner, told=notes.read(owner.person, told))


async def first_page(site: PageContext, owner: Visitor, **more: Any) -> Template:
    """The page; `more` is what came of what was done there."""
    accounts = await site.accounts.signing.accounts()
    usable = [row for row in site.models.rows() if not row.needs]
    return render_page(
        "first-steps.html",
        owner,
        here="admin",
        room=site.live.now.room,
        keyless=site.models.keyless,
        answering=usable[0].name if usable else "",
        zone=site.live.zone.key,
        zones=sorted(available_timezones()),
        others=sum(not one.closed for one in accounts) - 1,
        **{**FORMS, "back": BACK, **more},
    )


@post("/admin/first/zone")
async def set_zone(
    request: Asked, site: PageContext, owner: Visitor, data: Fields
) -> Response[Any]:
    """The time zone that dates and times are told in."""
    try:
        await site.live.change("timezone", data.get("zone", ""), f"person:{owner.person}")
    except InputError as error:
        return await first_page(site, owner, error=str(error), status=400)
    state = next(each for each in site.live.states() if each.row.name == "timezone")
    why = f"; {state.row.variable} comes before what is saved here" if state.fixed else ""
    return redirect_with_note(
        request, owner, f"Times are told as in {site.live.zone.key}{why}.", BACK
    )


def redirect_with_note(request: Asked, owner: Visitor, told: str, path: str) -> Redirect:
    """Back to a page, which tells what was done."""
    notes: FlashMessages = request.app.state["notes"]
    return Redirect(f"{path}?told={notes.keep(owner.person, told)}", status_code=303)
