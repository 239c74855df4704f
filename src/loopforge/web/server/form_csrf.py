"""Forms: what changes something was sent by a page of this home, in the browser that came in.

    origin   requests say where they come from (Sec-Fetch-Site, Origin); from any other place than
             this home, another port of the same machine too, nothing is written and nothing read
    token    every form carries a digest of its session's cookie, made with the home's secret; a
             stranger's is made of the door's cookie
    key      scripts keep one for pages of this origin alone. A session's cookie holds its digest,
             so that the cookie without the key, copied by whoever saw it (the browser sends it to
             every port of the machine), changes nothing

A browser without scripts has no key: its sessions go by origin and token. A device that somebody
signed in with keeps a cookie that says so, by which its wrong passwords are counted apart.

Does not know who may do what.
"""

import hashlib
import hmac
from base64 import urlsafe_b64encode
from urllib.parse import urlsplit

from litestar.datastructures import Cookie, MutableScopeHeaders
from litestar.enums import RequestEncodingType, ScopeType
from litestar.exceptions import PermissionDeniedException
from litestar.middleware.csrf import generate_csrf_token
from litestar.types import ASGIApp, Message, Receive, Scope, Send
from litestar.utils.scope.state import ScopeState

from loopforge.errors import InputError
from loopforge.people.identity.account_names import fold_name
from loopforge.web.server.connection_limits import STREAMED
from loopforge.web.server.page_context import Asked

COOKIE, DOOR, DEVICE = "loopforge", "loopforge-door", "loopforge-device"
"""The cookies: a session's; of who is at the door; of a device that somebody signed in with."""
SAFE = ("GET", "HEAD", "OPTIONS")
HEADER, FIELD = "x-csrftoken", "_csrf_token"
WATCHED = ("/alive", "/metrics", "/ready")
"""What programs on other machines ask for; neither knows anybody by a cookie."""
PLAIN = ("/static/", "/look.css", "/favicon.ico", *WATCHED)
"""What has no form in it."""
PORTS = {"http": ":80", "https": ":443"}
YEAR = 365 * 24 * 3600


class KeyLost(InputError):
    """The cookie is right, and what only its own browser has is not."""


class FormSigner:
    """What is signed with the home's secret."""

    def __init__(self, secret: str) -> None:
        self._secret = secret

    def token(self, cookie: str) -> str:
        """What forms carry that belong to this cookie."""
        return self._signed("form", cookie)

    def nonce(self) -> str:
        """Something new that nobody can guess."""
        return generate_csrf_token(self._secret)[:32]

    def device(self, name: str) -> str:
        """What a device keeps with which somebody of this name came in."""
        nonce = self.nonce()
        signed = self._signed("device", fold_name(name), nonce), self._signed("browser", nonce)
        return ".".join((nonce, *signed))

    def browser(self, request: Asked) -> str:
        """The device that asks, if anybody signed in with it; else ""."""
        nonce, _, signed = request.cookies.get(DEVICE, "").partition(".")
        return nonce if same(signed.partition(".")[2], self._signed("browser", nonce)) else ""

    def known(self, request: Asked, name: str) -> str:
        """The device that asks, if somebody of this name signed in with it; else ""."""
        nonce, _, signed = request.cookies.get(DEVICE, "").partition(".")
        fits = same(signed.partition(".")[0], self._signed("device", fold_name(name[:200]), nonce))
        return nonce if fits else ""

    def _signed(self, *what: str) -> str:
        text = "\n".join(what).encode("utf-8", "surrogatepass")
        return hmac.new(self._secret.encode(), text, hashlib.sha256).hexdigest()


def same(one: str, other: str) -> bool:
    """Whether two texts are the same, in a time that does not tell where they differ."""
    return one.isascii() and hmac.compare_digest(one, other)


def seal(key: str) -> str:
    """What a session's cookie holds of a browser's key; "" of none."""
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()
    return urlsafe_b64encode(digest).decode().rstrip("=") if key else ""


def seal_of(request: Asked) -> str:
    """The seal of the browser that sent this form."""
    return str(getattr(request.state, "seal", ""))


