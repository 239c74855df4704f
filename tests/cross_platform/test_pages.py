"""The pages of Discord and Telegram, followed word by word: every command on them is run."""

import asyncio
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from loopforge import host
from loopforge.chat.rooms_api import RoomsApi
from loopforge.cli import main
from loopforge.host_lock import home_holder_pid
from loopforge.io import platform_runner
from loopforge.io.platforms import surface_plugin
from loopforge.io.platforms.surface_plugin import Surfaces
from loopforge.runtime.system_clock import SystemClock
from loopforge.settings import load_settings
from tests.discord.conftest import city as discord_city  # noqa: F401  a fixture
from tests.discord.twin import Twin as Discord
from tests.elsewhere import elsewhere
from tests.telegram.city import City
from tests.telegram.conftest import city, twin  # noqa: F401  fixtures
from tests.telegram.twin import Twin as Telegram

pytestmark = pytest.mark.xdist_group("telegram")
DOCS = Path(__file__).parent.parent.parent / "docs"
HOME = 'web = false\ndebounce_seconds = 0\nroom = "commons"\n[tiers]\n' + "".join(
    f'{n} = ["scripted"]\n' for n in range(1, 5)
)
Run = Callable[..., Awaitable[str]]
CODE = re.compile(r"\b[A-Z0-9]{4}-[A-Z0-9]{4}\b")


def shell(page: str) -> list[str]:
    """The lines of shell on a page, in order, without what they say of themselves."""
    blocks = re.findall(
        r"^```sh\n(.*?)^```", (DOCS / page).read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    return [line.partition("#")[0].strip() for block in blocks for line in block.splitlines()]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a line of shell that is a command of this home, with words on standard input."""

    async def command(line: str, typed: str = "") -> str:
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        program, *words = shlex.split(line)
        assert program == "loopforge"
        capsys.readouterr()
        code = await asyncio.to_thread(main, ["--home", str(tmp_path), *words])
        said = capsys.readouterr()
        assert code == 0, f"{line}\n{said.out}\n{said.err}"
        return said.out

    return command


@asynccontextmanager
async def running(
    path: Path, monkeypatch: pytest.MonkeyPatch, surfaces: Surfaces
) -> AsyncIterator[tuple[RoomsApi, list[str]]]:
    """The home of a new user, begun as `loopforge up` does, with its platforms on loopback."""
    path.joinpath("loopforge.toml").write_text(HOME)
    monkeypatch.setattr(surface_plugin, "surfaces_of", lambda _: surfaces)
    monkeypatch.setattr(platform_runner, "LOOK", 0.05)
    told: list[str] = []
    async with host.host_home(load_settings(path), tell=told.append) as front:
        yield front, told


async def followed(
    page: str, run: Run, tokens: Mapping[str, str], stranger: Callable[[str], Awaitable[str]]
) -> None:
    """Every command of a page, in order; `stranger` says something and returns what comes back."""
    place = code = ""
    for line in shell(page):
        match line.split()[1:3]:
            case ["mate", "connect"]:
                mate = line.split()[3]
                said = await run(f"{line} --token-from-stdin", tokens[mate])
                assert "The token is kept in data/accounts.json" in said
            case ["people", "knocks"]:
                (code,) = CODE.findall(await stranger("hello?"))[:1]
                assert "Nobody" not in await run(line)
            case ["people", "admit"]:
                assert "is let in" in await run(line.replace("CODE", code))
                assert await stranger("and now?")
            case ["room", "places"]:
                assert await run(line)
                place = json.loads(await run(f"{line} --json"))[0]["place"]
            case ["room", "join" | "part"]:
                *words, _ = line.split()
                assert "part of" in await run(" ".join([*words, place]))
            case _:
                raise AssertionError(f"nobody follows {line!r} here")
    assert place


async def said(told: list[str], line: str) -> None:
    """Wait until the home told this of itself, which it does when it looks.

    Behind it may stand that its clock is another than the server's, which is in a hurry.
    """
    async with asyncio.timeout(60):
        while not any(each.startswith(line) for each in told):
            await SystemClock().sleep(0.02)


async def test_the_page_of_telegram(
    tmp_path: Path,
    twin: Telegram,  # noqa: F811
    city: City,  # noqa: F811
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """From nothing to a mate that answers, and on to the page's end, on Telegram."""
    maya, house = await city.bot("Some", "some_bot"), await city.bot("House", "house_bot")
    ana = await city.person("Ana", "ana")
    chat = await city.private(ana, maya)

    async def stranger(text: str) -> str:
        count = len(await city.lines(chat, by=maya))
        await city.say(ana, maya, text)
        return (await city.heard(chat, by=maya, count=count + 1))[-1].text

    async with running(tmp_path, monkeypatch, elsewhere(telegram=twin.base)) as (front, told):
        await front.rooms.enter("commons", "ana", "terminal")
        tokens = {"maya": maya.token, "all": house.token, "merlin": maya.token}
        await followed("telegram.md", run, tokens, stranger)
        await said(told, "Telegram (maya): connected")
        await run("loopforge mate disconnect maya --from telegram")


async def test_the_page_of_discord(
    tmp_path: Path,
    discord_city: Discord,  # noqa: F811
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """From nothing to a mate that answers, and on to the page's end, on Discord."""
    there = discord_city
    maya, house, ben = there.bot("Some"), there.bot("House"), there.person("ben")
    there.channel("plaza")
    private = there.private(ben, maya)

    async def stranger(text: str) -> str:
        await there.until(lambda: there.online(maya))
        count = len(there.lines(private))
        await there.dm(ben, maya, text)
        await there.until(lambda: len(there.lines(private)) == count + 2)
        return there.lines(private)[-1].text

    async with running(tmp_path, monkeypatch, elsewhere(discord=there.connector)) as (front, told):
        await front.rooms.enter("commons", "ana", "terminal")
        tokens = {"maya": maya.token, "all": house.token, "merlin": maya.token}
        await followed("discord.md", run, tokens, stranger)
        await said(told, "Discord (maya): connected as Maya")
        await run("loopforge mate disconnect maya --from discord")


async def test_a_home_that_stays(tmp_path: Path) -> None:
    """As the page begins one: it is made, prints its address, and outlives its terminal's end."""
    (line,) = shell("deploy.md")[:1]
    assert line == "nohup loopforge up --headless >up.log 2>&1 &"
    program = tmp_path / "bin" / "loopforge"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m loopforge "$@"\n')
    program.chmod(0o755)
    environ = {"PATH": f"{program.parent}:/usr/bin:/bin", "LOOPFORGE_EMBEDDED_MODEL": "false"}
    words = ["sh", "-c", f"{line}\necho $!"]
    begun = await asyncio.to_thread(
        subprocess.run, words, cwd=tmp_path, env=environ, stdout=subprocess.PIPE, check=True
    )
    process = int(begun.stdout)
    try:
        async with asyncio.timeout(60):
            while "/enter/" not in tmp_path.joinpath("up.log").read_text():
                await SystemClock().sleep(0.05)
        os.kill(process, signal.SIGHUP)
        assert home_holder_pid(tmp_path / "home") == process
    finally:
        os.kill(process, signal.SIGTERM)
    async with asyncio.timeout(60):
        while home_holder_pid(tmp_path / "home") is not None:
            await SystemClock().sleep(0.05)
