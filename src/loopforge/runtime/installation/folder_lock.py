"""A lock on a folder, against whoever else on this machine holds it; it goes with its process."""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

PAUSE = 0.02
"""Seconds between two tries."""


@asynccontextmanager
async def lock_folder(folder: Path, how: int = fcntl.LOCK_EX) -> AsyncIterator[None]:
    """Wait until nobody minds, and hold it; `LOCK_SH` minds only who wants it alone.

    Raises OSError where there is no such folder.
    """
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        while not _taken(held, how):  # noqa: ASYNC110  the system tells nobody
            await asyncio.sleep(PAUSE)
        yield
    finally:
        os.close(held)


def _taken(folder: int, how: int) -> bool:
    try:
        fcntl.flock(folder, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
