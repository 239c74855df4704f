"""Objects at a place: a folder, or a bucket by a URL that obstore knows (s3://, gs://, az://).

obstore is asked in threads of Python's own: its asynchronous calls end in threads of Tokio, one of
which may abort a process that is about to end (pyo3-async-runtimes, issue 40).

Does not know what objects are, nor what people are told of a store's errors.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

if TYPE_CHECKING:
    from obstore.store import ObjectStore

T = TypeVar("T")


class ObjectStorage:
    """The objects at `where`; a folder is made when it is first used.

    `fault` raises what became of a store's own error while something was "read", "written" or
    "deleted". `options` are those of obstore for a URL.
    """

    def __init__(
        self, where: Path | str, fault: Callable[[Exception, str], NoReturn], **options: Any
    ) -> None:
        self._where, self._fault, self._options = where, fault, options
        self._opened: ObjectStore | None = None

    def store(self) -> ObjectStore:
        """What obstore is asked with. For a thread."""
        if self._opened is None:
            from obstore.store import LocalStore, from_url

            if isinstance(self._where, Path):
                self._where.mkdir(0o700, parents=True, exist_ok=True)
                self._opened = LocalStore(self._where, mkdir=True)
            else:
                self._opened = from_url(self._where, **self._options)
        return self._opened

    async def get(self, path: str) -> bytes:
        """An object. Raises FileNotFoundError."""
        import obstore

        return await self.told("read", lambda: bytes(obstore.get(self.store(), path).bytes()))

    async def put(self, path: str, data: bytes | Path) -> None:
        """Put bytes or a file there, whole or not at all."""
        import obstore

        try:
            await self.told("written", lambda: obstore.put(self.store(), path, data))
        except FileNotFoundError as error:  # there is no such bucket
            self._fault(error, "written")

    async def drop(self, path: str) -> None:
        """Take an object away; quiet where there is none."""
        import obstore

        with suppress(FileNotFoundError):
            await self.told("deleted", lambda: obstore.delete(self.store(), path))

    async def paths(self, prefix: str | None = None) -> list[str]:
        """The paths of all that is there, or of what lies in a folder of it."""
        return [*await self.sizes(prefix)]

    async def sizes(self, prefix: str | None = None) -> dict[str, int]:
        """The same, with how many bytes are in each."""
        import obstore

        def listed() -> dict[str, int]:
            batches = obstore.list(self.store(), prefix)
            return {entry["path"]: entry["size"] for batch in batches for entry in batch}

        return await self.told("read", listed)

    async def told(self, done: str, ask: Callable[[], T]) -> T:
        """What a store answers, asked in a thread. Raises FileNotFoundError."""
        try:
            return await asyncio.to_thread(ask)
        except FileNotFoundError:
            raise
        except Exception as error:
            self._fault(error, done)
