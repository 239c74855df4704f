"""A picture of a page of the web, as a tool: Chromium opens it, in the sandbox, and it is drawn.

The browser has a network to public hosts alone, over https, by the same guard that `read_page` has
(places of one's own network are named in `lookup_inside`), whatever a page, a redirect or a script
of it leads to; no cookies, no home, limits on time, memory and disk, and a workspace that is empty
before and after. To open an address is to send it, so people are asked before one that nobody gave.

Does not cover: pages over plain http, which a tunnel does not carry; what comes only after a click.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from loopforge.errors import InputError
from loopforge.runtime.ports import (
    Tool,
    ToolCall,
    ToolFile,
    ToolHome,
    ToolResult,
    ToolWork,
    arguments_schema,
)
from loopforge.tools.sandbox.bubblewrap import Sandbox
from loopforge.tools.sandbox.call_workspace import workspace_in, workspace_name
from loopforge.tools.sandbox.confined_process import run_confined
from loopforge.tools.sandbox.granted_network import (
    DOOR,
    PROXY,
    granted_network,
    with_network_forwarder,
)
from loopforge.tools.sandbox.sandbox_limits import MIB, SandboxLimits
from loopforge.tools.sandbox.workspace_files import WorkspaceFiles
from loopforge.tools.web.lookup_settings import LookupSettings, inside_of

if TYPE_CHECKING:
    from loopforge.tools.web.network_guard import GuardedNetwork

CHROMIUM = (
    "/usr/lib/chromium/chromium",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/usr/lib/chromium-browser/chromium-browser",
    "/usr/lib/chromium/chrome",
)
"""Where distributions put the program itself; what stands in /usr/bin is a script around it."""
FONTS = tuple(path for path in (Path("/etc/fonts"),) if path.is_dir())
PICTURE = "page.png"
WIDE, HIGH = 1280, 900
LARGEST = 20 * MIB
SECONDS = 45.0
CONNECT = 15.0
LOADS = 15_000
"""Milliseconds that a page may load, and its scripts may run in time of their own."""
LIMITS = SandboxLimits(
    seconds=SECONDS,
    memory=1024 * MIB,
    address_space=None,
    processes=512,
    open_files=1024,
    scratch=256 * MIB,
)

SCREENSHOT = Tool(
    name="screenshot",
    summary="Takes a picture of a page of the web as a browser shows it; attach it, or look_at it.",
    schema=arguments_schema(
        ["address"],
        address={"type": "string", "description": "https://example.org/page"},
        width={"type": "integer", "minimum": 320, "maximum": 2560, "description": "1280"},
        height={"type": "integer", "minimum": 240, "maximum": 6000, "description": "900"},
    ),
    idempotent=True,
    harmless=True,
    address="address",
    patience=50.0,
    limit=90.0,
)


class Screenshot:
    """The tool, as a plugin. `more` are options of Chromium besides."""

    tool = SCREENSHOT

    def __init__(self, more: Sequence[str] = ()) -> None:
        self._more = tuple(more)

    def make(self, home: ToolHome) -> ToolWork | None:
        """Where Chromium is installed; one page at a time."""
        program = next((each for each in CHROMIUM if Path(each).exists()), "")
        if not program:
            return None
        inside = inside_of(home.settings.of("lookup", LookupSettings))
        at, turns = home.settings.home, asyncio.Semaphore(1)

        async def shoot(call: ToolCall) -> ToolResult:
            wide = int(call.arguments.get("width") or WIDE)
            high = int(call.arguments.get("height") or HIGH)
            address = secure(str(call.arguments["address"]), inside)
            command = (program, *options(wide, high), *self._more, address)
            name = f"shot-{workspace_name(call)}"
            async with turns:
                data = await _drawn(at, name, command, address, inside)
            file = ToolFile(name=f"{_host(address)}.png", data=data)
            return ToolResult(text=f"A picture of {address}.", files=(file,))

        return shoot


def options(wide: int, high: int) -> tuple[str, ...]:
    """How Chromium is started: with no window, by the way out of the sandbox, its own one off."""
    return (
        *("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--mute-audio"),
        *("--no-first-run", "--disable-sync", "--disable-background-networking"),
        *("--disable-component-update", "--disable-breakpad", "--disable-dev-shm-usage"),
        *("--user-data-dir=/tmp/profile", "--disk-cache-size=1"),
        *(f"--proxy-server=http://127.0.0.1:{DOOR}", "--proxy-bypass-list=<-loopback>"),
        *(f"--timeout={LOADS}", f"--virtual-time-budget={LOADS}"),
        *(f"--window-size={wide},{high}", f"--screenshot=/workspace/{PICTURE}"),
    )


def secure(address: str, inside: frozenset[str]) -> str:
    """The address over https. Raises InputError."""
    from loopforge.tools.web.page_fetch import checked_url

    found = checked_url(address)
    if found.port not in (None, 443) and f"{found.host}:{found.port}" not in inside:
        raise InputError("only pages over https, at its usual port, are taken a picture of")
    return str(found.copy_with(scheme="https"))


def _host(address: str) -> str:
    return address.partition("://")[2].partition("/")[0].partition(":")[0]


async def _drawn(
    home: Path, name: str, command: Sequence[str], address: str, inside: frozenset[str]
) -> bytes:
    """The picture. Raises InputError."""
    from loopforge.tools.web.network_guard import GuardedNetwork

    network = GuardedNetwork(inside)
    await _reached(network, address)
    place = await asyncio.to_thread(workspace_in, home, name)
    files = WorkspaceFiles(place)
    try:
        sandbox = Sandbox(
            place,
            readable=FONTS,
            hidden=(home,),
            environment=PROXY,
            limits=LIMITS,
        )
        async with granted_network(place, ("*", *inside), network.connect_tcp):
            ended = await run_confined(sandbox, with_network_forwarder(command))
        if ended.met:
            raise InputError(f"the page was given up: it took too much {ended.met}")
        try:
            made = await asyncio.to_thread(files.read, PICTURE, LARGEST + 1)
        except (InputError, OSError) as error:
            raise InputError(
                "the browser made no picture of it: it leads to where nothing may be reached, or "
                "takes too long"
            ) from error
        if len(made) > LARGEST:
            raise InputError("the picture is larger than 20 MB: make it less wide, or less high")
        return made
    finally:
        await asyncio.to_thread(files.remove)


async def _reached(network: GuardedNetwork, address: str) -> None:
    """Say plainly why a page cannot be reached; the browser would draw an error page."""
    import httpcore2

    from loopforge.tools.web.page_fetch import checked_url

    found = checked_url(address)
    try:
        stream = await network.connect_tcp(found.host, found.port or 443, CONNECT)
    except (httpcore2.NetworkError, httpcore2.TimeoutException, OSError) as error:
        raise InputError(f"{found.host} cannot be reached") from error
    await stream.aclose()


screenshot = Screenshot()
"""The tool."""
