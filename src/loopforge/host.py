"""The host of a home: its rooms, its pages, and the terminal that a person sits at.

    hosted    be the host: hold the home's lock, run its rooms, be on platforms, open the web room
    converse  a person at this terminal; the host, if nobody else is
    watch     the host without a terminal, until it is told to end

Composes what app.py made with the web and the platforms, of which app.py does not know. Whatever
only a host needs is imported when there is one: a terminal first shows where to type.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from loopforge.core.events import Event
from loopforge.core.people_events import SignedIn
from loopforge.errors import HostTaken, LedgerRewound, LoopforgeError, Unknown, Unreachable
from loopforge.home import make_home
from loopforge.host_lock import home_holder_pid, lock_home
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.installation.browser_launch import open_page
from loopforge.runtime.installation.home_files import write_private
from loopforge.runtime.installation.library_loading import import_modules
from loopforge.runtime.installation.log_file import open_log
from loopforge.runtime.installation.network_addresses import is_loopback
from loopforge.runtime.installation.process_resources import (
    collect_seldom,
    give_back_freed,
    raise_limit,
)
from loopforge.runtime.plugins.setting_checks import trusted_proxies
from loopforge.runtime.system_clock import SystemClock, SystemDice
from loopforge.setting_defaults import Settings
from loopforge.web.server.link_reach import LinkReach, http_base_url, reach_of
from loopforge.web.server.port_binding import bind_listening_socket

if TYPE_CHECKING:
    from pathlib import Path

    from loopforge.app import App
    from loopforge.chat.rooms_api import RoomsApi
    from loopforge.io.platform_runner import Platforms
    from loopforge.io.platforms.bot_tokens import BotTokens
    from loopforge.io.platforms.surface_options import SurfaceOptions
    from loopforge.io.platforms.surface_plugin import Surfaces
    from loopforge.lab.run_queue import RunQueue
    from loopforge.runtime.ports import SinkStandings
    from loopforge.web.server.page_context import PageContext

log = logging.getLogger(__name__)
KEY_FILE = "web.secret"
ADDRESS_FILE = "web.address"
"""Holds the address while the web room is open, for commands that name it."""
LOOPBACK_NAMES = ("127.0.0.1", "localhost", "::1")
OPENING_PAGE = "open.html"
"""By which a browser is led there once; gone when the web room is closed."""
OVERTAKEN_PAUSE = 2.0
"""Seconds between two looks whether another process has become the host."""
SERVING_DELAY = 0.5
"""Seconds for which a terminal's host keeps browsers and platforms waiting: loading what serves
them would hold up the first screen."""


@asynccontextmanager
async def host_home(
    settings: Settings,
    *,
    later: float = 0.0,
    tell: Callable[[str], None] | None = None,
    show: bool = False,
) -> AsyncIterator[RoomsApi]:
    """Be the host of this home: make it if it is new, hold its lock, run it with its pages.

    Pages are served, and mates are on platforms, from `later` seconds on; `tell` takes a line for
    each account of a platform once it is connected or refused. `show`: the pages are opened in a
    browser, where there is a screen. Raises HostTaken when another process is the host, also where
    it becomes so meanwhile, and LedgerRewound once the ledger is at an earlier time than this one.
    """
    await import_modules("loopforge.app")
    from loopforge.ledger.schema_migration import refuse_newer

    await asyncio.to_thread(refuse_newer, settings.database_url)
    make_home(settings.home)
    raise_limit()
    collect_seldom()
    open_log()
    with lock_home(settings.home):
        from loopforge.app import open_app
        from loopforge.backup.backup_schedule import BackupSchedule
        from loopforge.io.platforms.bot_tokens import BotTokens, UntoldToken
        from loopforge.sink_opening import open_sinks

        tokens = BotTokens(settings.data, settings.tokens)
        async with AsyncExitStack() as stack:
            app = await stack.enter_async_context(open_app(settings, secrets=UntoldToken(tokens)))
            surfaces = run_surfaces(app, tokens, later=later, tell=tell)
            platforms = await stack.enter_async_context(surfaces)
            sinks = await stack.enter_async_context(open_sinks(app))
            pages = serve_web_room(app, later=later, platforms=platforms, sinks=sinks, show=show)
            await stack.enter_async_context(pages)
            tasks = await stack.enter_async_context(BackgroundTasks())
            tasks.spawn(give_back_freed(app.stamp.clock), "giving memory back")
            if settings.backup_to:
                BackupSchedule(settings, app.ledger, app.stamp.clock).open(tasks)
            async with until_overtaken(app):
                yield app.front


@asynccontextmanager
async def until_overtaken(app: App) -> AsyncIterator[None]:
    """End the block soon after its ledger is another process's, or is at an earlier time again."""
    block, taken = asyncio.current_task(), list[HostTaken | LedgerRewound]()
    assert block is not None

    async def look() -> None:
        while (error := await app.ledger.overtaken()) is None:
            await app.stamp.clock.sleep(OVERTAKEN_PAUSE)
        taken.append(error)
        block.cancel()

    async with BackgroundTasks() as tasks:
        tasks.spawn(look(), "whether another is the host")
        try:
            yield
        except asyncio.CancelledError:
            if taken and not block.uncancel():
                raise taken[0] from None
            raise


