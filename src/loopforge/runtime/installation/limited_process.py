"""Programs in processes of their own: ended and reaped with their block; for strangers, limited.

    async with child_process("git", "status", stdout=asyncio.subprocess.PIPE) as process:
        output, _ = await process.communicate()

A child has a session of its own, and what it started in that ends with it, however often the block
is cancelled. It is not limited.

`run_limited` runs a program of our own on what comes from strangers. It has no environment, so no
keys, and is killed at the end whatever it does. Limits on its processor time, memory and files it
sets itself before it looks at the first byte; time is limited here. What it is given goes in as its
input, and what it finds comes back as its output.
"""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

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


class LimitedRun(NamedTuple):
    """How it ended: its exit code, below 0 for a signal and None for too long; its outputs."""

    code: int | None
    output: bytes = b""
    complaint: bytes = b""


async def run_limited(
    program: Path, arguments: Sequence[str], given: bytes, seconds: float
) -> LimitedRun:
    """Run a Python program of ours. Raises OSError where no process can be started."""
    child = child_process(
        *(sys.executable, "-I", str(program), *arguments),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={},
    )
    try:
        async with child as process, asyncio.timeout(seconds):
            output, complaint = await process.communicate(given)
    except TimeoutError:
        return LimitedRun(None)
    return LimitedRun(process.returncode or 0, output, complaint)
