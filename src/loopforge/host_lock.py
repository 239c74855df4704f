"""One process runs a home at a time: a lock on a file in it, let go when the process dies.

Where the ledger is PostgreSQL, ledger/storage/host_claim.py holds besides across machines.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import sleep
from typing import IO, TYPE_CHECKING

from loopforge.errors import HostTaken, LoopforgeError

if TYPE_CHECKING:
    from loopforge.runtime.ports import Clock

LOCK = "host.lock"
TRIES, PAUSE = 100, 0.02
"""How often a home is tried for, and the seconds between: who asks about it, or sweeps it for a
moment, runs none."""


@contextmanager
def lock_home(home: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold this home for this process; released at the end, or when the process dies.

    With `wait`, somebody who has it for a moment is waited for.
    Raises HostTaken if another process holds it, and LoopforgeError where nothing can be written.
    """
    path = home / "data" / LOCK
    with ExitStack() as held:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = held.enter_context(path.open("a+", encoding="ascii"))
            if not _held(file, TRIES if wait else 1):
                raise HostTaken(
                    f"Process {_pid(path) or '(unknown)'} runs the home {home} already. "
                    "`loopforge chat` talks to it; to run the home here, end that process first."
                )
            file.truncate(0)
            os.write(file.fileno(), str(os.getpid()).encode())
        except OSError as error:
            raise LoopforgeError(
                f"The home {home} cannot be run: {path} cannot be written ({error.strerror}). "
                "Make its disk writable, or free some room on it."
            ) from error
        yield


def home_holder_pid(home: Path) -> int | None:
    """The process that holds this home; None if nobody does, 0 if it cannot be told."""
    path = home / "data" / LOCK
    try:
        with _opened(path) as file:
            return None if _lock(file, fcntl.LOCK_SH) else _pid(path)
    except FileNotFoundError:
        return None


def held_for(home: Path, clock: Clock) -> float:
    """Seconds since a process last took this home; 0 if none ever did."""
    try:
        since = (home / "data" / LOCK).stat().st_mtime
    except FileNotFoundError:
        return 0.0
    return clock.now().timestamp() - since


def _opened(path: Path) -> IO[str]:
    try:
        return path.open("r+", encoding="ascii")
    except FileNotFoundError:
        raise
    except OSError:
        return path.open(encoding="ascii")  # on a disk that may only be read


def _held(file: IO[str], tries: int) -> bool:
    for nth in range(tries):
        if nth:
            sleep(PAUSE)
        if _lock(file, fcntl.LOCK_EX):
            return True
    return False


def _lock(file: IO[str], kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _pid(path: Path) -> int:
    text = path.read_text("ascii").strip()
    return int(text) if text.isdigit() else 0
