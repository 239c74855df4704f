"""Pictures of pages of the web: drawn by a real Chromium in the sandbox, and what it cannot reach."""

import dataclasses
import io
from pathlib import Path

import pytest
from aiohttp import web
from PIL import Image

from loopforge.errors import InputError
from loopforge.runtime.ports import ToolCall, ToolHome, ToolResult
from loopforge.runtime.system_clock import SystemClock
from loopforge.settings import load_settings
from loopforge.tools.pictures import screenshot
from loopforge.tools.pictures.screenshot import CHROMIUM, SCREENSHOT, Screenshot, secure
from loopforge.tools.sandbox.call_workspace import FOLDER
from tests.listening import paging
from tests.tools.conftest import tool_home

pytestmark = [pytest.mark.xdist_group("sandbox"), pytest.mark.timeout(120)]
NOW = SystemClock().now()
PAGE = """<title>Hostas</title><style>body {background: #c00}</style>
<script>document.body.style.background = "#00c000"</script>
<body><iframe src="https://127.0.0.1:9/"></iframe>
<script>document.body.style.background = "#00c000";
fetch("/secret").catch(() => 0)</script>"""


def drawn(path: str) -> web.Response:
    """The page, or one that leads inward."""
    if path == "/away":
        return web.Response(status=302, headers={"Location": "https://127.0.0.1/x"})
    return web.Response(text=PAGE, content_type="text/html")


def home_at(place: Path, inside: str) -> ToolHome:
    """A home that may reach these places of its own network."""
    settings = load_settings(place, environ={"LOOPFORGE_LOOKUP_INSIDE": inside})
    return dataclasses.replace(tool_home(NOW), settings=settings)


async def shot(place: Path, address: str, inside: str = "", **more: object) -> Image.Image:
    """The picture of a page."""
    work = Screenshot(("--ignore-certificate-errors",)).make(home_at(place, inside))
    if work is None:
        pytest.skip("NO PICTURE OF A PAGE IS TAKEN: apt-get install chromium")
    given = await work(ToolCall(arguments={"address": address, **more}, stream="room:x", mate="m"))
    assert isinstance(given, ToolResult)
    (file,) = given.files
    assert file.name == "localhost.png"
    return Image.open(io.BytesIO(file.data)).convert("RGB")


async def test_a_page_is_drawn_as_a_browser_shows_it(place: Path) -> None:
    """After its scripts ran, as wide and as high as was asked for; nothing stays behind."""
    async with paging(drawn) as pages:
        address, inside = f"https://localhost:{pages.port}/", f"localhost:{pages.port}"
        picture = await shot(place, address, inside, width=640, height=480)
        assert picture.size == (640, 480)
        assert picture.getpixel((600, 400)) == (0, 0xC0, 0)
        assert pages.asked[0] == "/"
    assert list((place / FOLDER).iterdir()) == []


async def test_a_picture_that_is_too_large_is_no_half_one(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is refused with what to do, and nothing stays behind."""
    monkeypatch.setattr(screenshot, "LARGEST", 100)
    async with paging(drawn) as pages:
        address, inside = f"https://localhost:{pages.port}/", f"localhost:{pages.port}"
        with pytest.raises(InputError, match="make it less wide, or less high"):
            await shot(place, address, inside)
    assert list((place / FOLDER).iterdir()) == []


async def test_what_leads_inward_is_not_reached(place: Path) -> None:
    """A redirect to this machine ends at the guard; the page itself is refused in plain words."""
    async with paging(drawn) as pages:
        inside = f"localhost:{pages.port}"
        with pytest.raises(InputError, match="leads to where nothing may be reached"):
            await shot(place, f"https://localhost:{pages.port}/away", inside)
        for address in (f"https://127.0.0.1:{pages.port}/", "https://127.0.0.1/"):
            with pytest.raises(InputError, match=r"https|private network"):
                await shot(place, address)
        assert pages.asked == ["/away"]


@pytest.mark.parametrize(
    "address",
    ["file:///etc/passwd", "http://wiki.local:8080/", "https://ana:b@example.org/", "--version", "a b"],
)  # fmt: skip
def test_what_is_no_page_is_refused(address: str) -> None:
    """Files, other ports, names and passwords; an option of the browser is only ever an address."""
    try:
        assert secure(address, frozenset()).startswith("https://")
    except InputError:
        return


def test_it_asks_before_an_address_that_nobody_gave(tmp_path: Path) -> None:
    """As reading a page does; and it is offered where there is a browser alone."""
    assert SCREENSHOT.address == "address"
    there = any(Path(each).exists() for each in CHROMIUM)
    assert (Screenshot().make(home_at(tmp_path, "")) is not None) == there
