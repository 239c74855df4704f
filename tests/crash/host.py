"""A host as its killer sees it: a process that is started, armed, killed, and buried.

Hosts are forked from a server that has imported everything before and runs nothing (Python's
`forkserver`), so that a life costs a tenth of what a new interpreter would.
"""

import asyncio
import multiprocessing
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess

import msgspec
import psutil  # type: ignore[import-untyped]

from tests.crash.child import Options, Order, main

PATIENCE = 120.0
"""Seconds for a host to come up, or to die where it was told to, on a machine that is busy."""
PRELOADED = ["tests.crash.child", "pydantic_ai.direct", "pydantic_ai.models.openai"]

nursery = multiprocessing.get_context("forkserver")
nursery.set_forkserver_preload(PRELOADED)


class Host:
    """One life of a host. `died` is where it killed itself, "" if somebody else did."""

    def __init__(self, process: ForkServerProcess, line: Connection) -> None:
        self._process, self._line = process, line
        self.died = ""

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid or 0

    @property
    def dead(self) -> bool:
        """Whether it is."""
        return not self._process.is_alive()

    async def ready(self) -> bool:
        """Until it is open; False if it died before."""
        return await self._hears("ready")

    async def arm(self, point: str, after: int = 1, *, halts: bool = False) -> bool:
        """Tell it where to die, or to halt; False if it is dead already."""
        order = Order(point=point, after=after, halts=halts)
        with suppress(ConnectionError):
            self._line.send_bytes(msgspec.json.encode(order))
        return await self._hears("armed")

    async def halted(self) -> bool:
        """Until it stands still where it was told to; False if it died before."""
        if not await self._hears("halted"):
            return False
        while psutil.Process(self.pid).status() != psutil.STATUS_STOPPED:  # it says so just before
            await asyncio.sleep(0.001)
        return True

    def resume(self) -> None:
        """Let it go on."""
        os.kill(self.pid, signal.SIGCONT)

    async def waits(self) -> bool:
        """Until a lane of it failed once more and waits; False if it died before."""
        return await self._hears("waits")

    async def dies(self, patience: float = PATIENCE) -> bool:
        """Until it has killed itself; False if it has not."""
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await self._hears("")
        return self.dead

    async def kill(self) -> None:
        """`kill -9`, now."""
        self._process.kill()
        await self._hears("")
        assert self._process.exitcode == -signal.SIGKILL, self._process.exitcode

    def bury(self) -> None:
        """Let go of what is left of it."""
        self._line.close()
        self._process.close()

    async def _hears(self, word: str) -> bool:
        """Listen to it until this word; False at the end of its life."""
        while (said := await self._says()) is not None:
            kind, _, rest = said.partition(" ")
            if kind == "died":
                self.died = rest
            elif kind == word:
                return True
        await asyncio.to_thread(self._process.join)
        return False

    async def _says(self) -> str | None:
        loop, ready = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self._line.fileno(), ready.set)
        try:
            await ready.wait()
            return self._line.recv_bytes().decode()
        except (EOFError, ConnectionError):
            return None
        finally:
            loop.remove_reader(self._line.fileno())


@asynccontextmanager
async def hosting(options: Options) -> AsyncIterator[Host]:
    """A host that is dead when the block ends, whatever happened in it."""
    mine, its = nursery.Pipe()
    process = nursery.Process(target=main, args=(msgspec.json.encode(options), its), daemon=True)
    await asyncio.to_thread(process.start)
    its.close()
    host = Host(process, mine)
    try:
        yield host
    finally:
        await host.kill()
        host.bury()
