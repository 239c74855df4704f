"""A home whose way to Discord is a proxy that its environment names."""

from pathlib import Path

import aiohttp
import pytest

from tests.discord.lodging import lodged
from tests.discord.loopback import Loopback, client_context
from tests.discord.twin import Twin
from tests.proxies import http, proxy


def nowhere() -> aiohttp.TCPConnector:
    """Connections of a machine that reaches its own network alone."""
    return aiohttp.TCPConnector(limit=0, resolver=Loopback(9), ssl=client_context())


async def test_discord_behind_a_proxy(
    city: Twin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Calls, the gateway, webhooks and files go by the proxy of the environment, with its password."""
    bot, ben, plaza = city.bot("House"), city.person("ben"), city.channel("plaza")
    async with proxy(http, city.port) as (port, asked):
        monkeypatch.setenv("HTTPS_PROXY", f"http://ana:secret@127.0.0.1:{port}")
        monkeypatch.setenv("NO_PROXY", "localhost")
        async with lodged(city, tmp_path, {bot: "*"}, connector=nowhere) as home:
            files = [("a.txt", b"bread")]
            await city.say(ben, plaza, f"{bot.mention} maya, hello", files=files)
            await city.until(lambda: len(city.lines(plaza)) == 2)
            await home.rests(plaza)
            assert city.lines(plaza)[-1].by == "Maya"
            heard = await home.heard(plaza)
    assert heard == ["@Maya maya, hello"]
    assert set(asked) == {"discord.com", "gateway.discord.gg", "cdn.discordapp.com"}


async def test_a_proxy_that_refuses(
    city: Twin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """How it stands with the account says so, and neither that nor the log says the password."""
    bot = city.bot("House")
    async with proxy(http, city.port) as (port, _):
        monkeypatch.setenv("ALL_PROXY", f"http://ben:passed-on@127.0.0.1:{port}")
        monkeypatch.setenv("NO_PROXY", "localhost")
        async with lodged(city, tmp_path, {bot: "*"}, connector=nowhere, wait=False) as home:
            async for _ in home.looks("the proxy's refusal is told"):
                if "407" in home.states()[0]:
                    break
            states = home.states()
    told = "Discord cannot be reached (the proxy answers 407); it is tried again by itself"
    assert states == [told]
    assert "passed-on" not in f"{states} {caplog.text}"
    assert "Discord account of * is not connected" in caplog.text
