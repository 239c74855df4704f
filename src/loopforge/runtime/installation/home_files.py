"""Files of a home: what people put there, read whole where small; and what only its owner may read.

A home may come from a stranger, and so may a file in it: a pipe would be waited for as long as
nobody writes, a device never ends, and a file of holes is a gigabyte in memory. Private files are
written beside, then put in place whole, one at a time.
"""

import errno
import fcntl
import hashlib
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LARGEST = 1 << 20
"""Bytes of a file that people write by hand."""


def bytes_of(path: Path, most: int = LARGEST) -> bytes:
    """What a file holds. Raises OSError, also where it is no file, or larger than `most` bytes."""
    with open(path, "rb", opener=_at_once) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is no file", str(path))
        found = file.read(most + 1)
    if len(found) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most // 1024:,} kB", str(path))
    return found


def text_of(path: Path, most: int = LARGEST) -> str:
    """What a file says, without a mark of its encoding. Raises OSError, UnicodeDecodeError."""
    return bytes_of(path, most).decode("utf-8-sig")


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file of any size, in hex. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _at_once(path: str, flags: int) -> int:
    """Open without waiting for somebody who writes into a pipe."""
    return os.open(path, flags | os.O_NONBLOCK)


@contextmanager
def exclusive_access(path: Path) -> Iterator[None]:
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


def replace_whole(path: Path, data: bytes) -> None:
    """Write beside the file, then put it in its place: a reader sees the old one or the new one.

    However many do so at once. Raises OSError.
    """
    handle, name = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o644
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
