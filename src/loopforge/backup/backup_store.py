"""Where backups lie: a folder, or a bucket by a URL that obstore knows (s3://, gs://, az://).

    <name>/backup.json       what it is; written last, so that what was broken off is no backup
    <name>/ledger.jsonl.gz   every row of the ledger (ledger/row_dump.py)
    <name>/home.tar.gz       settings, mates, prompts, scenarios, runs of the Factory
    <name>/keys.age          keys and tokens, where that was wished for (sealed_keys.py)
    files/<2>/<hash>         files that people gave, once for all backups
    erased/<event>           refs of texts that were forgotten, whichever backups still hold them
    damaged/<hash>           a file that was found to be damaged: the next backup puts it there anew

Keys of a bucket come from its provider's own variables. Knows nothing of what is in a backup.
"""

import asyncio
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NoReturn

import msgspec
from msgspec import Struct

from loopforge.artifacts.artifact_store import Artifacts, is_hash
from loopforge.artifacts.object_storage import ObjectStorage
from loopforge.errors import BackupError, DamagedBackup, LedgerBehind, Unknown
from loopforge.runtime.ports import Clock

MANIFEST, LEDGER, HOME = "backup.json", "ledger.jsonl.gz", "home.tar.gz"
KEYS = "keys.age"
FORMAT = 1
NAMED = "%Y%m%dT%H%M%S%fZ"
"""How backups are named, by their time in UTC."""
DEAD = timedelta(days=1)
"""Nobody makes a backup for as long as that; whoever did was killed."""


class BackupManifest(Struct, frozen=True, kw_only=True):
    """What a backup is. `parts` are the SHA-256 of its parts, `heads` those of the ledger.

    `absent` are files that were forgotten meanwhile, `damaged` those that the home's disk has.
    """

    format: int
    program: str
    schema: str
    at: datetime
    home: str
    parts: dict[str, str]
    heads: dict[str, tuple[int, str]]
    files: tuple[str, ...]
    absent: tuple[str, ...] = ()
    damaged: tuple[str, ...] = ()

    @property
    def events(self) -> int:
        """How many there are."""
        return sum(seq for seq, _ in self.heads.values())


class _Form(Struct, frozen=True):
    """What of a manifest is the same in every form."""

    format: int
    program: str


def newer_program_error(name: str, program: str) -> LedgerBehind:
    """Why a backup of a newer program is refused."""
    return LedgerBehind(
        f"The backup {name} was made by a newer Loopforge ({program}). Install it, then restore; "
        "nothing was changed."
    )


