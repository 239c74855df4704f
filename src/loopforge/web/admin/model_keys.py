"""A better model, by a key or a server's address given in the browser; and which tier asks which.

What is given is tried first: which models it opens, and what the first of them answers. It is saved
if that went well, or if the owner wants it all the same. No page ever shows a key.
"""

from typing import Any

from litestar import Response, post

from loopforge.errors import BadSettings, InputError
from loopforge.models.model_tiers import COUNT
from loopforge.models.providers.known_services import PLACES
from loopforge.people.accounts.account_values import Visitor
from loopforge.web.admin.admin_pages import models_page
from loopforge.web.admin.first_steps import BACK, first_page, redirect_with_note
from loopforge.web.server.page_context import Asked, Fields, PageContext

ADDRESS, KEY = "OPENAI_BASE_URL", "OPENAI_API_KEY"
LONGEST = 1_000
"""Characters of a key or an address."""


def given(data: dict[str, str]) -> dict[str, str]:
    """The variables that a form means. Raises BadSettings, saying what to type."""
    key = data.get("key", "").strip()[:LONGEST]
    if "address" in data:
        address = data["address"].strip()[:LONGEST]
        if not address.startswith(("http://", "https://")):
            raise BadSettings("An address begins with http://, such as http://127.0.0.1:11434/v1.")
        return {ADDRESS: address, KEY: key} if key else {ADDRESS: address}
    service = PLACES.get(data.get("service", ""))
    if service is None or not service.base_url:
        raise BadSettings("Choose the service that the key is from.")
    if not key:
        raise BadSettings(f"Paste the key that {service.title} gave you.")
    return {service.keys[0]: key}


@post("/admin/models/keys")
async def save_key(
    request: Asked, site: PageContext, owner: Visitor, data: Fields
) -> Response[Any]:
    """Try what was given, and save it."""
    typed = {"service": data.get("service", ""), "address": data.get("address", "")}
    first = data.get("back") == BACK
    shown = first_page if first else models_page
    try:
        wanted = given(data)
        trial = await site.models.try_keys(wanted)
        if not trial.well and not data.get("anyway"):
            return await shown(site, owner, trial=trial, typed=typed, status=400)
        for variable, value in wanted.items():
            await site.live.keep_key(variable, value, f"person:{owner.person}")
    except InputError as error:
        return await shown(site, owner, error=str(error), typed=typed, status=400)
    await site.models.look()
    said = f" {trial.found.name} said: “{trial.found.said}”" if trial.found else ""
    told = f"Saved. It opens {', '.join(trial.models[:12])}.{said}" if trial.models else "Saved."
    return redirect_with_note(request, owner, told, BACK if first else "/admin/models")


@post("/admin/models/keys/{variable:str}/remove")
async def remove_key(
    request: Asked, site: PageContext, owner: Visitor, variable: str
) -> Response[Any]:
    """Forget a key that was saved here."""
    try:
        await site.live.keep_key(variable, "", f"person:{owner.person}")
    except InputError as error:
        return await models_page(site, owner, error=str(error), status=400)
    return redirect_with_note(
        request, owner, f"{variable} is no longer saved here.", "/admin/models"
    )


@post("/admin/models/tiers")
async def save_tiers(
    request: Asked, site: PageContext, owner: Visitor, data: Fields
) -> Response[Any]:
    """Which model each tier asks first; the others of the tier stand in for it as before."""
    known = {row.name for row in site.models.rows() if not row.needs}
    order = {}
    for tier in site.models.tiers():
        first = data.get(f"tier-{tier.tier}", "")
        if first in known:
            order[str(tier.tier)] = [first, *(name for name in tier.models if name != first)]
    try:
        if len(order) < COUNT:
            raise BadSettings("Choose a model for each tier.")
        await site.live.change("tiers", order, f"person:{owner.person}")
    except InputError as error:
        return await models_page(site, owner, error=str(error), status=400)
    told = "The tiers are saved. Settings has the change, to undo it."
    return redirect_with_note(request, owner, told, "/admin/models")
