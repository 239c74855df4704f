"""Pictures of people and mates: given on one's own page and on a mate's, and shown to browsers.

A browser asks for a picture by the beginning of its hash, so that what it keeps is never another
one; only those that somebody has now are given out, and to nobody who is not signed in. Whoever may
edit mates may give a mate one.
"""

from typing import Annotated

from litestar import Response, get, post
from litestar.datastructures import UploadFile
from litestar.params import Parameter
from litestar.response import Redirect, Template

from loopforge.artifacts.avatar_upload import LARGEST, shrink_avatar
from loopforge.errors import InputError, Unknown
from loopforge.people.accounts.account_values import Visitor
from loopforge.people.accounts.avatar_records import of_mate, of_person
from loopforge.web.account.account_pages import your_page
from loopforge.web.room.mate_pages import Word, key_of, path_of, shown_mate, standing_of
from loopforge.web.server.page_context import Asked, Fields, PageContext

KEPT = "private, max-age=604800, immutable"
MOST = LARGEST + 100_000
"""Bytes of a form with a picture."""
Name = Annotated[str, Parameter(max_length=80)]


@get("/pictures/{name:str}")
async def picture(site: PageContext, visitor: Visitor, name: Name) -> Response[bytes]:  # noqa: ARG001
    """A picture that somebody has now."""
    hash = site.pictures.named(name)
    if not hash:
        raise Unknown("There is no such picture, or no longer.")
    return Response(
        await site.artifacts.get(hash),
        media_type="image/webp",
        headers={
            "Cache-Control": KEPT,
            "Content-Security-Policy": "default-src 'none'; sandbox",
        },
    )


async def _given(request: Asked, site: PageContext, visitor: Visitor, whose: str) -> None:
    """Take the picture of a form, and let it be somebody's. Raises InputError."""
    site.paces.changes.take(visitor.person)
    given = (await request.form()).get("picture")
    if not isinstance(given, UploadFile) or not given.filename:
        raise InputError("Choose a picture first.")
    data = await given.read()
    site.paces.bytes.take(visitor.person, min(len(data), site.live.now.upload_limit_bytes))
    hash = await site.artifacts.put(await shrink_avatar(data))
    try:
        await site.pictures.give(whose, hash, visitor.person)
    except BaseException:
        site.artifacts.settle(hash)
        raise


@post("/you/picture", request_max_body_size=MOST)
async def give_yours(request: Asked, site: PageContext, visitor: Visitor) -> Template | Redirect:
    """Give oneself a picture."""
    try:
        await _given(request, site, visitor, of_person(visitor.person))
    except InputError as error:
        return await your_page(site, visitor, unpictured=str(error), status=400)
    return Redirect("/you#picture", status_code=303)


@post("/you/picture/remove")
async def take_yours(site: PageContext, visitor: Visitor, data: Fields) -> Redirect:  # noqa: ARG001
    """Have none any more."""
    await site.pictures.give(of_person(visitor.person), "", visitor.person)
    return Redirect("/you#picture", status_code=303)


@post("/mates/{handle:str}/picture", request_max_body_size=MOST)
async def give_mates(
    request: Asked, site: PageContext, owner: Visitor, handle: Word
) -> Template | Redirect:
    """Give a mate a picture."""
    one = await standing_of(site, handle)
    mate = site.roster.get(one.handle or handle)
    try:
        await _given(request, site, owner, of_mate(mate.handle))
    except InputError as error:
        return await shown_mate(site, owner, one, error=str(error))
    return Redirect(f"{path_of(key_of(one))}#picture", status_code=303)


@post("/mates/{handle:str}/picture/remove")
async def take_mates(site: PageContext, owner: Visitor, handle: Word, data: Fields) -> Redirect:  # noqa: ARG001
    """Let a mate have its drawn face again."""
    one = await standing_of(site, handle)
    await site.pictures.give(of_mate(one.handle or handle), "", owner.person)
    return Redirect(f"{path_of(key_of(one))}#picture", status_code=303)
