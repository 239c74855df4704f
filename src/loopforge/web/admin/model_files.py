"""Larger models that run here: fetched, cancelled, taken by path, used and removed, by the owner.

A fetch goes on when the page is left; the list asks for itself anew while one runs.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from litestar import Response, get, post
from litestar.response import Template

from loopforge.errors import InputError
from loopforge.models.files.gguf_file import check_loads
from loopforge.people.accounts.account_values import Visitor
from loopforge.web.admin.first_steps import back
from loopforge.web.admin.owner_pages import models_page
from loopforge.web.server.page_context import Asked, Fields, Site, page

PLACE = "/admin/models"


@get("/admin/models/files")
async def files(site: Site, owner: Visitor) -> Template:
    """The list alone, for the script of the page."""
    shelf = site.shelf
    rows = shelf.rows(site.live.saved.embedded_file)
    return page("owner-model-files.html", owner, files=rows, shelf=shelf)


@post("/admin/models/files/{verb:str}")
async def change_files(
    request: Asked, site: Site, owner: Visitor, verb: str, data: Fields
) -> Response[Any]:
    """Do with a file what a button says."""
    name = data.get("name", "")
    try:
        told = await _done(site, owner, verb, name, data.get("path", "").strip())
    except InputError as error:
        return await models_page(site, owner, error=str(error), status=400)
    return back(request, owner, told, PLACE)


async def _done(site: Site, owner: Visitor, verb: str, name: str, path: str) -> str:
    shelf, setting = site.shelf, site.setting("embedded_file")
    match verb:
        case "fetch":
            shelf.start(name)
            return f"{name} is being fetched. You can leave this page."
        case "cancel":
            await shelf.cancel(name)
            return f"{name} is not fetched any more. What came is kept, to go on from."
        case "use":
            if name:
                await asyncio.to_thread(check_loads, shelf.path(name))
            await site.live.change("embedded_file", name or None, f"person:{owner.person}")
            if setting.fixed:
                return f"{setting.row.variable} is set, and comes before this."
            return f"{name or 'The small model'} answers from the next start of Loopforge on."
        case "add":
            if not Path(path).is_absolute():
                raise InputError("Give the whole path of the file, such as /models/some.gguf.")
            return f"{await asyncio.to_thread(shelf.add, Path(path))} is here."
        case "remove":
            if name in (site.live.now.embedded_file, site.live.saved.embedded_file):
                raise InputError(f"{name} is in use; use another one first, and start again.")
            shelf.remove(name)
            return f"{name} is gone."
    raise InputError("There is no such thing to do with a model's file.")
