"""The twin in a process of its own: the same city, and a bot that is killed with -9."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest

from tests.telegram.city import City
from tests.telegram.elsewhere import ROOT, elsewhere, remote
from tests.telegram.records import Body, Bot
from tests.telegram.twin import Twin


@asynccontextmanager
async def asker(base: str, bot: Bot) -> AsyncIterator[asyncio.subprocess.Process]:
    """The small bot in its process, which is killed at the end if not before."""
    command = (sys.executable, "-m", "tests.telegram.asker", base, bot.token)
    process = await asyncio.create_subprocess_exec(*command, cwd=ROOT)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGKILL)
        await process.wait()


@pytest.mark.crash
async def test_a_bot_is_killed_between_saying_and_knowing() -> None:
    """What it had said stands, what it had not acknowledged comes again: the doubling is told."""
    async with elsewhere() as (base, city):
        await _killed(base, city)
        assert await city.deviations() == []


async def _killed(base: str, city: City) -> None:
    aria, ana = await city.bot("Aria"), await city.person("Ana")
    chat = await city.private(ana, aria)
    await city.fault("sendMessage", "hold")
    line = await city.say(ana, aria, "why")
    async with asker(base, aria) as process:
        await city.heard(chat, by=aria, patience=120)
        process.send_signal(signal.SIGKILL)
        await process.wait()
    await city.release()
    assert await city.waiting(aria) == 1
    async with asker(base, aria):
        said = await city.heard(chat, by=aria, count=2, patience=120)
        await city.until(lambda: _acknowledged(city, aria))
    assert [(one.text, one.reply) for one in said] == [("why?", line.key)] * 2
    assert await city.doubled(chat) == [said]
    calls = await city.calls("sendMessage")
    assert [(call.done, call.code) for call in calls] == [(True, 0), (True, 200)]


async def _acknowledged(city: City, bot: Bot) -> bool:
    return await city.waiting(bot) == 0


async def test_commands_are_read_strictly(twin: Twin) -> None:
    """An unknown command, a wrong argument and what cannot be done are errors with words."""
    async with aiohttp.ClientSession() as http:
        far = remote(twin.base, http)
        ana = await far.person("Ana")
        with pytest.raises(ValueError, match="there is no account 404"):
            await far.private(ana, Bot(404, "Bram", "bram_bot", ""))
        wrong: tuple[tuple[str, Body], ...] = (
            ("dance", {}),
            ("person", {"name": 3}),
            ("perform", {}),
        )
        for command, arguments in wrong:
            async with http.post(f"{twin.base}/control/{command}", json=arguments) as response:
                assert (response.status, list(await response.json())) == (400, ["error"])
        async with http.get(f"{twin.base}/bot1:AAno/getMe") as response:
            assert response.status == 401
        async with http.get(f"{twin.base}/elsewhere") as response:
            assert response.status == 404
        assert [one.where for one in await far.forgive()] == ["/elsewhere"]
