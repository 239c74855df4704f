"""One process runs a home at a time: a lock on a file in it, let go when the process dies.

Where the ledger is PostgreSQL, ledger/storage/host_claim.py holds besides across machines.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from loopforge.errors import HostTaken

if TYPE_CHECKING:
    from loopforge.runtime.ports import Clock

LOCK = "host.lock"


@contextmanager
def lock_home(home: Path) -> Iterator[None]:
    """Hold this home for this process; released at the end, or when the process dies.

    Raises HostTaken if another process holds it.
    """
    path = home / "data" / LOCK
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+", encoding="ascii") as file:
        if not _lock(file):
            raise HostTaken(
                f"Process {_pid(path) or '(unknown)'} runs the home {home} already. "
                "`loopforge chat` talks to it; to run the home here, end that process first."
            )
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def holder(home: Path) -> int | None:
    """The process that holds this home; None if nobody does, 0 if it cannot be told."""
    path = home / "data" / LOCK
    try:
        with path.open("r+", encoding="ascii") as file:
            return None if _lock(file) else _pid(path)
    except FileNotFoundError:
        return None


def held_for(home: Path, clock: Clock) -> float:
    """Seconds since a process last took this home; 0 if none ever did."""
    try:
        since = (home / "data" / LOCK).stat().st_mtime
    except FileNotFoundError:
        return 0.0
    return clock.now().timestamp() - since


def _lock(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _pid(path: Path) -> int:
    text = path.read_text("ascii").strip()
    return int(text) if text.isdigit() else 0
