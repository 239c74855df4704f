"""The web application: handlers, templates, limits, and the names it answers to.

Made from a Site by whoever composes the home; serves nothing by itself (http_server.py does).
"""

import ipaddress
import logging
import warnings
from importlib.resources import files
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from litestar import Litestar, Response, Router, get
from litestar.datastructures import CacheControlHeader, State
from litestar.enums import MediaType
from litestar.exceptions import HTTPException
from litestar.exceptions.base_exceptions import LitestarDeprecationWarning
from litestar.handlers import HTTPRouteHandler
from litestar.middleware.rate_limit import RateLimitConfig
from litestar.plugins.jinja import JinjaTemplateEngine
from litestar.response import Redirect
from litestar.static_files import create_static_files_router
from litestar.stores.memory import MemoryStore
from litestar.stores.registry import StoreRegistry

from loopforge.errors import (
    HostTaken,
    LedgerError,
    LedgerFull,
    LedgerReadOnly,
    LedgerRewound,
    LoopforgeError,
)
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.web.account import account_pages as door
from loopforge.web.admin import (
    admin_pages,
    budgets_page,
    first_steps,
    ledger_page,
    models_page,
    people_invites,
    settings_page,
    tools_page,
    undelivered_page,
    usage_page,
)
from loopforge.web.lab import (
    comparison_pages,
    fork_pages,
    lab_pages,
    run_viewer,
    side_panels,
    story_page,
)
from loopforge.web.rendering.name_colours import look_css
from loopforge.web.room import (
    avatar_pages,
    event_stream,
    export_pages,
    growth_pages,
    line_pages,
    memory_pages,
    question_page,
    reminders_page,
    room_pages,
    why_page,
)
from loopforge.web.room import mate_pages as mates
from loopforge.web.room.room_pages import max_request_bytes
from loopforge.web.server.access_guards import DEPENDENCIES, AccessGuard, visitor_of
from loopforge.web.server.connection_limits import place_of
from loopforge.web.server.error_pages import (
    ONCE,
    bad_encoding_page,
    http_error_page,
    internal_error_page,
    loopforge_error_page,
)
from loopforge.web.server.flash_messages import FlashMessages
from loopforge.web.server.form_csrf import COOKIE, FormSigner, FormTokens
from loopforge.web.server.metrics_text import metrics
from loopforge.web.server.page_context import Asked, PageContext
from loopforge.web.server.page_templates import template_environment
from loopforge.web.work import task_list, task_page, task_stream

log = logging.getLogger(__name__)
PER_MINUTE = 600
"""Requests of one browser; a page that is open in a lively room needs about sixty."""
PAGES = (
    *(
        avatar_pages,
        room_pages,
        line_pages,
        event_stream,
        why_page,
        question_page,
        mates,
        export_pages,
    ),
    *(growth_pages, memory_pages, reminders_page),
    *(task_list, task_page, task_stream),
    *(lab_pages, run_viewer, side_panels, story_page, fork_pages, comparison_pages),
)
ADMIN = (
    *(admin_pages, undelivered_page, first_steps, models_page),
    *(people_invites, usage_page, budgets_page, ledger_page, settings_page, tools_page),
)
"""The modules whose handlers are the pages; those of Admin are the owner's alone."""
FORM = 1_000_000
"""Bytes of a form without files: the longest mate's file, and room to spare."""


@get("/look.css", media_type="text/css")
async def look(request: Asked, site: PageContext) -> Response[str]:
    """The mates' colours, as classes; a stranger is not told who lives here."""
    headers = {"Cache-Control": "private, no-cache", "Vary": "Cookie"}
    known = await visitor_of(request, site) is not None
    mates = site.roster.mates().values() if known else ()
    sheet = look_css((mate.handle, mate.colour) for mate in mates)
    return Response(sheet, media_type="text/css", headers=headers)


@get("/favicon.ico", status_code=301)
async def favicon() -> Redirect:
    """The icon, for what asks where it always was: pages name it themselves."""
    return Redirect("/static/favicon.svg", status_code=301)


@get("/alive")
async def alive(site: PageContext) -> Response[dict[str, str]]:
    """Whether the server runs, for whoever watches over it."""
    return Response({"status": "alive", "boot": site.boot}, media_type=MediaType.JSON)


@get("/ready")
async def ready(site: PageContext) -> Response[dict[str, str]]:
    """Whether it can serve: its ledger can be read and written, and it is its host."""
    why = await unready(site.ledger)
    code = 503 if why else 200
    return Response({"status": why or "ready"}, media_type=MediaType.JSON, status_code=code)