@asynccontextmanager
async def run_surfaces(
    app: App,
    tokens: BotTokens,
    surfaces: Surfaces | None = None,
    *,
    manners: SurfaceOptions | None = None,
    later: float = 0.0,
    tell: Callable[[str], None] | None = None,
) -> AsyncIterator[Platforms]:
    """The surfaces that mates of a running home are on, from `later` seconds on.

    `surfaces` are those that are installed, with `manners` as they are set. Where nobody is
    connected, nothing is loaded.
    """
    from loopforge.io.platform_runner import Platforms
    from loopforge.io.platforms import surface_plugin

    more = () if tell is None else (tell,)
    surfaces = surfaces or surface_plugin.surfaces_of(app.settings)
    platforms = Platforms(app, tokens, surfaces, manners or manners_of(app.settings), *more)
    await platforms.open(later)
    try:
        yield platforms
    finally:
        await platforms.close()


def manners_of(settings: Settings) -> SurfaceOptions:
    """How mates behave on every surface, as it is set."""
    from loopforge.artifacts.file_intake import FileLimits
    from loopforge.io.platforms.surface_options import SurfaceOptions

    return SurfaceOptions(
        streams=settings.platform_streaming,
        marks=settings.platform_marks,
        patience=timedelta(hours=settings.platform_patience_hours),
        limits=FileLimits(settings.upload_limit_bytes, settings.file_limit_bytes),
    )


@asynccontextmanager
async def serve_web_room(
    app: App,
    *,
    later: float = 0.0,
    platforms: Platforms | None = None,
    sinks: SinkStandings | None = None,
    show: bool = False,
) -> AsyncIterator[str]:
    """The web room of a running home, as its settings want it; its address, "" if it is closed.

    A port that cannot be had closes the pages and nothing else; terminals are told why.
    """
    settings, welcome = app.settings, Welcome(app)
    if not settings.web:
        yield ""
        return
    exactly = settings.sources.get("web_port", "default") != "default"
    try:
        listener = bind_listening_socket(settings.web_host, settings.web_port, exactly=exactly)
    except LoopforgeError as error:
        welcome.say(f"The web room is closed. {error}")
        yield ""
        return
    address = address_of(settings, listener)
    link = f"{address}/enter/{await app.accounts.links.offer()}"
    welcome.say(f"To come in by your browser, as the owner (once, within the hour):\n{link}")

    def spent(_stream: str, events: Sequence[Event]) -> None:
        """A link that was used is no longer shown to terminals that come later."""
        owner = app.accounts.decisions.book.owner()  # "" as the first one comes in
        came = (e.body for e in events if isinstance(e.body, SignedIn))
        if any(each.how == "link" and owner in ("", each.person) for each in came):
            welcome.say(f"In the browser: {address}")

    address_file, opening = settings.data / ADDRESS_FILE, settings.data / OPENING_PAGE
    address_file.write_text(address, "utf-8")
    async with AsyncExitStack() as stack:
        stack.callback(app.ledger.subscribe(spent, kinds=["people.signed_in"]))
        tasks = await stack.enter_async_context(BackgroundTasks())
        stack.callback(address_file.unlink, missing_ok=True)
        stack.callback(opening.unlink, missing_ok=True)
        pages = Pages(app, address, listener, later, platforms, sinks)
        stack.push_async_callback(pages.close)
        serving = tasks.spawn(pages.run(), "web")
        serving.add_done_callback(lambda _: listener.close())  # also of one that never began
        if show and settings.web_browser:
            open_page(link, opening, settings.environ)
        yield address


