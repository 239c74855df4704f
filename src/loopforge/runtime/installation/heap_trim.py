"""Memory that nobody uses any more goes back to the system.

glibc keeps what was freed, in a heap for each thread: whatever loaded a model or read a large file
leaves the process as large as it ever was. So a home that has grown asks for it back. With another
C library, or on a system that does not say how large a process is, nothing is done.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from loopforge.runtime.ports import Clock

PAUSE = 10.0
"""Seconds between two looks at how large the process is."""
GROWN = 8_000_000
"""Bytes by which it must have grown; giving back takes some milliseconds, as much as is kept."""


async def trim_when_grown(clock: Clock) -> None:
    """Give back what was freed whenever the process has grown, until it cannot be known or done."""
    give_back, least = _trimming(), 0
    while give_back is not None and (size := resident()) is not None:
        if size > least + GROWN:
            await asyncio.to_thread(give_back)
            least = resident() or size
        await clock.sleep(PAUSE)


def resident() -> int | None:
    """Bytes of memory that this process holds; None where the system does not say."""
    with suppress(OSError, ValueError, IndexError):
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    return None


def _trimming() -> Callable[[], object] | None:
    """What gives back, as glibc has it; None with another library."""
    with suppress(OSError, AttributeError):
        trim = ctypes.CDLL(None).malloc_trim
        return lambda: trim(0)
    return None
