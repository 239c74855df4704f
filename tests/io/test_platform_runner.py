"""Platforms beside a running home: begun and ended as accounts come and go, each on its own."""

import asyncio
import dataclasses
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from loopforge.app import App, open_app
from loopforge.cli import main
from loopforge.core.room_vocabulary import Heard
from loopforge.core.text.erasable_text import Words
from loopforge.errors import BadSettings, SendFailed
from loopforge.host import run_surfaces
from loopforge.io import platform_runner as module
from loopforge.io.platform_runner import Platforms
from loopforge.io.platforms.bot_tokens import BotAccount, BotTokens
from loopforge.io.platforms.surface_plugin import RunningSurface, SurfacePlugin, Surfaces
from loopforge.io.session import Sessions
from loopforge.models.scripted_model import ScriptedModels
from loopforge.runtime.ports import Clock, Outgoing
from loopforge.runtime.system_clock import SystemClock, SystemDice
from loopforge.settings import load_settings
from tests.discord.conftest import city as discord_city  # noqa: F401  a fixture
from tests.discord.twin import Twin as Discord
from tests.elsewhere import elsewhere
from tests.io.test_terminal_wording import event
from tests.rooms.conftest import write_mates
from tests.telegram.city import City
from tests.telegram.conftest import city, twin  # noqa: F401  fixtures
from tests.telegram.homes import HURRIED, counting, hall, pair
from tests.telegram.twin import Twin

pytestmark = pytest.mark.xdist_group("telegram")


REAL = SystemClock()


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOOK", 0.05)


@asynccontextmanager
async def home(
    path: Path,
    there: Surfaces,
    tell: Callable[[str], None] | None = None,
    environ: Mapping[str, str] = {},
    clock: Clock = REAL,
) -> AsyncIterator[tuple[App, Platforms, BotTokens]]:
    """A home with three mates, of which the file of accounts connects nobody yet.

    Where its clock is another than a server's, it says so.
    """
    write_mates(path)
    (path / "data").mkdir(exist_ok=True)
    settings = load_settings(path, environ={"LOOPFORGE_TIMEZONE": "UTC"})
    changes: dict[str, Any] = {"debounce_seconds": 0.05, "telegram_dm": "open"}
    settings = dataclasses.replace(settings, **changes)
    models = ScriptedModels(counting(), clock=clock)
    tokens = BotTokens(settings.data, environ)
    async with (
        open_app(settings, models=models, clock=clock, dice=SystemDice(), follow=0.05) as app,
        run_surfaces(app, tokens, there, tell=tell) as platforms,
    ):
        yield app, platforms, tokens


async def until(platforms: Platforms, platform: str, mates: str, state: str) -> None:
    """Wait until it stands so with the account of these mates."""
    while platforms.states().get(platform, {}).get(mates, "") != state:
        await SystemClock().sleep(0.02)


async def polled(city: City) -> None:  # noqa: F811
    """Wait until some bot asks for what is new."""
    while not await city.calls("getUpdates"):
        await SystemClock().sleep(0.02)


async def test_an_account_that_comes_and_goes(tmp_path: Path, twin: Twin, city: City) -> None:  # noqa: F811
    """A mate that is connected while the home runs answers; disconnected, it does not any more."""
    maya, ana = await pair(city)
    there = elsewhere(telegram=twin.base)
    async with home(tmp_path, there, clock=HURRIED) as (_, platforms, tokens):
        assert platforms.states() == {}
        tokens.keep(BotAccount(platform="telegram", token=maya.token, mates=("maya",)))
        await city.say(ana, maya, "hello there")
        chat = await city.private(ana, maya)
        (answer,) = await city.heard(chat, by=maya)
        assert answer.text == "This is answer 1."
        assert platforms.states() == {"telegram": {"maya": "connected"}}
        tokens.drop("telegram", "maya")
        await until(platforms, "telegram", "maya", "")
        asked = len(await city.calls("getUpdates"))
        await city.say(ana, maya, "and now?")
        assert len(await city.calls("getUpdates")) == asked


