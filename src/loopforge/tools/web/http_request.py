"""Requests to services that the owner of a home named, and what they answer.

A service that is described (`tools/NAME.toml`) is asked at that place and no other: where it leads
on to is not asked, so that no key of the request gets there. What is packed is unpacked only as far
as the bound on its size. An endpoint that was set (a search, Wikipedia, arXiv) may stand in the
owner's own network; where it leads on to may not. What it answers is believed no more than a page.
"""

import asyncio
import json
import re
from collections.abc import Mapping
from html import unescape
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

import httpcore2
import httpx2

from loopforge import __version__
from loopforge.core.text.name_labels import truncate_text
from loopforge.errors import InputError
from loopforge.runtime.mind_containment import bounded_text
from loopforge.tools.web.network_guard import GuardedNetwork
from loopforge.tools.web.page_decoding import decode_page, strip_invisible
from loopforge.tools.web.page_fetch import (
    REDIRECTS,
    FetchedPage,
    body_of,
    checked_url,
    fetch_page,
    type_of,
)

LARGEST = 2_000_000
"""Bytes of an answer."""


class HttpRequest(NamedTuple):
    """What is sent: to which address, with which headers and which body of JSON."""

    method: str
    address: str
    headers: Mapping[str, str]
    body: Mapping[str, Any] | None = None


class HttpAnswer(NamedTuple):
    """What came back: the status, the type and the bytes of it."""

    status: int
    media: str
    charset: str
    data: bytes


async def send_http_request(
    request: HttpRequest, network: GuardedNetwork, seconds: float
) -> HttpAnswer:
    """What a service answers, whatever its status. Raises InputError, which tells no header."""
    at = checked_url(request.address)
    try:
        async with (
            asyncio.timeout(seconds),
            httpcore2.AsyncConnectionPool(network_backend=network) as pool,
        ):
            return await _answered(pool, at, request, seconds)
    except TimeoutError as error:
        raise InputError(f"{at.host} took longer than {seconds:g} seconds") from error
    except (httpcore2.NetworkError, httpcore2.TimeoutException, OSError) as error:
        raise InputError(f"{at.host} cannot be reached") from error
    except httpcore2.ProtocolError as error:
        raise InputError(f"{at.host} does not speak HTTP as it should") from error


async def _answered(
    pool: httpcore2.AsyncConnectionPool, at: httpx2.URL, request: HttpRequest, seconds: float
) -> HttpAnswer:
    target = httpcore2.URL(scheme=at.raw_scheme, host=at.raw_host, port=at.port, target=at.raw_path)
    headers = {
        "Host": at.netloc.decode("ascii"),
        "Accept": "application/json, text/*;q=0.5, */*;q=0.1",
        "Accept-Encoding": "gzip",
        "User-Agent": f"Loopforge/{__version__}",
        **request.headers,
    }
    content = None if request.body is None else json.dumps(request.body).encode()
    if content is not None:
        headers |= {"Content-Type": "application/json", "Content-Length": str(len(content))}
    async with pool.stream(
        request.method,
        target,
        headers=[*headers.items()],
        content=content,
        extensions={"timeout": dict.fromkeys(("connect", "read", "write", "pool"), seconds)},
    ) as reply:
        told = {
            key.lower().decode("latin-1"): value.decode("latin-1") for key, value in reply.headers
        }
        if reply.status in REDIRECTS:
            raise InputError(
                f"{at.host} leads on to {bounded_text(told.get('location', 'nowhere'))}, which "
                "is not "
                "followed; the owner can put that address into the tool's file"
            )
        media, charset = type_of(told.get("content-type", ""))
        data, whole = await body_of(reply, told.get("content-encoding", ""), LARGEST)
        if not whole:
            raise InputError(f"{at.host} answered more than {LARGEST:,} bytes")
        return HttpAnswer(reply.status, media, charset, data)


def status_phrase(status: int) -> str:
    """A status with its usual words: "404 (Not Found)"."""
    try:
        return f"{status} ({HTTPStatus(status).phrase})"
    except ValueError:
        return str(status)


# ---------------------------------------------------------------- endpoints


async def request_endpoint(endpoint: str, given: Mapping[str, object] | None = None) -> FetchedPage:
    """What an endpoint gives for these parameters. Raises InputError."""
    joint = "&" if urlsplit(endpoint).query else "?"
    url = f"{endpoint}{joint}{urlencode(given)}" if given else endpoint
    return await fetch_page(url, GuardedNetwork([place_of(endpoint)]))


async def asked_json(endpoint: str, given: Mapping[str, object]) -> dict[str, Any]:
    """The object of JSON that an endpoint gives. Raises InputError."""
    page = await request_endpoint(endpoint, given)
    try:
        told = json.loads(decode_page(page.data, page.charset))
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict):
        raise InputError(f"{urlsplit(endpoint).netloc} did not answer in JSON")
    if error := told.get("error"):
        why = error.get("info") if isinstance(error, dict) else error
        raise InputError(f"{urlsplit(endpoint).netloc} says: {bounded_text(why)}")
    return told


def rows_of(told: Mapping[str, Any], *keys: str) -> list[dict[str, Any]]:
    """The list of objects under these keys; an empty one where it is not as it should be."""
    found: Any = told
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


def place_of(url: str) -> str:
    """The "name:port" of an address."""
    found = urlsplit(url)
    return f"{found.hostname}:{found.port or (443 if found.scheme == 'https' else 80)}"


def strip_html_tags(text: object) -> str:
    """What an answer says in HTML; a < before anything but a tag's name is one."""
    return unescape(re.sub(r"</?[A-Za-z][^<>]*>", "", str(text or "")))


def one_row(text: object, most: int) -> str:
    """Words of an answer in one line, of at most so many characters."""
    return truncate_text(" ".join(strip_invisible(str(text or "")).split()), most)
