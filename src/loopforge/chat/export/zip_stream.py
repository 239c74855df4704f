"""A zip that is made while it is read: nothing of it is kept, neither on disk nor in memory.

What is compressed is compressed in a thread; each file is read piece by piece.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

QUICK = 3
"""How hard zlib tries: text gets to about a third, at some 100 MB a second."""
TODAY = (1980, 1, 1, 0, 0, 0)
"""The time of each file in it, which tells nothing: what is in the files has its own."""


class ZipEntry(NamedTuple):
    """A file of a zip: its name there, and what it holds."""

    name: str
    chunks: AsyncIterator[bytes]


class _Pipe:
    """What a zip is written to, piece by piece; it cannot be gone back in."""

    def __init__(self) -> None:
        self._held = bytearray()

    def write(self, data: bytes) -> int:
        """Take a piece."""
        self._held += data
        return len(data)

    def flush(self) -> None:
        """Nothing waits."""

    def taken(self) -> bytes:
        """What was written since."""
        held, self._held = bytes(self._held), bytearray()
        return held


async def stream_zip(parts: AsyncIterator[ZipEntry]) -> AsyncIterator[bytes]:
    """The bytes of a zip with these files."""
    pipe = _Pipe()
    archive = ZipFile(pipe, "w", ZIP_DEFLATED, compresslevel=QUICK)  # type: ignore[call-overload]
    async for part in parts:
        info = ZipInfo(part.name, TODAY)
        info.compress_type = ZIP_DEFLATED
        info.external_attr = 0o600 << 16
        with archive.open(info, "w", force_zip64=True) as file:
            async for chunk in part.chunks:
                await asyncio.to_thread(file.write, chunk)
                if held := pipe.taken():
                    yield held
    archive.close()
    yield pipe.taken()
