"""A child process that is ended and reaped at its block's end, however often that is cancelled.

    async with child_process("git", "status", stdout=asyncio.subprocess.PIPE) as process:
        output, _ = await process.communicate()

It has a session of its own, and what it started in that ends with it. Does not limit it.
"""

import asyncio
import os
import signal
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from loopforge.runtime.background_tasks import run_shielded

GRACE = 5.0
"""Seconds for what was killed to let its pipes go."""


@asynccontextmanager
async def child_process(*program: str, **options: Any) -> AsyncIterator[Process]:
    """Start it, as `asyncio.create_subprocess_exec` does. Raises OSError where it cannot.

    A start that is broken off waits in asyncio for pipes that nobody closes any more, for ever.
    """
    start = asyncio.create_subprocess_exec(*program, start_new_session=True, **options)
    process, stopped = await run_shielded(start, "a program begins")
    try:
        if stopped:
            raise asyncio.CancelledError
        yield process
    finally:
        _, stopped = await run_shielded(_end(process), "a program ends")
        if stopped:
            raise asyncio.CancelledError


async def _end(process: Process) -> None:
    """Kill what still runs, and read what nobody read: until then asyncio holds on to it.

    What it started in a session of its own may hold its pipes for ever; that is not waited for.
    """
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    try:
        async with asyncio.timeout(GRACE):
            for pipe in (process.stdout, process.stderr):
                while pipe is not None and await pipe.read(1 << 16):
                    pass
            await process.wait()
    except TimeoutError:
        process._transport.close()  # type: ignore[attr-defined]  # noqa: SLF001  no other way
