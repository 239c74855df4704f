"""A twin in a process of its own, so that whoever talks to it may be killed without it."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from tests.telegram.city import City
from tests.telegram.records import Body

ROOT = Path(__file__).parent.parent.parent


@asynccontextmanager
async def elsewhere(pace: float) -> AsyncIterator[tuple[str, City]]:
    """Start it, with a clock so fast; its address and its city. It ends with the block, and with this process.

    Starting takes seconds, in which aiogram builds its models: use one for many tests.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.telegram.twin",
        str(pace),
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdin is not None
    try:
        base: str = json.loads(await process.stdout.readline())["base"]
        async with aiohttp.ClientSession() as http:
            yield base, remote(base, http)
    finally:
        process.stdin.close()
        await process.wait()


def remote(base: str, http: aiohttp.ClientSession) -> City:
    """The city of a twin at an address."""

    async def perform(name: str, arguments: Body) -> Any:
        async with http.post(f"{base}/control/{name}", json=arguments) as response:
            told = await response.json()
            if response.status != 200:
                raise ValueError(told["error"])
            return told

    return City(perform)