class Welcome:
    """What whoever comes in at a terminal is told: about the models, and where the pages are."""

    def __init__(self, app: App) -> None:
        self._app, self._more = app, ""
        app.live.follow(lambda _: self.say(self._more))

    def say(self, more: str) -> None:
        """Tell this after what is to be told about the models."""
        from loopforge.models_opening import notice_of

        self._more = more
        self._app.rooms.notice = "\n".join(filter(None, (notice_of(self._app.models), more)))


class Pages:
    """The web room being served, after a while; browsers that come earlier wait at the socket."""

    def __init__(
        self,
        app: App,
        address: str,
        listener: socket.socket,
        later: float,
        platforms: Platforms | None = None,
        sinks: SinkStandings | None = None,
    ) -> None:
        self._app, self._address, self._listener, self._later = app, address, listener, later
        self._platforms, self._sinks = platforms, sinks
        self._serving: Any = None
        self._site: Any = None
        self._over = asyncio.Event()

    async def run(self) -> None:
        """Serve until `close`."""
        try:
            await self._app.stamp.clock.sleep(self._later)
            await import_modules("loopforge.web.web_app", "loopforge.web.server.http_server")
            from loopforge.runtime.installation.process_resources import most_open
            from loopforge.web.server.connection_limits import ConnectionLimits, room_for
            from loopforge.web.server.http_server import RunningServer
            from loopforge.web.server.security_headers import add_security_headers
            from loopforge.web.web_app import make_app

            site = site_of(self._app, self._address, self._platforms, self._sinks)
            self._site = site
            secret, hosts = _form_secret(self._app), hosts_of(self._app.settings, self._address)
            asgi = await asyncio.to_thread(make_app, site, secret, hosts)
            each = self._app.settings.web_connections
            among = ConnectionLimits(self._app.stamp.clock, most=room_for(most_open()), each=each)
            proxies = trusted_proxies(self._app.settings.web_proxies)
            self._serving = RunningServer(
                add_security_headers(asgi), self._listener, among, proxies
            )
            await self._serving.run()
        finally:
            self._over.set()

    async def close(self) -> None:
        """Let the open pages go, and serve no more."""
        if self._serving is not None:
            await self._site.hub.close()
            await self._site.shifts.close()
            await self._site.library.close()
            self._serving.stop()
            await self._over.wait()


def address_of(settings: Settings, listener: socket.socket) -> str:
    """By which address browsers reach it."""
    if settings.web_address:
        return settings.web_address.rstrip("/")
    return reach_of(settings, http_base_url(settings.web_host, listener.getsockname()[1])).base


def hosts_of(settings: Settings, address: str) -> frozenset[str]:
    """The names it answers to; on the network, any address made of numbers too."""
    named = urlsplit(address).hostname or ""
    if is_loopback(settings.web_host):
        return frozenset({*LOOPBACK_NAMES, settings.web_host, named.lower()})
    own = socket.gethostname().lower()
    return frozenset(
        {*LOOPBACK_NAMES, settings.web_host, named.lower(), own, f"{own}.local", "*ip"}
    )


def _form_secret(app: App) -> str:
    """What signs the forms of open pages; kept, so that they outlive a restart.

    A file that is empty or holds no words (a disk that was full, a power cut) is as good as none.
    """
    path = app.settings.data / KEY_FILE
    with contextlib.suppress(FileNotFoundError, UnicodeDecodeError):
        kept = path.read_text("ascii").strip()
        if kept and kept.isprintable():
            return kept
    made = app.stamp.dice.bytes(32).hex()
    write_private(path, made.encode())
    return made


