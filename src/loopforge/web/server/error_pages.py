"""What an error looks like in a browser: its words, its status, its page; and the way to sign in.

A sentence of ours is shown as it is. What is wrong with the machine is told to the owner alone,
and a mistake of ours is in the log. Knows no page but that of an error.
"""

import logging
from typing import Any
from urllib.parse import urlsplit

from litestar import Response
from litestar.enums import MediaType
from litestar.exceptions import HTTPException
from litestar.response import Redirect

from loopforge.errors import (
    ArtifactError,
    DamagedArtifact,
    InputError,
    LedgerError,
    LoopforgeError,
    TooLarge,
    Unknown,
)
from loopforge.web.server.access_guards import NotSignedIn
from loopforge.web.server.form_csrf import KeyLost
from loopforge.web.server.page_context import Asked, render_page
from loopforge.web.server.request_limits import TooFast

log = logging.getLogger(__name__)
ONCE = ("enter", "join", "renew", "device")
"""One-time links: what others ask at the same address closes none, and no log tells them."""
ERROR_TEXTS = {
    400: "The form did not come through whole. Go back, reload the page, and try again.",
    401: "You are signed out, so what you sent was not kept. Sign in, go back, and send it again.",
    403: "This page was open for too long, or came from elsewhere. Reload it and try again.",
    404: "There is no such page.",
    405: "This page cannot be asked for in that way.",
    413: "That is too large for this page, and nothing of it was kept. Go back and send less.",
    429: "Too much at once. Wait a minute, then go on.",
    503: "This home cannot read or keep anything just now: its disk or its database is in trouble. "
    "Its owner finds in data/logs what it is; try again in a while.",
    500: "Something broke in here, and it is not your fault. It stands in data/logs; try again.",
}
"""What is said of an error that has no sentence of its own, by its status."""


def loopforge_error_page(request: Asked, error: LoopforgeError) -> Response[Any]:
    """An error of ours: its sentence is for the person who reads it.

    What is wrong with the machine is for the owner; it names folders and addresses.
    """
    if isinstance(error, NotSignedIn):
        return _outside(request)
    status = 404 if isinstance(error, Unknown) else 400 if isinstance(error, InputError) else 503
    if isinstance(error, TooLarge):
        status = 413
    if isinstance(error, KeyLost):
        status = 403
    if status == 503:
        log.warning("%s %s: %s", request.method, spoken(request.url.path), error)
        visitor = getattr(request.state, "visitor", None)
        machine = isinstance(error, LedgerError | ArtifactError)
        if machine and not isinstance(error, DamagedArtifact) and (not visitor or visitor.guest):
            return _said(request, ERROR_TEXTS[503], 503)
    if isinstance(error, TooFast):
        answer = _said(request, str(error), 429)
        answer.headers["Retry-After"] = str(error.seconds)
        return answer
    return _said(request, str(error), status)


def spoken(path: str) -> str:
    """A path as it may stand in a log: without what a one-time link is worth."""
    first, slash, rest = path.lstrip("/").partition("/")
    return f"/{first}/…" if slash and first in ONCE and rest else path


def http_error_page(request: Asked, error: HTTPException) -> Response[Any]:
    """An error of the protocol's: no such page, a wrong form, too many requests."""
    told = ERROR_TEXTS.get(error.status_code, str(error.detail))
    found = _said(request, told, error.status_code)
    for name, value in (error.headers or {}).items():
        found.headers[name] = value
    return found


def bad_encoding_page(request: Asked, error: UnicodeDecodeError) -> Response[Any]:
    """A form whose bytes are no text."""
    log.info("%s %s: %s", request.method, spoken(request.url.path), error.reason)
    return _said(request, ERROR_TEXTS[400], 400)


def internal_error_page(request: Asked, error: Exception) -> Response[Any]:
    """A mistake of ours, which stands in the log."""
    log.error("%s %s failed", request.method, spoken(request.url.path), exc_info=error)
    return _said(request, ERROR_TEXTS[500], 500)


def _outside(request: Asked) -> Response[Any]:
    """On to the sign-in page, in the way the asker understands."""
    if request.headers.get("hx-request"):
        return Response("", status_code=401, headers={"HX-Redirect": "/sign-in"})
    if "text/html" in request.headers.get("accept", "text/html"):
        if request.method != "GET":
            return _said(request, ERROR_TEXTS[401], 401)
        return Redirect("/sign-in", query_params={"next": request.url.path}, status_code=303)
    return Response({"error": "Sign in first."}, media_type=MediaType.JSON, status_code=401)


def _said(request: Asked, told: str, status: int) -> Response[Any]:
    if "application/json" in request.headers.get("accept", ""):
        return Response({"error": told}, media_type=MediaType.JSON, status_code=status)
    name = "error-fragment.html" if request.headers.get("hx-request") else "error.html"
    visitor = getattr(request.state, "visitor", None)
    return render_page(name, visitor, told=told, code=status, back=_form_of(request), status=status)


def _form_of(request: Asked) -> str:
    """The page of this site whose form was sent, or "" where the browser does not say."""
    came = urlsplit(request.headers.get("referer", ""))
    sent = request.method == "POST" and came.netloc == request.url.netloc
    return f"/{came.path.lstrip('/')}" if sent else ""
