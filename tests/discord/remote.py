"""A twin in a process of its own, and how a test talks with it.

async with remote_twin("--bots", "Aria") as twin:
twin.told["rest"], twin.told["tokens"]["Aria"]
await twin.do("channel", "plaza")
line = await twin.do("say", "ben", "plaza", "hello")     # as Twin.say, results as JSON
await twin.do("lines", "plaza")
await twin.do("fail", "POST /channels/*/messages", 502, carried=True)
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp


class Remote:
    """The twin's control. `told` is what it printed: `rest`, `gateway`, `control`, `tokens`."""

    def __init__(self, told: dict[str, Any], http: aiohttp.ClientSession) -> None:
        self.told, self._http = told, http

    async def do(self, verb: str, *args: Any, **more: Any) -> Any:
        """Do it there; AssertionError with its words if it fails."""
        body = {**more, "args": list(args)}
        async with self._http.post(f"{self.told['control']}/{verb}", json=body) as answer:
            made = await answer.json()
            assert answer.status == 200, f"{verb}: {made}"
            return made

    async def until(self, verb: str, *args: Any, holds: Callable[[Any], object]) -> Any:
        """Read until it holds, for two minutes at most."""
        async with asyncio.timeout(120):
            while not holds(made := await self.do(verb, *args)):
                await asyncio.sleep(0.01)
        return made


@asynccontextmanager
async def remote_twin(*arguments: str) -> AsyncIterator[Remote]:
    """Start it; it ends with its input."""
    pipe = asyncio.subprocess.PIPE
    command = (sys.executable, "-W", "ignore", "-m", "tests.discord.twin", *arguments)
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        told = json.loads(await process.stdout.readline())
        async with aiohttp.ClientSession() as http:
            yield Remote(told, http)
    finally:
        process.stdin.close()
        await process.wait()