class BackupStore:
    """The backups at one place."""

    def __init__(self, where: str, clock: Clock) -> None:
        self.where = where
        local = "://" not in where
        self._root: Path | str = Path(where).expanduser().absolute() if local else where.rstrip("/")
        files = self._root / "files" if isinstance(self._root, Path) else f"{self._root}/files"
        self.files = Artifacts(files, clock)
        self._objects = ObjectStorage(self._root, self._fault)

    async def names(self) -> list[str]:
        """Backups that are whole, oldest first."""
        return sorted(path.partition("/")[0] for path in await self._paths() if _whole(path))

    async def unfinished(self) -> dict[str, datetime]:
        """Backups that are not whole, and when they began; some are at work, some were killed."""
        paths = await self._paths()
        found = {path.partition("/")[0] for path in paths}
        if isinstance(self._root, Path):  # there an object that is half written is not listed
            found |= {each.name for each in self._root.iterdir() if each.is_dir()}
        whole = {path.partition("/")[0] for path in paths if _whole(path)}
        return {name: at for name in found - whole if (at := made_at(name))}

    async def manifest(self, name: str) -> BackupManifest:
        """What this backup is. Raises Unknown, LedgerBehind, and DamagedBackup where unreadable."""
        try:
            data = await self.read(f"{name}/{MANIFEST}")
            if (made := msgspec.json.decode(data, type=_Form)).format > FORMAT:
                raise newer_program_error(name, made.program)
            return msgspec.json.decode(data, type=BackupManifest)
        except FileNotFoundError:
            raise Unknown(f"There is no backup {name!r} in {self.where}.") from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise DamagedBackup(
                f"The backup {name} in {self.where} cannot be read: {error}."
            ) from error

    async def read(self, path: str) -> bytes:
        """A small object. Raises FileNotFoundError."""
        self._check()
        return await self._objects.get(path)

    async def fetch(self, path: str, to: Path) -> None:
        """A large object into a file. Raises BackupError, also where that one's disk is full."""
        import obstore

        def copy() -> None:
            pieces = obstore.get(self._objects.store(), path).stream()
            try:
                with to.open("wb") as file:
                    file.writelines(pieces)
            except OSError as error:
                raise BackupError(
                    f"{to.parent}, where parts of a backup are read, cannot be written: "
                    f"{error.strerror or error}. Make room there, or name another folder by TMPDIR."
                ) from error

        self._check()
        try:
            await self._objects.told("read", copy)
        except FileNotFoundError:
            raise DamagedBackup(f"{path} is gone from {self.where}.") from None

    async def write(self, path: str, data: bytes | Path) -> None:
        """Put bytes or a file there, whole or not at all. Raises BackupError."""
        await self._objects.put(path, data)

    async def drop(self, name: str) -> None:
        """Take a backup away, first what makes it one."""
        for part in (MANIFEST, LEDGER, HOME, KEYS):
            await self._objects.drop(f"{name}/{part}")
        if isinstance(self._root, Path):
            await asyncio.to_thread(shutil.rmtree, self._root / name, ignore_errors=True)

    async def erased(self) -> set[str]:
        """The events whose erasures are noted here; none where no backup was made yet."""
        if isinstance(self._root, Path) and not self._root.exists():
            return set()
        return {path.partition("/")[2] for path in await self._paths("erased")}

    async def forgotten(self) -> set[str]:
        """The refs of all texts that are noted to be forgotten. Raises BackupError."""
        found: set[str] = set()
        for event in await self.erased():
            refs = (await self.read(f"erased/{event}")).decode("utf-8", "replace").split()
            if not all(map(is_hash, refs)):
                raise BackupError(
                    f"erased/{event} in {self.where} is damaged: what was forgotten there would "
                    "come back. If you would have it back, delete that file."
                )
            found.update(refs)
        return found

    async def damaged(self) -> set[str]:
        """The hashes of files that are noted to be damaged here."""
        return {path.partition("/")[2] for path in await self._paths("damaged")}

    async def note_damaged(self, hash: str) -> None:
        """Note that a file here is damaged. Raises BackupError."""
        await self.write(f"damaged/{hash}", b"")

    async def forget_damaged(self, hash: str) -> None:
        """Note of it no more: it is whole again, or gone."""
        await self._objects.drop(f"damaged/{hash}")

    async def _paths(self, prefix: str | None = None) -> list[str]:
        self._check()
        return await self._objects.paths(prefix)

    def _check(self) -> None:
        if isinstance(self._root, Path) and not self._root.is_dir():
            raise BackupError(f"There is no folder {self._root}, where backups could lie.")

    def _fault(self, error: Exception, _done: str) -> NoReturn:
        if isinstance(error, BackupError):
            raise error
        said = str(error).partition("\n")[0].rstrip(".")
        raise BackupError(
            f"The backups in {self.where} cannot be reached: {said}. Check that this is there, and "
            "for a bucket its region and its keys."
        ) from error


def _whole(path: str) -> bool:
    name, _, part = path.partition("/")
    return part == MANIFEST and name not in ("files", "erased", "damaged")


def made_at(name: str) -> datetime | None:
    """When the backup of this name was made; None where it is called otherwise."""
    try:
        return datetime.strptime(name, NAMED).replace(tzinfo=UTC)
    except ValueError:
        return None
