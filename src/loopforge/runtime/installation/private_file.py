"""Files that only their owner may read: written beside, then put in place whole, one at a time."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Nobody else reads and rewrites a private file of that folder meanwhile, in any process."""
    path.parent.mkdir(0o700, parents=True, exist_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)  # for a few milliseconds
        yield
    finally:
        os.close(folder)


def write_private(path: Path, content: bytes) -> None:
    """Write a file that nobody else can open; what was there stays until all of it is written."""
    path.parent.mkdir(0o700, parents=True, exist_ok=True)
    aside = path.with_name(f"{path.name}.new")
    aside.touch(0o600)
    aside.chmod(0o600)
    aside.write_bytes(content)
    aside.replace(path)
