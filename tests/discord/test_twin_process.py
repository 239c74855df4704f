"""The twin and a bot in two processes: killed bots, and a twin of its own."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.discord.remote import remote_twin
from tests.discord.twin import Twin

pipe = asyncio.subprocess.PIPE


@asynccontextmanager
async def child(
    rest: str, gateway: str, *rest_of_it: str
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A bot in its own process; killed at the end."""
    command = (
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "tests.discord.child",
        rest,
        gateway,
        *rest_of_it,
    )
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=pipe)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def test_a_nonce_outlives_the_process_that_sent_it(city: Twin) -> None:
    """Killed after the message was accepted and before it knew, a bot sends again: one message."""
    aria, plaza = city.bot("Aria"), city.channel("plaza")
    gate = city.faults.hold("POST /channels/*/messages", carried=True)
    told = (city.rest, city.gateway, aria.token, str(plaza.id), "row-7")
    async with child(*told) as first:
        await gate.reached.wait()
        first.kill()
        await first.wait()
    gate.release()
    (line,) = city.lines(plaza)
    await city.until(lambda: not city.online(aria))
    async with child(*told) as second:
        assert second.stdout is not None
        assert int(await second.stdout.readline()) == line.id
        await city.say(city.person("ben"), plaza, "hello")
        await city.until(lambda: len(city.lines(plaza)) == 3)
    assert [one.text for one in city.lines(plaza)] == ["here", "hello", "heard: hello"]
    assert city.doubled() == []


async def test_a_twin_in_a_process_of_its_own() -> None:
    """It prints its addresses, and its control says lines, plans faults and reads records."""
    async with remote_twin("--bots", "Aria", "--persons", "ben", "--channels", "plaza") as twin:
        told = twin.told
        await twin.do("rate_limit", "POST /channels/*/messages", retry_after=0.02)
        channel = str(told["channels"]["plaza"])
        async with child(
            told["rest"], told["gateway"], told["tokens"]["Aria"], channel, "1"
        ) as bot:
            assert bot.stdout is not None
            await bot.stdout.readline()
            line = await twin.do("say", "ben", "plaza", "hello", files=[["a.txt", "aGk="]])
            assert line["files"] == ["a.txt"]
            said = await twin.until("lines", "plaza", holds=lambda lines: len(lines) == 3)
            assert [one["text"] for one in said] == ["here", "hello", "heard: hello"]
        posts = [call for call in await twin.do("calls") if call["path"].endswith("/messages")]
        assert [call["status"] for call in posts] == [429, 200, 200]
        assert await twin.do("doubled") == []
        assert await twin.do("deviations") == []
