"""A host as its killer sees it: a process that is started, armed, killed, and buried."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from tests.crash.child import Options

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0
"""Seconds for a host to come up, or to die where it was told to, on a machine that is busy."""


class Host:
    """One life of a host. `died` is where it killed itself, "" if somebody else did."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.died = ""

    @property
    def dead(self) -> bool:
        """Whether it is."""
        return self._process.returncode is not None

    async def ready(self) -> bool:
        """Until it is open; False if it died before."""
        return await self._reads("ready")

    async def arm(self, point: str, after: int = 1) -> bool:
        """Tell it where to die; False if it is dead already."""
        assert self._process.stdin is not None
        with contextlib.suppress(ConnectionError):
            self._process.stdin.write(msgspec.json.encode({"point": point, "after": after}) + b"\n")
            await self._process.stdin.drain()
        return await self._reads("armed")

    async def dies(self, patience: float = PATIENCE) -> bool:
        """Until it has killed itself; False if it has not."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await self._reads("")
        return self.dead

    async def kill(self) -> None:
        """`kill -9`, now."""
        if not self.dead:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGKILL)
        await self._reads("")
        assert await self._process.wait() == -signal.SIGKILL

    async def _reads(self, word: str) -> bool:
        """Read what it says until this word; False at the end of its life."""
        assert self._process.stdout is not None
        while line := (await self._process.stdout.readline()).decode().split(maxsplit=1):
            if line[0] == "died":
                self.died = line[1].strip()
            elif line[0] == word:
                return True
        await self._process.wait()
        return False


@asynccontextmanager
async def hosting(options: Options) -> AsyncIterator[Host]:
    """A host that is dead when the block ends, whatever happened in it."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.crash.child",
        msgspec.json.encode(options).decode(),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
    )
    host = Host(process)
    try:
        yield host
    finally:
        await host.kill()
