"""Fetching from the web: one answer, within bounds of time, size and redirects.

    page = await fetch("https://example.org/", GuardedNetwork())

Sends no cookie, no key and no referrer. Every redirect is an address of its own, checked like the
first. What is packed is unpacked only as far as the bound on its size. Does not know what a page
says, nor who wants it.
"""

import asyncio
import contextlib
import zlib
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import urljoin

import httpcore2
import httpx2

from loopforge import __version__
from loopforge.core.text.document_kinds import DOCUMENTS
from loopforge.errors import InputError
from loopforge.runtime.mind_containment import bounded_text
from loopforge.tools.web.network_guard import GuardedNetwork

REDIRECTS = (301, 302, 303, 307, 308)
READ = ("text/", "application/", "message/")
"""The types of what is read at all; what is none of them (pictures, sound) is not even fetched."""
SIGNED_IN = (401, 403, 407)
HEADERS = {
    "Accept": "text/html, application/xhtml+xml, application/pdf, text/*, */*;q=0.1",
    "Accept-Encoding": "gzip",
    "User-Agent": f"Loopforge/{__version__} (a person asked for this page)",
}
LOW_PORTS = (80, 443)
"""Ports below 1024 that speak HTTP; the others are of mail and the like."""


class FetchBounds(NamedTuple):
    """Bytes of a page and of a document, seconds in all and for one step, redirects."""

    size: int = 5_000_000
    document: int = 25_000_000
    seconds: float = 20.0
    step: float = 10.0
    redirects: int = 5


class FetchedPage(NamedTuple):
    """What came, from where in the end. `whole`: nothing of it was cut off."""

    url: str
    media: str
    charset: str
    data: bytes
    whole: bool = True


async def fetch_page(
    url: str, network: GuardedNetwork, bounds: FetchBounds | None = None
) -> FetchedPage:
    """What an address gives. Raises InputError, which says why there is nothing to read."""
    bounds = bounds or FetchBounds()
    at, host = checked_url(url), ""
    try:
        async with (
            asyncio.timeout(bounds.seconds),
            httpcore2.AsyncConnectionPool(network_backend=network) as pool,
        ):
            for _ in range(bounds.redirects + 1):
                host = at.host
                found = await _answered(pool, at, bounds)
                if isinstance(found, FetchedPage):
                    return found
                at = _onward(at, found)
    except TimeoutError as error:
        raise InputError(f"{host} took longer than {bounds.seconds:g} seconds") from error
    except (httpcore2.NetworkError, httpcore2.TimeoutException, OSError) as error:
        raise InputError(f"{host} cannot be reached ({_plain(error)})") from error
    except httpcore2.ProtocolError as error:
        raise InputError(f"{host} does not speak HTTP as it should ({_plain(error)})") from error
    raise InputError(f"{url} leads on and on, over more than {bounds.redirects} redirects")


def checked_url(url: str) -> httpx2.URL:
    """An address that may be asked for, without its fragment. Raises InputError."""
    text = url.strip()
    if any(map(str.isspace, text)):
        raise InputError(f"{text[:200]!r} is no address of the web: there are spaces in it")
    try:
        found = httpx2.URL(text if "://" in text else f"https://{text}").copy_with(fragment=None)
    except (httpx2.InvalidURL, ValueError) as error:
        raise InputError(f"{text[:200]!r} is no address of the web") from error
    if found.scheme not in ("http", "https") or not found.host:
        raise InputError(f"{text[:200]!r} is no address such as https://example.org/page")
    if found.userinfo:
        raise InputError("an address with a name or a password in it is not fetched")
    port = found.port or 80
    if (port < 1024 and port not in LOW_PORTS) or port > 65_535:
        raise InputError(f"port {port} is none of the web")
    return found


def _onward(at: httpx2.URL, told: str) -> httpx2.URL:
    """The address that a redirect names; letters beyond ASCII come as UTF-8. Raises InputError."""
    with contextlib.suppress(UnicodeError):
        told = told.encode("latin-1").decode("utf-8")
    try:
        onward = urljoin(str(at), told.strip().replace(" ", "%20"))
    except ValueError as error:
        raise InputError(
            f"{at.host} leads on to what is no address: {bounded_text(told)}"
        ) from error
    return checked_url(onward)


async def _answered(
    pool: httpcore2.AsyncConnectionPool, at: httpx2.URL, bounds: FetchBounds
) -> FetchedPage | str:
    """What one request brought, or where it leads on to. Raises InputError."""
    target = httpcore2.URL(scheme=at.raw_scheme, host=at.raw_host, port=at.port, target=at.raw_path)
    headers = {"Host": at.netloc.decode("ascii"), **HEADERS}
    steps = dict.fromkeys(("connect", "read", "write", "pool"), bounds.step)
    async with pool.stream(
        "GET", target, headers=[*headers.items()], extensions={"timeout": steps}
    ) as reply:
        told = {
            key.lower().decode("latin-1"): value.decode("latin-1") for key, value in reply.headers
        }
        if reply.status in REDIRECTS and "location" in told:
            return told["location"]
        _refuse(reply.status, at.host)
        media, charset = type_of(told.get("content-type", ""))
        if media and not media.startswith(READ):
            raise InputError(f"{at} is no page that can be read: it is {media}")
        most = bounds.document if media in DOCUMENTS else bounds.size
        data, whole = await body_of(reply, told.get("content-encoding", ""), most)
        return FetchedPage(str(at), media, charset, data, whole)


def _refuse(status: int, host: str) -> None:
    if 200 <= status < 300:
        return
    if status in SIGNED_IN:
        raise InputError(
            f"{host} does not show this to everybody ({status}): people have to sign in there, or "
            "programs are kept out"
        )
    if status == 429:
        raise InputError(f"{host} was asked too often; try again later ({status})")
    try:
        words = HTTPStatus(status).phrase
    except ValueError:
        words = "no usual answer"
    raise InputError(f"{host} answered {status} ({words})")


def unpacker_of(packed: str) -> Any:
    """What unpacks, by the header that names how it is packed; None for not. Raises InputError."""
    kind = packed.strip().lower()
    if kind not in ("", "identity", "gzip", "x-gzip", "deflate"):
        raise InputError(f"it comes packed in a way that is not read ({bounded_text(kind)})")
    return zlib.decompressobj(zlib.MAX_WBITS | 32) if kind not in ("", "identity") else None


async def body_of(reply: httpcore2.Response, packed: str, most: int) -> tuple[bytes, bool]:
    """What comes, unpacked: at most so many bytes, and whether that is all. Raises InputError."""
    unpack = unpacker_of(packed)
    found = bytearray()
    async for piece in reply.aiter_stream():
        try:
            found += unpack.decompress(piece, most + 1 - len(found)) if unpack else piece
        except zlib.error as error:
            raise InputError("it comes packed, and damaged") from error
        if len(found) > most:
            return bytes(found[:most]), False
        if unpack and unpack.eof:  # what comes behind its end would be kept, without bound
            break
    if unpack and found and not unpack.eof:
        raise InputError("it comes packed, and ends too soon")
    return bytes(found), True


def type_of(told: str) -> tuple[str, str]:
    """Media type and charset, as a header names them; "" for none."""
    media, *more = (part.strip() for part in told.split(";"))
    named = dict(part.lower().split("=", 1) for part in more if "=" in part)
    return media.lower(), named.get("charset", "").strip("\"' ")


def _plain(error: Exception) -> str:
    return bounded_text(str(error) or type(error).__name__)
