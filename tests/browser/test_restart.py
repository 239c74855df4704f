"""The home is killed under open pages, and comes back."""

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Route, expect

from tests.browser.people import Crowd, guest_of, owner_of
from tests.rooms.conftest import write_mates
from tests.web.conftest import town

HASTE = """(() => {
  const after = AbortSignal.timeout;
  AbortSignal.timeout = (ms) => after.call(AbortSignal, ms / 40);
})()"""
"""What is given up after a while is so much sooner."""
LINK = re.compile(r"(http://127\.0\.0\.1:\d+)/enter/\S+")


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def command(home: Path, *words: str, **settings: str) -> tuple[list[str], dict[str, str]]:
    """A command of Loopforge for this home, and its environment."""
    kept = {key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ}  # noqa: TID251
    given = {f"LOOPFORGE_{key.upper()}": value for key, value in settings.items()}
    line = [sys.executable, "-m", "loopforge", "--home", str(home), *words]
    return line, kept | {"LOOPFORGE_PERSON": "ana", "LOOPFORGE_DEBOUNCE_SECONDS": "0.05"} | given


@asynccontextmanager
async def running(home: Path, port: int) -> AsyncIterator[tuple[str, str]]:
    """`loopforge up --headless`: its address and the owner's link; killed with -9 at the end."""
    line, environ = command(home, "up", "--headless", web_port=str(port))
    process = await asyncio.create_subprocess_exec(
        *line, env=environ, stdout=asyncio.subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        assert process.stdout is not None
        told = ""
        while not (found := LINK.search(told)):
            more = await asyncio.wait_for(process.stdout.readline(), 120)
            assert more, told
            told += more.decode()
        yield found[1], found[0]
    finally:
        process.send_signal(signal.SIGKILL)
        await process.communicate()


@pytest.mark.patient
async def test_pages_outlive_a_home_that_is_killed(tmp_path: Path, crowd: Crowd) -> None:
    """After kill -9 pages come back by themselves; whatever was said meanwhile is there once."""
    write_mates(tmp_path)
    (tmp_path / "loopforge.toml").write_text('[tiers]\n1 = ["scripted"]\n')
    port = free_port()
    async with running(tmp_path, port) as (address, link):
        ana = await crowd.person("ana", address)
        await ana.enters(link)
        room = await ana.makes_room("Weather", "maya")
        ben = await guest_of(room, ana, crowd)
        for each in (ana, ben):
            each.expects("net::ERR_", "status of 50")
            await each.page.evaluate("window.same = true")
        await ana.says("@maya before the storm")
        for each in (ana, ben):
            await each.hears("Maya")
    for each in (ana, ben):
        await expect(each.page.locator("#sign")).to_contain_text("does not answer")
    await ana.says("written in the dark")
    late = ana.page.locator("#drafts .sending.late")
    await expect(late).to_contain_text("It is kept here and tried again.")
    await expect(late).to_contain_text("written in the dark")

    line, environ = command(tmp_path, "chat", "--room", room, "--plain", web="false")
    done = await asyncio.create_subprocess_exec(
        *line, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    out, _ = await asyncio.wait_for(done.communicate(b"said in a terminal\n"), 120)
    assert done.returncode == 0, out.decode()

    async with running(tmp_path, port) as (again, _), crowd:
        assert again == address
        for each in (ana, ben):
            await expect(each.page.locator("#sign")).to_be_hidden()
            await each.sees("said in a terminal")
            await each.sees("written in the dark")
            await each.sees("@maya before the storm")
        await expect(ana.page.locator("#drafts .sending")).to_have_count(0)
        await ben.says("after the storm")
        for each in (ana, ben):
            await each.sees("after the storm")
            assert await each.page.evaluate("window.same") is True, "nobody loaded the page anew"
        await ana.page.reload()
        await ana.sees("written in the dark")
        heard = [each for each in await ana.talk() if not each.startswith("Maya")]
        assert heard == [
            "ana: @maya before the storm",
            "ana: said in a terminal",
            "ana: written in the dark",
            "ben: after the storm",
        ]
        lines = await ben.talk()
        assert [each for each in lines if not each.startswith("Maya")] == heard


async def test_a_line_that_goes_into_a_dead_connection(tmp_path: Path, crowd: Crowd) -> None:
    """It is sent again after a while, once; what was written since goes after it; both are named."""
    async with town(tmp_path) as site, crowd:
        olu = await owner_of(site, crowd)
        olu.expects("ERR_FAILED|aborted")
        await olu.context.add_init_script(HASTE)
        room = await olu.makes_room("Oven")
        await olu.opens(f"/rooms/{room}")
        await olu.is_in()
        dead = list[Route]()

        async def swallows(route: Route) -> None:
            if dead:
                await route.continue_()
            else:
                dead.append(route)

        await olu.page.route("**/lines", swallows)
        await olu.says("the first loaf")
        await olu.says("the second loaf")
        await olu.sees("the second loaf")
        assert await olu.talk() == ["olu: the first loaf", "olu: the second loaf"]
        for text in ("the first loaf", "the second loaf"):
            header = (await olu.sees(text)).locator("header")
            assert "olu" in await header.aria_snapshot(), "a speaker's name is read, if not drawn"
