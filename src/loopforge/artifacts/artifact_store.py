"""Artifacts: bytes kept under the SHA-256 of themselves, in a folder or in any object store.

    <first two digits>/<all 64 digits>

A file is there whole or not at all (written aside, then renamed), and is compared with its name
whenever it is read: what is damaged is never given out. Writing the same bytes twice is writing
them once. Bytes that were put are young until an event holds them, or for YOUNG seconds; a sweep
leaves them alone.

Several processes may use one folder: a lock on it keeps a sweep apart from what is being written.
What is young is known to the process that put it, so only who holds the home may sweep it.

Knows nothing of events, rooms or names of files. Does not cover: a store by URL that several
processes use. A deleted file's blocks on the disk are the disk's business.
"""

import asyncio
import fcntl
import hashlib
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import NoReturn

from loopforge.artifacts.object_storage import ObjectStorage
from loopforge.errors import ArtifactError, DamagedArtifact, InputError, Unknown
from loopforge.runtime.installation.folder_lock import lock_folder
from loopforge.runtime.ports import Clock

log = logging.getLogger(__name__)

YOUNG = 600.0
"""Seconds for which bytes may wait for the event that is to hold them."""

READING = 2
"""Files of a store that may be read at once, where reading takes a process."""

DIGITS = 64
"""Of a hash."""
_HASH = re.compile(rf"[0-9a-f]{{{DIGITS}}}")
_CODE = re.compile(r"\(os error (\d+)\)")
_FULL = frozenset({"28", "122"})
"""ENOSPC and EDQUOT."""
_FORBIDDEN = frozenset({"1", "13", "30"})
"""EPERM, EACCES and EROFS."""


def is_hash(text: str) -> bool:
    """Whether this could name an artifact: 64 small hex digits."""
    return _HASH.fullmatch(text) is not None


def hash_of(data: bytes) -> str:
    """The name of these bytes."""
    return hashlib.sha256(data).hexdigest()