# ---------------------------------------------------------------- where a request comes from


def from_here(request: Asked, address: str) -> bool:
    """Whether it comes from a page of this home, from a person's own hand, or from no browser.

    From elsewhere a browser may only come to a page, as by a link.
    """
    told = request.headers.get("sec-fetch-site", "")
    origin = request.headers.get("origin", "")
    if told in ("", "same-origin", "none"):
        if (
            origin == "null"
        ):  # what a page is that shows itself to nobody: ours only if that is told
            return told == "same-origin"
        return not origin or plain(origin) in _ours(request, address)
    visit = request.headers.get("sec-fetch-mode"), request.headers.get("sec-fetch-dest")
    return request.method in SAFE and visit == ("navigate", "document")


def _ours(request: Asked, address: str) -> set[str]:
    """The origins of this home, as this browser may call it."""
    host = request.headers.get("host", "").lower()
    asked = plain(f"http://{host}")
    named = plain(address)
    behind = urlsplit(address).scheme == "https" and plain(f"https://{host}") == named
    return {named} if behind else {named, asked}


def plain(origin: str) -> str:
    """An origin in small letters, without a port that goes without saying; "" for what is none."""
    try:
        found = urlsplit(origin.lower())
    except ValueError:
        return ""
    return f"{found.scheme}://{found.netloc.removesuffix(PORTS.get(found.scheme, ':'))}"


# ---------------------------------------------------------------- before any handler


class FormTokens:
    """Refuses what comes from elsewhere, and forms without the token and key of their session."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Raises PermissionDeniedException, KeyLost."""
        if scope["type"] != ScopeType.HTTP:
            await self._app(scope, receive, send)
            return
        request, path = Asked(scope, receive), scope["path"]
        signer: FormSigner = request.app.state["signer"]
        address: str = request.app.state["site"].address
        if not from_here(request, address) and path not in WATCHED:
            raise PermissionDeniedException("This came from elsewhere.")
        session = request.cookies.get(COOKIE, "")
        door = session or request.cookies.get(DOOR, "")
        given = door or signer.nonce()
        ScopeState.from_scope(scope).csrf_token = signer.token(given)
        if request.method in SAFE:
            shown = not door and not path.startswith(PLAIN)
            https = address.startswith("https://")
            await self._app(scope, receive, _with_door(send, given, https) if shown else send)
            return
        if of_any_size(request):
            scope["state"][STREAMED] = True
        token, _, key = (await proof_in(request)).partition(".")
        if not door or not same(token, signer.token(door)):
            raise PermissionDeniedException("The token is another one.")
        request.state.seal = seal(key)
        sealed = session.partition(".")[2]
        if sealed and not same(seal(key), sealed) and path != "/sign-out":
            raise KeyLost(
                "This browser no longer has what it got when you came in, so nothing was changed. "
                "Sign out (under your picture, at the top right) and come in again."
            )
        await self._app(scope, receive, send)


def _with_door(send: Send, nonce: str, secure: bool) -> Send:
    cookie = Cookie(key=DOOR, value=nonce, httponly=True, samesite="lax", secure=secure)

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message.setdefault("headers", [])
            headers = MutableScopeHeaders.from_message(message)
            headers.add("set-cookie", cookie.to_header(header=""))
        await send(message)

    return sending


def of_any_size(request: Asked) -> bool:
    """Whether what is sent may be of any size; then whoever reads it writes it away at once."""
    return request.route_handler.resolve_request_max_body_size() is None


async def proof_in(request: Asked) -> str:
    """The token that a request carries, and after a dot the key, where there is one; or "".

    Where what comes may be of any size it is a script that sends it: no form is read there.
    """
    if given := request.headers.get(HEADER, ""):
        return given
    if of_any_size(request):
        return ""
    if request.content_type[0] in (RequestEncodingType.URL_ENCODED, RequestEncodingType.MULTI_PART):
        found = (await request.form()).get(FIELD, "")
        return found if isinstance(found, str) else ""
    return ""