def site_of(
    app: App,
    address: str,
    platforms: Platforms | None = None,
    sinks: SinkStandings | None = None,
) -> PageContext:
    """Everything pages may use."""
    from loopforge.app import selectable_minds
    from loopforge.backup.make_backup import last_backup
    from loopforge.models.files.model_library import ModelLibrary
    from loopforge.models.transcription.transcription_settings import TranscriptionSettings
    from loopforge.models_opening import notice_of
    from loopforge.sinks.sink_plugin import beyond_recall
    from loopforge.web.rendering.avatar_faces import AvatarFaces
    from loopforge.web.rendering.live_hub import LiveHub, LiveRenderer
    from loopforge.web.server.page_context import PageContext
    from loopforge.web.server.page_templates import template_environment

    settings, live = app.settings, app.live
    library = ModelLibrary(settings.data, settings.embedded_files_from)
    library.tidy()
    faces = AvatarFaces(app.accounts.pictures.name)

    def hears() -> str:
        return live.now.of("transcription", TranscriptionSettings).model

    looks = template_environment(None, lambda: live.zone, faces, hears)
    render = LiveRenderer(app.front, looks)
    site = PageContext(
        front=app.front,
        accounts=app.accounts,
        people=app.people,
        linking=app.linking,
        pairing=app.pairing,
        pictures=app.accounts.pictures,
        portraits=app.portraits,
        artifacts=app.artifacts,
        roster=app.roster,
        chronicle=app.chronicle,
        growth=app.growth,
        beliefs=app.memory.memories,
        usage=app.usage,
        budgets=app.budgets,
        work=app.work.tasks,
        watch=app.work.watch,
        reminders=app.book,
        metrics_token=lambda: app.live.now.metrics_token,
        beyond=partial(beyond_recall, settings),
        sinks=sinks,
        ledger=app.ledger,
        models=app.listing,
        library=library,
        tools=app.tools,
        switch=app.switch,
        backed_up=lambda: last.at if (last := last_backup(settings)) else None,
        clock=app.stamp.clock,
        live=live,
        notice=lambda: notice_of(app.models, owner=False),
        hub=LiveHub(app.front, render),
        shifts=shifts_of(app),
        scenarios=settings.home / "scenarios",
        policies=selectable_minds(),
        address=address,
        reach=partial(reach_of, settings, address),
        boot=app.stamp.dice.bytes(4).hex(),
        surfaces=titles_of(settings),
        platforms=platforms.states if platforms is not None else dict,
    )
    app.accounts.decisions.presence.hear(site.hub.cut)
    app.keeper.on_erased(render.forget_all)
    app.accounts.pictures.hear(site.hub.look_anew)
    return site


def titles_of(settings: Settings) -> dict[str, str]:
    """What people call each surface that mates are on by bots, by its name."""
    from loopforge.io.platforms.surface_plugin import surfaces_of

    return {
        name: each.plugin.title for name, each in surfaces_of(settings).items() if each.plugin.bots
    }


def shifts_of(app: App) -> RunQueue:
    """What plays the runs of the Factory that are started from pages, with the home's models."""
    from loopforge.factory_opening import lab_minds
    from loopforge.lab.inspect.run_archive import RunArchive
    from loopforge.lab.run_queue import RunQueue
    from loopforge.lab.verification.ledger_anchors import LedgerWitness

    def witness(folder: Path, resumed: bool) -> LedgerWitness:
        return LedgerWitness(app.ledger, app.stamp, folder, resumed=resumed)

    archive = RunArchive(app.settings.data / "runs", app.settings.data / "sweeps")
    return RunQueue(archive, partial(lab_minds, app.settings, app.models), witness)


# ---------------------------------------------------------------- at a terminal, or at none


