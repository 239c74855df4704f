"""What this process takes of the machine: memory, which it gives back, and files that it may open.

glibc keeps what was freed, in a heap for each thread: whatever loaded a model or read a large file
leaves the process as large as it ever was. So a home asks for it back from time to time. With
another C library nothing is done.

The usual soft limit of 1024 open files is meant for programs that use `select`; a home that many
people visit needs more, and every connection is a file.
"""

import asyncio
import contextlib
import ctypes
import errno
import gc
import resource
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


OBJECTS = 20_000
"""New objects after which cycles are looked for. After 700, as usual, that takes a twentieth of the
time of a home with many rooms; there are few cycles to be found."""


def collect_seldom() -> None:
    """Look for garbage in cycles less often."""
    gc.set_threshold(max(OBJECTS, gc.get_threshold()[0]), *gc.get_threshold()[1:])


# ---------------------------------------------------------------- open files


MOST = 65_536
"""Files that are asked for where the system sets no bound of its own."""
SCARCE = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
"""What the system answers where it has nothing left to open another file with."""


def raise_limit() -> int:
    """Take what the system allows; how many files this process may have open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST if hard == resource.RLIM_INFINITY else min(hard, MOST)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):  # some systems promise more than they give
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return most_open()


def most_open() -> int:
    """How many files this process may have open."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if soft == resource.RLIM_INFINITY else soft