async def unready(ledger: SqlLedger) -> str:
    """Why a home cannot serve, without any name of it; "" while it can."""
    try:
        await ledger.tail(1)
        match await ledger.overtaken():
            case LedgerRewound():
                return "rewound"
            case HostTaken():
                return "overtaken"
        match await ledger.unwritable():
            case None:
                return ""
            case LedgerFull():
                return "disk full"
            case LedgerReadOnly():
                return "read-only"
    except LedgerError:
        pass
    return "no ledger"


def handlers_of(module: ModuleType) -> list[HTTPRouteHandler]:
    """The handlers that a module has: whatever it decorates with `get` or `post`."""
    return [each for each in vars(module).values() if isinstance(each, HTTPRouteHandler)]


def who(request: Asked) -> str:
    """Whose requests are counted together: a session's, a known device's, else an address's.

    A cookie that is no session of ours counts for nothing: else every made-up one would be new.
    """
    address = place_of(request.client.host) if request.client else "nobody"
    site: PageContext = request.app.state["site"]
    signer: FormSigner = request.app.state["signer"]
    session = site.accounts.decisions.presence.known(request.cookies.get(COOKIE, ""))
    return session or signer.browser(request) or address


def is_address(host: str) -> bool:
    """Whether it is made of numbers."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def named(host: str) -> str:
    """The name or address in a Host header, in small letters, without port and brackets; or ""."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def at_home(request: Asked) -> Response[Any] | None:
    """Nothing, where the home is asked by a name of its own; else what it is called."""
    host, hosts = named(request.headers.get("host", "")), request.app.state["hosts"]
    if host in hosts or ("*ip" in hosts and is_address(host)):
        return None
    told = (
        f"This home is not called {host[:100]!r}. Set LOOPFORGE_WEB_ADDRESS to the address by "
        "which browsers reach it."
    )
    return Response(told, media_type=MediaType.TEXT, status_code=421)


def make_app(site: PageContext, secret: str, hosts: frozenset[str]) -> Litestar:
    """The application. `secret` signs form tokens; `hosts` are the names it answers to."""
    with warnings.catch_warnings():  # parameters are inferred by their names, which 2.x allows
        warnings.simplefilter("ignore", LitestarDeprecationWarning)
        app = _assembled(max_request_bytes(site))
    templates = template_environment(site)
    templates.globals.update(side_panels.WORDS)
    app.template_engine = JinjaTemplateEngine.from_environment(templates)
    app.state = State(
        {
            "site": site,
            "hosts": hosts,
            "signer": FormSigner(secret),
            "notes": FlashMessages(),
        }
    )
    return app


def _assembled(most_bytes: int) -> Litestar:
    """The application of any home whose lines may have so many bytes; the home comes later."""
    throttle = RateLimitConfig(
        rate_limit=("minute", PER_MINUTE),
        identifier_for_request=who,
        exclude=[
            "^/static/",
            "^/(alive|ready)$",
            "^/(rooms|lab)/[^/]+/stop$",  # paced by itself: `paces.stops`
            *(f"^/{door}/" for door in ONCE),
        ],
    )
    static = create_static_files_router(
        path="/static",
        directories=[Path(str(files("loopforge.web").joinpath("static")))],
        cache_control=CacheControlHeader(public=True, max_age=600),
    )
    pages = chain.from_iterable(map(handlers_of, (*PAGES, *ADMIN)))
    return Litestar(
        route_handlers=[
            look,
            favicon,
            alive,
            ready,
            metrics,
            static,
            Router("/", route_handlers=handlers_of(door), request_max_body_size=door.SHORT),
            Router("/", route_handlers=[room_pages.speak], request_max_body_size=most_bytes),
            *(each for each in pages if each is not room_pages.speak),
        ],
        dependencies=DEPENDENCIES,
        before_request=at_home,
        middleware=[throttle.middleware, AccessGuard, FormTokens],
        stores=StoreRegistry(default_factory=lambda _: MemoryStore()),
        exception_handlers={
            LoopforgeError: loopforge_error_page,
            HTTPException: http_error_page,
            UnicodeDecodeError: bad_encoding_page,
            Exception: internal_error_page,
        },
        request_max_body_size=FORM,
        on_shutdown=[ledger_page.close],
        openapi_config=None,
        logging_config=None,
    )
