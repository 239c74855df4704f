"""A program of our own in a process of its own, for what comes from strangers.

It has no environment, so no keys, and is killed at the end whatever it does. Limits on its
processor time, memory and files it sets itself before it looks at the first byte; time is limited
here. What it is given goes in as its input, and what it finds comes back as its output.
"""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from loopforge.runtime.installation.process_reaping import child_process


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