def open_reach(settings: Settings) -> LinkReach:
    """Who can open links of a home whose web room is open, and how they begin.

    As it was opened, whatever was set since. Raises Unreachable.
    """
    address = ""
    if home_holder_pid(settings.home) is not None:  # a file alone may be of one that was killed
        with contextlib.suppress(OSError):
            address = (settings.data / ADDRESS_FILE).read_text("utf-8")
    if not address:
        raise Unreachable(
            "The web room is not open. Start the home with `loopforge up`, then ask again; a home "
            "that runs told at its start why its web room is closed (`web`, `web_port`)."
        )
    host = urlsplit(address).hostname or ""
    if settings.web_address.rstrip("/") != address:
        settings = replace(settings, web_address="")
    if is_loopback(host) != is_loopback(settings.web_host):
        settings = replace(settings, web_host=host)
    return reach_of(settings, address)


async def owner_link(settings: Settings, *, password: bool = False) -> str:
    """A fresh one-time link for the owner of a home whose web room is open.

    To come in by, or to set a new password by. Raises Unreachable, and Unknown where nobody is the
    owner yet.
    """
    address = open_reach(settings).base
    from loopforge.app import open_aside

    async with open_aside(settings) as app:
        if not password:
            return f"{address}/enter/{await app.accounts.links.offer()}"
        owner = [
            one.person for one in await app.accounts.signing.accounts() if one.right == "owner"
        ]
        if not owner:
            raise Unknown("Nobody owns this home yet; `loopforge web link` lets you in first.")
        return f"{address}/renew/{await app.accounts.links.renewal(owner[0], '')}"


async def run_host(settings: Settings, say: Callable[[str], None], *, show: bool = False) -> int:
    """Be the host, for terminals too, until SIGTERM or SIGINT; the exit code."""
    from loopforge.io.socket.socket_address import SocketAddress
    from loopforge.io.socket.socket_server import SocketServer

    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    for sign in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(sign, over.set)
    address = SocketAddress(settings.data, settings.host_socket)
    async with (
        host_home(settings, tell=partial(_say_line, say), show=show) as front,
        SocketServer(front, address),
    ):
        say(front.rooms.notice)
        await over.wait()
    return 0


async def run_terminal_chat(
    settings: Settings,
    *,
    room: str = "",
    name: str = "",
    mate: str = "",
    plain: bool = False,
    as_json: bool = False,
    show: bool = False,
) -> int:
    """Bring a person into a room by this process's terminal or pipes; the exit code.

    With a `mate` and no `room`, the room is one that holds this mate alone.
    """
    from loopforge.io.socket.socket_address import SocketAddress
    from loopforge.io.socket.socket_client import SocketLink
    from loopforge.io.socket.wire_protocol import PAGE, Hello
    from loopforge.io.terminal.screen_support import exit_with_terminal

    clock, stdin = SystemClock(), _open_stdin()
    plain = plain or as_json or not (os.isatty(stdin) and sys.stdout.isatty())
    if os.isatty(stdin):
        exit_with_terminal(stdin)
    person = Hello(
        client=SystemDice().bytes(6).hex(),
        room=room or (f"with-{mate}" if mate else settings.room),
        name=name or settings.person,
        mates=(mate,) if mate else (),
        tail=0 if plain else min(settings.history_lines, PAGE),
    )
    address = SocketAddress(settings.data, settings.host_socket)
    tell = partial(_say_line, _print_aside) if plain else None
    host = partial(host_home, settings, later=SERVING_DELAY, tell=tell, show=show)
    link = SocketLink(address, host, person, clock, lasting=not plain)
    if plain:
        from loopforge.io.terminal.plain_mode import run_plain

        largest = settings.file_limit_bytes
        return await run_plain(
            link, stdin, sys.stdout, sys.stderr, as_json=as_json, largest=largest
        )
    from loopforge.io.terminal.terminal_app import run_terminal

    zone = ZoneInfo(settings.timezone)
    await run_terminal(link, zone=zone, largest=settings.file_limit_bytes)
    return 0


def _open_stdin() -> int:
    """Standard input; where it is closed, one that ends at once."""
    if sys.stdin is None:
        return os.open(os.devnull, os.O_RDONLY)
    return sys.stdin.fileno()


def _say_line(say: Callable[[str], None], line: str) -> None:
    """Say a line where somebody may read it; a terminal that was closed disturbs nothing."""
    with contextlib.suppress(OSError):
        say(line)


def _print_aside(line: str) -> None:
    """Tell a plain terminal something that is nobody's line."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
