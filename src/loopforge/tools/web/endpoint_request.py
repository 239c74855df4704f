"""Asking an endpoint that the owner of a home set: a search, Wikipedia, arXiv.

It may stand in the owner's own network; where it leads on to may not. What it answers is believed
no more than any page.
"""

import json
import re
from collections.abc import Mapping
from html import unescape
from typing import Any
from urllib.parse import urlencode, urlsplit

from loopforge.core.text.name_labels import truncate_text
from loopforge.errors import InputError
from loopforge.runtime.containment import bounded_text
from loopforge.tools.web.network_guard import GuardedNetwork
from loopforge.tools.web.page_decoding import decode_page, strip_invisible
from loopforge.tools.web.page_fetch import FetchedPage, fetch_page


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
