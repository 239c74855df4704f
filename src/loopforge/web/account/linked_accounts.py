"""One's other selves, on the page "You": accounts on platforms that are the visitor too.

A code made here is typed there, or one made there is typed here; either way the visitor stays who
they are, and the other self becomes them. Knows no platform.
"""

from litestar import post
from litestar.response import Template

from loopforge.errors import InputError
from loopforge.people.accounts.account_values import Visitor
from loopforge.web.account.account_pages import your_page
from loopforge.web.server.page_context import Fields, PageContext
from loopforge.web.server.request_limits import RequestLimits


@post("/you/code")
async def offer(site: PageContext, visitor: Visitor, paces: RequestLimits) -> Template:
    """A code for an account elsewhere; it is shown here and never again."""
    paces.changes.take(visitor.person)
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
