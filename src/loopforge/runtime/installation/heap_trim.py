"""Memory that nobody uses any more goes back to the system.

glibc keeps what was freed, in a heap for each thread: whatever loaded a model or read a large file
leaves the process as large as it ever was. So a home asks for it back from time to time. With
another C library nothing is done.
"""

import asyncio
import ctypes
from collections.abc import Callable
from contextlib import suppress

from loopforge.runtime.ports import Clock

PAUSE = 20.0
"""Seconds between two times; each takes 1 to 15 ms, in a thread, by how much was freed."""


async def give_back_freed(clock: Clock) -> None:
    """Give back what was freed, now and every PAUSE; return where that cannot be done."""
    trim = _trimming()
    while trim is not None:
        await asyncio.to_thread(trim, 0)
        await clock.sleep(PAUSE)


def _trimming() -> Callable[[int], object] | None:
    """What gives back, as glibc has it, keeping so many bytes; None with another library."""
    with suppress(OSError, AttributeError):
        trim: Callable[[int], object] = ctypes.CDLL(None).malloc_trim
        return trim
    return None
