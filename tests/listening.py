"""Web applications of aiohttp's on loopback, forms sent to them, and pages for a browser, over https."""

import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple

import trustme
from aiohttp import BodyPartReader, web


@asynccontextmanager
async def listening(
    app: web.Application, port: int = 0, secure: ssl.SSLContext | None = None
) -> AsyncIterator[str]:
    """The address of this on loopback, on a free port unless one is given."""
    runner = web.AppRunner(
        app,
        handle_signals=False,
        access_log=None,
        shutdown_timeout=0.1,
        handler_cancellation=True,
    )
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", port, ssl_context=secure).start()
        host, bound = runner.addresses[0][:2]
        yield f"http{'s' * bool(secure)}://{host}:{bound}"
    finally:
        await runner.cleanup()


class FormPart(NamedTuple):
    """A field of a multipart form; `filename` is None where it is no file."""

    name: str
    filename: str | None
    media: str
    data: bytes


async def form_parts(request: web.Request) -> list[FormPart]:
    """The fields of a form. `request.post` leaves the file open of an upload that is cut off."""
    parts = list[FormPart]()
    async for part in await request.multipart():
        assert isinstance(part, BodyPartReader)
        media = part.headers.get("Content-Type", "application/octet-stream")
        data = bytes(await part.read(decode=True))
        parts.append(FormPart(part.name or "", part.filename, media, data))
    return parts


class Pages(NamedTuple):
    """Pages of this machine for a browser that asks no authority; `asked`: which paths, in order."""

    port: int
    asked: list[str]


@asynccontextmanager
async def paging(answer: Callable[[str], web.Response]) -> AsyncIterator[Pages]:
    """Pages over https, each as `answer` makes it of its path."""
    asked = list[str]()

    async def serve(request: web.Request) -> web.Response:
        if request.path != "/favicon.ico":
            asked.append(request.path_qs)
        return answer(request.path_qs)

    app = web.Application()
    app.router.add_get("/{path:.*}", serve)
    secure = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    trustme.CA().issue_cert("localhost").configure_cert(secure)
    async with listening(app, secure=secure) as url:
        yield Pages(int(url.rpartition(":")[2]), asked)