async def test_what_is_told_of_accounts(
    tmp_path: Path,
    twin: Twin,  # noqa: F811
    city: City,  # noqa: F811
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Of each account it is told and logged how it stands, also why nobody talks by it."""
    maya, other = await city.bot("Maya", "maya_bot"), await city.bot("Other", "other_bot")
    environ = {
        "TELEGRAM_TOKEN_MAYA": maya.token,
        "TELEGRAM_TOKEN_MAYO": other.token,
        "TELEGRAM_TOKEN_MERLIN": maya.token,
        "TELEGRAM_TOKEN_ZUZU": "123:nobody-knows-it",
    }
    told: list[str] = []
    there = elsewhere(telegram=twin.base)
    async with home(tmp_path, there, told.append, environ, HURRIED) as (_, platforms, _):
        anew = "set TELEGRAM_TOKEN_ZUZU anew, and start the home again"
        refused = f"Telegram (asked at {twin.base}) does not know this token; {anew}"
        await until(platforms, "telegram", "maya", "connected")
        await until(platforms, "telegram", "zuzu", refused)
        while len(told) < 4:
            await SystemClock().sleep(0.02)
    assert sorted(told) == [
        "Telegram (maya): connected",
        "Telegram (mayo): no such mate; known: maya, merlin, zuzu",
        "Telegram (merlin): the same token as TELEGRAM_TOKEN_MAYA",
        f"Telegram (zuzu): {refused}",
    ]
    logged = {r.getMessage() for r in caplog.records if r.levelname == "WARNING"}
    assert logged >= set(told) - {"Telegram (maya): connected"}


async def test_others_go_on(
    tmp_path: Path,
    twin: Twin,  # noqa: F811
    city: City,  # noqa: F811
    discord_city: Discord,  # noqa: F811
) -> None:
    """A mate that is connected to one platform does not disturb those of another."""
    maya = await city.bot("Maya", "maya_bot")
    zuzu = discord_city.bot("Zuzu")
    there = elsewhere(telegram=twin.base, discord=discord_city.connector)
    async with home(tmp_path, there) as (_, platforms, tokens):
        tokens.keep(BotAccount(platform="telegram", token=maya.token, mates=("maya",)))
        await polled(city)
        greeted = len(await city.calls("getMe"))
        tokens.keep(BotAccount(platform="discord", token=zuzu.token, mates=("zuzu",)))
        await discord_city.until(lambda: discord_city.online(zuzu))
        await until(platforms, "discord", "zuzu", "connected as Zuzu")
        assert len(await city.calls("getMe")) == greeted


async def test_a_damaged_file_of_accounts(tmp_path: Path, twin: Twin, city: City) -> None:  # noqa: F811
    """A file of accounts that is damaged is told of; who is connected stays so; mended, it holds."""
    maya = await city.bot("Maya", "maya_bot")
    async with home(tmp_path, elsewhere(telegram=twin.base)) as (_, platforms, tokens):
        tokens.keep(BotAccount(platform="telegram", token=maya.token, mates=("maya",)))
        await polled(city)
        file = tmp_path / "data" / "accounts.json"
        good = file.read_bytes()
        file.write_text("{")
        while "accounts" not in platforms.states():
            await SystemClock().sleep(0.02)
        assert "damaged" in platforms.states()["accounts"]["*"]
        assert "maya" in platforms.states()["telegram"]
        file.write_bytes(good)
        while "accounts" in platforms.states():
            await SystemClock().sleep(0.02)
        assert len(await city.calls("getMe")) == 1


async def test_what_was_mended(tmp_path: Path, discord_city: Discord) -> None:  # noqa: F811
    """An account that Discord refused is tried at once when the mate is connected again."""
    maya = discord_city.bot("Maya", approved=())
    account = BotAccount(platform="discord", token=maya.token, mates=("maya",))
    async with home(tmp_path, elsewhere(discord=discord_city.connector)) as (_, platforms, tokens):
        tokens.keep(account)
        why = "its Message Content Intent is off. Switch it on in the developer portal (Bot)."
        await until(platforms, "discord", "maya", why)
        maya.approved = frozenset({"message_content"})
        tokens.keep(account)
        await until(platforms, "discord", "maya", "connected as Maya")


async def test_what_is_being_sent_is_sent(
    tmp_path: Path,
    twin: Twin,  # noqa: F811
    city: City,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A platform that is begun anew, for an account that came, first finishes what it is sending."""
    monkeypatch.setattr(module, "FAREWELL", 60.0)
    maya, zuzu = await city.bot("Maya", "maya_bot"), await city.bot("Zuzu", "zuzu_bot")
    ana = await city.person("Ana", "ana")
    async with home(tmp_path, elsewhere(telegram=twin.base)) as (app, platforms, tokens):
        tokens.keep(BotAccount(platform="telegram", token=maya.token, mates=("maya",)))
        await polled(city)
        await city.fault("sendMessage", "hold")
        await city.say(ana, maya, "hello there")
        chat = await city.private(ana, maya)
        await city.heard(chat, by=maya)
        tokens.keep(BotAccount(platform="telegram", token=zuzu.token, mates=("zuzu",)))
        await until(platforms, "telegram", "zuzu", module.BEGINS)
        await city.release()
        while not await city.calls("getMe", zuzu):
            await SystemClock().sleep(0.02)
        (room,) = await app.rooms.names()
        kinds = list[str]()
        while "delivery.accepted" not in kinds:
            kinds = [event.kind for event in await app.ledger.read(f"room:{room}")]
            await SystemClock().sleep(0.02)
        assert kinds.count("delivery.attempting") == 1
        assert len(await city.lines(chat, by=maya)) == 1


class Leaving:
    """A surface that takes a while to close."""

    name = "leaving"

    def __init__(self) -> None:
        self.closing, self.go, self.got = asyncio.Event(), asyncio.Event(), list[Outgoing]()

    async def run(self) -> None:
        """Nobody runs it."""

    async def close(self) -> None:
        """Close, as soon as it may."""
        self.closing.set()
        await self.go.wait()

    def attend(self, room: str) -> None:
        """It shows nothing."""

    def states(self) -> Mapping[str, str]:
        """It has no account."""
        return {}

    async def send(self, out: Outgoing) -> str:
        """Take it."""
        self.got.append(out)
        return "1"

    async def sent(self, out: Outgoing) -> str | None:
        """Nothing is there."""


async def test_nothing_is_sent_by_what_is_being_closed() -> None:
    """What comes while a surface closes stays owed; nor is it asked whether it is there already."""
    surface = Leaving()
    attached = module.AttachedSurface(surface)
    line = event(Heard(person="p", text=Words("hello"), surface="terminal"))
    out = Outgoing(delivery="d1", stream="room:tea", place="leaving:1", what="line", event=line)
    assert await attached.send(out) == "1"
    ending = asyncio.ensure_future(attached.end())  # noqa: TID251
    await surface.closing.wait()
    for asked in (attached.send, attached.sent):
        with pytest.raises(SendFailed) as refused:
            await asked(out)
        assert (refused.value.unsent, refused.value.final) == (True, False)
    assert surface.got == [out]
    surface.go.set()
    await ending


class Failing(Leaving):
    """A surface of which everything fails, and that wants to end the program."""

    async def close(self) -> None:
        """It cannot."""
        raise ValueError("no")

    def attend(self, room: str) -> None:
        """Nor this."""
        raise SystemExit(room)

    def states(self) -> Mapping[str, str]:
        """Nor this."""
        raise KeyError("how it stands")

    async def send(self, out: Outgoing) -> str:
        """Nor this."""
        raise SystemExit(out.delivery)


async def test_what_a_surface_raises_harms_nobody_else() -> None:
    """It is said in its state; the home goes on, and ends when it is to."""
    attached = module.AttachedSurface(Failing())
    assert attached.states() == {"*": "it cannot say how it stands (KeyError)"}
    attached.attend("tea")
    line = event(Heard(person="p", text=Words("hello"), surface="terminal"))
    out = Outgoing(delivery="d1", stream="room:tea", place="leaving:1", what="line", event=line)
    with pytest.raises(SendFailed, match="wanted to end the program"):
        await attached.send(out)
    await attached.end()


async def test_what_a_surface_needs_is_said(tmp_path: Path) -> None:
    """One that says in a sentence what it needs is told of by that, not by its kind."""
    told, why = list[str](), "`odd_key` is not set: write it into loopforge.toml."

    def make(parts: object) -> RunningSurface | None:
        raise BadSettings(why)

    there = elsewhere()
    odd = there["telegram"]._replace(plugin=SurfacePlugin(title="Odd", make=make))
    async with home(tmp_path, {"odd": odd}, told.append):
        while not told:
            await SystemClock().sleep(0.02)
    assert told == [f"Odd (all mates): {why} It is tried again."]


async def test_one_conversation(tmp_path: Path, twin: Twin, city: City) -> None:  # noqa: F811
    """A group that a command joins to a room while the home runs hears what is said there."""
    maya, ana, lab = await hall(city)
    async with home(tmp_path, elsewhere(telegram=twin.base)) as (app, _, tokens):
        tokens.keep(BotAccount(platform="telegram", token=maya.token, mates=("maya",)))
        await city.say(ana, lab, "maya, are you here?")
        await city.heard(lab, by=maya)
        scene = await app.front.rooms.enter("commons", "bea", "terminal")
        command = ["--home", str(tmp_path), "room", "join", "commons", f"telegram:{lab.id}"]
        assert await asyncio.to_thread(main, command) == 0
        while "commons" not in (await Sessions(app.front).channels.all("telegram")).values():
            await SystemClock().sleep(0.02)
        while not (await app.front.rooms.state("commons")).places:
            await SystemClock().sleep(0.02)
        await app.front.rooms.hear(
            "commons",
            Heard(person=scene.you, text=Words("hi there"), surface="terminal", source="1"),
        )
        assert "hi there" in (await city.heard(lab, by=maya, count=2))[-1].text


def test_nothing_is_loaded_for_nobody(tmp_path: Path) -> None:
    """A home of which nobody is on a platform starts without the libraries of platforms."""
    code = """
import asyncio, sys
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit
from loopforge.host import ADDRESS_FILE, host_home
from loopforge.settings import load_settings

async def main():
    settings = load_settings(Path(sys.argv[1]), environ={"LOOPFORGE_EMBEDDED_MODEL": "false"})
    async with host_home(settings):
        there = HTTPConnection(urlsplit((settings.data / ADDRESS_FILE).read_text()).netloc)
        await asyncio.to_thread(there.request, "GET", "/alive")
        assert (await asyncio.to_thread(there.getresponse)).status == 200
        print([m for m in ("discord", "telegram", "aiohttp", "PIL") if m in sys.modules])

asyncio.run(main())
"""
    run = [sys.executable, "-c", code, str(tmp_path / "home")]
    done = subprocess.run(run, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "[]\n", done.stderr
