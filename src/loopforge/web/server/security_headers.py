"""The headers of every answer, whoever made it: a page, a file, an error of the protocol.

Outermost of all, so that nothing leaves without them; a handler may set a stricter one itself.
"""

from litestar.enums import ScopeType
from litestar.types import ASGIApp, Message, Receive, Scope, Send

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "media-src 'self'; connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(self), geolocation=()",
    "Cache-Control": "no-store",
    "X-Robots-Tag": "noindex, nofollow, noarchive",
}
LINKS = ("/enter/", "/join/", "/renew/", "/device/", "/sign-in")
"""Where an address may hold a one-time link, which no other page is to be told of."""
UNTOLD = (b"referrer-policy", b"strict-origin")  # with "no-referrer" forms would not say whence
FRAMED = {b"content-length", b"transfer-encoding"}
"""Who says both may smuggle a request through a proxy: none is read behind theirs (RFC 9112)."""
RAW = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]


def add_security_headers(app: ASGIApp) -> ASGIApp:
    """The application, with these headers on all it answers."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = list(message.get("headers", ()))
                if scope.get("path", "").startswith(LINKS):
                    given.append(UNTOLD)
                if FRAMED.issubset(name for name, _ in scope["headers"]):
                    given.append((b"connection", b"close"))
                names = {name.lower() for name, _ in given}
                message["headers"] = [*given, *(one for one in RAW if one[0] not in names)]
            await send(message)

        await app(_asked(scope), receive, sending)

    return serve


def _asked(scope: Scope) -> Scope:
    """What is asked for, as the pages take it.

    The head of a page alone (monitors ask so) is asked as the page: the server sends no body then.
    The sign that no database takes for text is replaced by one that all do.
    """
    if scope["type"] == ScopeType.HTTP:
        scope["path"] = scope["path"].replace("\0", "\ufffd")
        scope["query_string"] = scope["query_string"].replace(b"%00", b"%EF%BF%BD")
        if scope["method"] == "HEAD":
            return {**scope, "method": "GET"}
    return scope
