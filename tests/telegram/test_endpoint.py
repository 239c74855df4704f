"""Another server of the Bot API: named by one setting, it is what every call and file goes to."""

import asyncio
import json
import signal
from pathlib import Path

import pytest

from loopforge.errors import BadSettings
from loopforge.io.telegram.telegram_settings import OFFICIAL, checked_api_address
from loopforge.settings import load_settings
from tests.cli.test_up_command import HOME, command
from tests.proxies import proxy, socks
from tests.rooms.conftest import write_mates
from tests.telegram.city import City
from tests.telegram.homes import on_telegram, pair
from tests.telegram.records import Bot
from tests.telegram.test_door import heard, kept
from tests.telegram.twin import Twin

PAPER = ("notes.txt", b"the oven is hot")


@pytest.mark.parametrize(
    "given",
    [
        "127.0.0.1:8081",
        "ftp://127.0.0.1",
        "http://",
        "http://ana:secret@127.0.0.1",
        "http://127.0.0.1?token=secret",
        "http://127.0.0.1:8081/bot",
        "http://127.0.0.1:8081/file",
        "http://127.0.0.1:8081/bot12345:secret",
        "http://127.0.0.1:99999",
        "http://two words",
    ],
)
def test_what_is_no_address(given: str) -> None:
    """It is refused with where it was set and how to write it, and without what may be a secret."""
    variable = "LOOPFORGE_TELEGRAM_BASE_URL"
    with pytest.raises(BadSettings, match="telegram_base_url") as refused:
        load_settings(Path("/nowhere"), environ={variable: given, "LOOPFORGE_TIMEZONE": "UTC"})
    assert variable in str(refused.value)
    assert "such as http://127.0.0.1:8081" in str(refused.value)
    assert "secret" not in str(refused.value)


def test_an_address() -> None:
    """A host, a port and a path before the calls may be in it; a slash at its end does not count."""
    for given in ("http://127.0.0.1:8081", "https://api.example.org/bot-api", "http://[::1]:8081"):
        assert checked_api_address(f" {given}/ ", "here") == given
    assert checked_api_address("", "here") == checked_api_address(f"{OFFICIAL}/", "here") == ""


@pytest.fixture
async def maya(tmp_path: Path, city: City, monkeypatch: pytest.MonkeyPatch) -> Bot:
    """A home with two mates, one of which has this bot; the environment names the server."""
    (tmp_path / "loopforge.toml").write_text(HOME)
    write_mates(tmp_path)
    bot = await city.bot("Maya", "maya_bot")
    monkeypatch.setenv("LOOPFORGE_TELEGRAM_BASE_URL", city.base)
    monkeypatch.setenv("LOOPFORGE_TELEGRAM_DM", "open")
    monkeypatch.setenv("TELEGRAM_TOKEN_MAYA", bot.token)
    return bot


async def doctor(home: Path) -> str:
    """What the program's doctor says of the bot."""
    run = await asyncio.create_subprocess_exec(
        *command(home, "doctor", "--json"), stdout=asyncio.subprocess.PIPE
    )
    said, _ = await run.communicate()
    found = [each for each in json.loads(said) if each["check"] == "Telegram (maya)"]
    return " ".join(each["said"] for each in found)


async def test_the_program_talks_there(tmp_path: Path, city: City, maya: Bot) -> None:
    """By the setting alone the program hears, answers and fetches a file there."""
    ana = await city.person("Ana", "ana")
    run = await asyncio.create_subprocess_exec(
        *command(tmp_path, "up", "--headless"), stdin=asyncio.subprocess.DEVNULL
    )
    try:
        await city.say(ana, maya, "read this", document=PAPER)
        assert await city.heard(await city.private(ana, maya), by=maya)
        assert [call.done for call in await city.calls("getFile")] == [True]
        assert len(kept(tmp_path)) == 1
        run.send_signal(signal.SIGTERM)
        assert await run.wait() == 0
    finally:
        if run.returncode is None:
            run.kill()
            await run.wait()


async def test_the_doctor_says_which(
    tmp_path: Path, city: City, maya: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The doctor names the server it asked; of one that is no server of the Bot API it says so."""
    said = await doctor(tmp_path)
    assert f"by TELEGRAM_TOKEN_MAYA, at {city.base} (telegram_base_url)." in said
    assert "its privacy mode is on" in said
    assert await city.calls("getWebhookInfo")
    monkeypatch.setenv("LOOPFORGE_TELEGRAM_BASE_URL", f"{city.base}/elsewhere")
    said = await doctor(tmp_path)
    assert f"asked at {city.base}/elsewhere) does not know this token, or is no server" in said
    assert {each.what for each in await city.forgive()} == {"there is no such address"}


async def test_a_socks_proxy(tmp_path: Path, city: City, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a SOCKS proxy of the environment reaches alone is reached by it."""
    maya, ana = await pair(city)
    async with proxy(socks, int(city.base.rpartition(":")[2])) as (port, asked):
        monkeypatch.setenv("ALL_PROXY", f"socks5://127.0.0.1:{port}")
        async with on_telegram(tmp_path, maya, "http://telegram.example:8081"):
            await city.say(ana, maya, "hello")
            assert await city.heard(await city.private(ana, maya), by=maya)
    assert set(asked) == {"telegram.example"}


async def test_files_of_a_server_that_runs_with_local(
    tmp_path: Path, twin: Twin, city: City
) -> None:
    """A path on this machine's disk is read there; one that cannot be read is told plainly."""
    twin.town.disk = tmp_path / "served"
    twin.town.disk.mkdir()
    maya, ana = await pair(city)
    chat = await city.private(ana, maya)
    async with on_telegram(tmp_path, maya, city.base) as home:
        await city.say(ana, maya, "read this", document=PAPER)
        (line,) = await heard(home, 1)
        assert [str(file.name) for file in line.files] == ["notes.txt"]
        assert len(kept(tmp_path)) == 1
        await city.heard(chat, by=maya)
        await city.fault("getFile", "hold")
        await city.say(ana, maya, "", document=("other.txt", b"elsewhere"))
        await home.until(lambda: fetched(city, 2))
        for each in twin.town.disk.iterdir():
            each.unlink()
        await city.release()
        told = (await city.heard(chat, by=maya, count=2))[1].text
    assert told.startswith("other.txt cannot be read: the server that runs with --local keeps it")


async def fetched(city: City, count: int) -> bool:
    """Whether the server has told of so many files where they are."""
    return len([call for call in await city.calls("getFile") if call.done]) == count