class Artifacts:
    """The store at `where`: a folder (made when first written), or a URL that obstore knows."""

    def __init__(self, where: Path | str, clock: Clock) -> None:
        self._where, self._clock = where, clock
        self._objects = ObjectStorage(where, self._tell)
        self._young: dict[str, list[float]] = {}
        self._still = asyncio.Lock()
        self.reading = asyncio.Semaphore(READING)

    # ------------------------------------------------------------ bytes

    async def put(self, data: bytes) -> str:
        """Keep the bytes; their hash. Raises ArtifactError (a full disk, say): nothing is kept."""
        hash = await asyncio.to_thread(hash_of, data)
        self._young.setdefault(hash, []).append(self._clock.ticks())
        try:
            async with self._locked(fcntl.LOCK_SH):
                await self._objects.put(_path(hash), data)
        except BaseException:
            self.settle(hash)
            raise
        return hash

    async def get(self, hash: str) -> bytes:
        """The bytes. Raises Unknown, DamagedArtifact, or ArtifactError when out of reach."""
        self._check(hash)
        try:
            data = await self._objects.get(_path(hash))
        except FileNotFoundError:
            gone = f"There is no kept file {hash[:12]}; it may have been forgotten."
            raise Unknown(gone) from None
        if await asyncio.to_thread(hash_of, data) != hash:
            log.warning("the kept file %s in %s is damaged", hash[:12], self._where)
            raise DamagedArtifact(
                f"The kept file {hash[:12]} is damaged: its bytes are no longer those that were "
                "given. Take it from a backup, or give it to the room again."
            )
        return data

    def read(self, hash: str) -> bytes | None:
        """The bytes, as they lie there; None where nothing does. For a thread.

        Raises ArtifactError when out of reach.
        """
        import obstore
        from obstore.exceptions import BaseError

        try:
            return bytes(obstore.get(self._objects.store(), _path(hash)).bytes())
        except FileNotFoundError:
            return None
        except (BaseError, OSError, ValueError) as error:
            self._tell(error, "read")

    async def has(self, hash: str) -> bool:
        """Whether something is kept under this hash."""
        import obstore

        self._check(hash)
        try:
            await self._objects.told(
                "read", lambda: obstore.head(self._objects.store(), _path(hash))
            )
        except FileNotFoundError:
            return False
        return True

    async def drop(self, hash: str) -> None:
        """Let the bytes go for good, held or not; quiet when they are not there."""
        self._check(hash)
        async with self._locked(fcntl.LOCK_SH):
            await self._objects.drop(_path(hash))

    async def hashes(self) -> list[str]:
        """The hashes of everything that is kept."""
        return sorted(await self.sizes())

    async def sizes(self) -> dict[str, int]:
        """How many bytes lie under the hash of everything that is kept."""
        found = await self._objects.sizes()
        return {hash: size for path, size in found.items() if (hash := _name(path))}

    # ------------------------------------------------------------ what nobody holds

    def young(self) -> frozenset[str]:
        """What was put lately and is not settled."""
        now = self._clock.ticks()
        fresh = {
            hash: [since for since in each if now - since < YOUNG]
            for hash, each in self._young.items()
        }
        self._young = {hash: each for hash, each in fresh.items() if each}
        return frozenset(self._young)

    def settle(self, hash: str) -> None:
        """One putting of these bytes is over: an event holds them, or none ever will."""
        waiting = self._young.get(hash, [])
        if waiting:
            waiting.pop(0)
        if not waiting:
            self._young.pop(hash, None)

    async def sweep(self, held: Callable[[], Awaitable[Collection[str]]]) -> list[str]:
        """Drop what is neither young nor held, and what a crash left half written; their hashes.

        Nothing is put meanwhile. What is young is noted before `held` is asked, so that bytes whose
        event is written in that very moment are found on one side or the other.
        """
        async with self._locked(fcntl.LOCK_EX):
            stored, young = await self.hashes(), self.young()
            staying = young.union(await held())
            going = [hash for hash in stored if hash not in staying]
            for hash in going:
                await self._objects.drop(_path(hash))
            await asyncio.to_thread(self._tidy)
        return going

    def _tidy(self) -> None:
        """Take away what a killed process was writing: `<hash>#<number>`, beside the files."""
        if isinstance(self._where, Path):
            for left in self._where.glob("??/*#*"):
                left.unlink(missing_ok=True)

    # ------------------------------------------------------------ the store

    @asynccontextmanager
    async def _locked(self, how: int) -> AsyncIterator[None]:
        """Alone in this process; of others, a sweep (LOCK_EX) keeps all out, a put only sweeps."""
        async with self._still:
            if not isinstance(self._where, Path):
                yield
                return
            async with AsyncExitStack() as held:
                try:
                    self._where.mkdir(parents=True, exist_ok=True)
                    await held.enter_async_context(lock_folder(self._where, how))
                except OSError as error:
                    self._tell(error, "written")
                yield

    def _check(self, hash: str) -> None:
        if not is_hash(hash):
            raise InputError(f"{hash[:80]!r} names no kept file; a name is 64 hex digits.")

    def _tell(self, error: BaseException, done: str) -> NoReturn:
        """Raise a store's own error as ours; its own words are logged, and told to no room."""
        from obstore.exceptions import BaseError

        if not isinstance(error, BaseError | OSError | ValueError):
            raise error
        log.info("a file in %s could not be %s: %s", self._where, done, error)
        found = _CODE.search(str(error))
        code = found[1] if found else ""
        if code in _FULL:
            problem = "the disk is full. Make room and try again."
        elif code in _FORBIDDEN:
            problem = "this is not allowed. Check who owns the folder and the disk it is on."
        else:
            problem = "the disk or the store failed. The home's log says how; then try again."
        where = self._where.name if isinstance(self._where, Path) else self._where
        raise ArtifactError(f"A file in {where} could not be {done}: {problem}") from error


def _path(hash: str) -> str:
    return f"{hash[:2]}/{hash}"


def _name(path: str) -> str:
    """The hash of a path of ours; "" for anything else that lies there."""
    folder, _, name = path.rpartition("/")
    return name if is_hash(name) and folder == name[:2] else ""
