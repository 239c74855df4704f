"""A better model: by a key or a server's address, or a larger one that runs here; and tiers.

A key or an address is tried first: which models it opens, and what the first of them answers. It is
saved if that went well, or if the owner wants it all the same. No page ever shows a key.

A fetch goes on when the page is left; the list asks for itself anew while one runs. A file that
somebody has is taken by its path, or sent by a browser: then it goes to the disk as it comes.
"""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any

from litestar import Response, get, post
from litestar.enums import MediaType
from litestar.params import Parameter
from litestar.response import Template

from loopforge.errors import BadSettings, InputError
from loopforge.models.files.model_library import free_memory
from loopforge.models.model_tiers import COUNT
from loopforge.models.providers.known_services import PLACES
from loopforge.models.try_loading import check_loads
from loopforge.people.accounts.account_values import Visitor
from loopforge.web.admin.admin_pages import models_page
from loopforge.web.admin.first_steps import BACK, first_page, redirect_with_note
from loopforge.web.server.access_guards import provide_owner, provide_visitor
from loopforge.web.server.page_context import Asked, Fields, PageContext, render_page

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


PLACE = "/admin/models"


@get("/admin/models/files")
async def files(site: PageContext, owner: Visitor) -> Template:
    """The list alone, for the script of the page."""
    library = site.library
    rows = library.rows(site.live.saved.embedded_file)
    more: dict[str, Any] = {"library": library, "switch": site.switch, "free": free_memory()}
    return render_page("admin-model-files.html", owner, files=rows, **more)


@post("/admin/models/files/upload", request_max_body_size=None)
async def upload(
    request: Asked,
    site: PageContext,
    owner: Visitor,
    name: Annotated[str, Parameter(max_length=300)] = "",
) -> Response[Any]:
    """Take the file that a script of the page sends, as the bytes that it is.

    As large as the disk has room for. What leads on is an address that tells that it is here.
    """
    size = request.headers.get("content-length", "")
    pieces = _all_of(request, site)
    taken = await site.library.take(name, int(size) if size.isdigit() else 0, pieces)
    to = redirect_with_note(request, owner, f"{taken} is here. “Use it” lets it answer.", PLACE).url
    return Response({"to": to}, media_type=MediaType.JSON, status_code=200)


async def _all_of(request: Asked, site: PageContext) -> AsyncIterator[bytes]:
    """What is sent, as it comes. Raises NotSignedIn and Unknown where the session ended before."""
    async for piece in request.stream():
        yield piece
    await provide_owner(await provide_visitor(request, site))


@post("/admin/models/files/{verb:str}")
async def change_files(
    request: Asked, site: PageContext, owner: Visitor, verb: str, data: Fields
) -> Response[Any]:
    """Do with a file what a button says."""
    name = data.get("name", "")
    try:
        told = await _done(site, owner, verb, name, data.get("path", "").strip())
    except InputError as error:
        return await models_page(site, owner, error=str(error), status=400)
    return redirect_with_note(request, owner, told, PLACE)


async def _done(site: PageContext, owner: Visitor, verb: str, name: str, path: str) -> str:
    library = site.library
    match verb:
        case "fetch":
            library.start(name)
            return f"{name} is being fetched. You can leave this page."
        case "cancel":
            await library.cancel(name)
            return f"{name} is not fetched any more. What came is kept, to go on from."
        case "use":
            return await _used(site, owner, name)
        case "add":
            if not Path(path).is_absolute():
                raise InputError("Give the whole path of the file, such as /models/some.gguf.")
            return f"{await asyncio.to_thread(library.add, Path(path))} is here."
        case "remove":
            if name in (site.live.now.embedded_file, site.live.saved.embedded_file):
                raise InputError(f"{name} is in use; use another one first, and start again.")
            library.remove(name)
            return f"{name} is gone."
    raise InputError("There is no such thing to do with a model's file.")


async def _used(site: PageContext, owner: Visitor, name: str) -> str:
    """Let a file's model answer, at once where that can be done; what is to be told of it.

    Raises InputError where it cannot be loaded; then the one before goes on answering.
    """
    setting, switch, by = site.setting("embedded_file"), site.switch, f"person:{owner.person}"
    path = site.library.path(name) if name else None
    if path and not (switch and switch.lacking(path)):
        await asyncio.to_thread(check_loads, path)
    before = site.live.saved.embedded_file
    await site.live.change("embedded_file", name or None, by)
    called = name or "The small model"
    if setting.fixed:
        return f"{setting.row.variable} is set, and comes before this."
    if switch is None:
        return f"{called} answers from the next start of Loopforge on."
    trouble = await switch.settled()
    if switch.later:
        return (
            f"{called} answers from the next start of Loopforge on. {trouble} Make room, or end "
            "Loopforge and start it again as you did before."
        )
    if trouble:
        await site.live.change("embedded_file", before or None, by)
        raise InputError(f"{trouble} The one before goes on answering.")
    return f"{called} answers from now on, wherever no key serves a tier."
