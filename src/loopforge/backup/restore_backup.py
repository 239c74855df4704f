"""A home from a backup: in an empty folder, with its ledger in SQLite or PostgreSQL.

    checked -> settings, mates, runs -> files -> the ledger in one transaction, its views folded
      anew, and in the same one what was forgotten since is forgotten again

Does not cover: keys and tokens, which no backup holds; people sign in anew.
"""

import asyncio
import shutil
import tarfile
import zlib
from collections.abc import AsyncIterator
from pathlib import Path
from shlex import quote
from typing import IO, NamedTuple

from loopforge.artifacts.artifact_store import Artifacts
from loopforge.artifacts.file_retention import delete_unreferenced_files, referenced_hashes
from loopforge.backup.backup_store import (
    HOME,
    KEYS,
    LEDGER,
    BackupManifest,
    BackupStore,
    newer_program_error,
)
from loopforge.backup.make_backup import PACKED, check_ledger, fetch_backup_part, ledger_lines
from loopforge.core.work.work_vocabulary import TaskOpened
from loopforge.errors import BackupError, DamagedArtifact, DamagedBackup, InputError, Unknown
from loopforge.ledger.schema_migration import NEWEST
from loopforge.ledger_opening import ARTIFACTS, open_ledger_of
from loopforge.runtime.ports import Clock, Ledger
from loopforge.setting_defaults import Settings
from loopforge.work.git.task_repositories import RECORDS, forget_record


async def newest_backup(store: BackupStore) -> str:
    """The name of the newest backup. Raises Unknown where there is none."""
    if not (names := await store.names()):
        raise Unknown(f"There is no backup in {store.where}.")
    return names[-1]


async def fetch_verified_backup(store: BackupStore, name: str, folder: Path) -> BackupManifest:
    """Bring a backup's parts into this folder and check them. Raises BackupError, LedgerBehind.

    Where it is damaged, the one before it is named.
    """
    try:
        return await _verified(store, name, folder)
    except DamagedBackup as error:
        if not (older := [each for each in await store.names() if each < name]):
            raise
        raise DamagedBackup(
            f"{error} The one before it may be whole: `loopforge restore {quote(store.where)} "
            f"--name {quote(older[-1])}`."
        ) from error


async def _verified(store: BackupStore, name: str, folder: Path) -> BackupManifest:
    manifest = await store.manifest(name)
    if manifest.schema > NEWEST:
        raise newer_program_error(name, manifest.program)
    for part in (LEDGER, HOME, *({KEYS} & manifest.parts.keys())):
        await fetch_backup_part(store, name, part, manifest, folder / part)
    heads = await asyncio.to_thread(check_ledger, folder / LEDGER)
    if dict(heads) != manifest.heads:
        raise DamagedBackup(f"The ledger in {name} is not the one that was backed up.")
    return manifest


def unpack_home(folder: Path, home: Path) -> None:
    """Put settings, mates and runs into a new home; only files, only within it, all or none.

    Raises InputError for a folder with files, BackupError for what no backup of ours holds.
    """
    if home.exists() and any(home.iterdir()):
        raise InputError(f"{home} is not empty; restore into a new folder: `loopforge --home NEW`.")
    try:
        (home / "mates").mkdir(parents=True, exist_ok=True)  # where there are none, none are new
        with tarfile.open(folder / HOME, "r:gz") as tar:
            for each in tar:  # tarfile's own filters came with Python 3.11.4; Debian 12 has 3.11.2
                _put(home, each, tar.extractfile(each) if each.isfile() else None)
    except BaseException as error:
        shutil.rmtree(home, ignore_errors=True)
        if isinstance(error, (tarfile.TarError, zlib.error, EOFError, ValueError)):
            raise BackupError(f"{HOME} in this backup is damaged: {error}") from error
        raise


def _put(home: Path, each: tarfile.TarInfo, content: IO[bytes] | None) -> None:
    place = home / each.name
    if content is None or each.issparse() or not _is_of_home(home.resolve(), place.resolve()):
        raise BackupError(f"{each.name!r} in this backup is no file of a home.")
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with place.open("wb") as file:
        place.chmod(each.mode & 0o755)
        shutil.copyfileobj(content, file)


def _is_of_home(home: Path, place: Path) -> bool:
    parts = any(place.is_relative_to((home / part).resolve()) for part in PACKED)
    return parts or (place.is_relative_to(home) and place.relative_to(home).match(RECORDS))


class RestoredHome(NamedTuple):
    """How many texts were forgotten again, and how many files the backup no longer has."""

    forgotten: int
    missing: int


async def restore_home(
    settings: Settings, store: BackupStore, manifest: BackupManifest, folder: Path, clock: Clock
) -> RestoredHome:
    """Bring the files and the ledger back, and forget again what was forgotten since.

    `folder` holds the checked parts. Raises InputError where the ledger is not empty. A file that
    cannot be had keeps nothing else away.
    """
    forgotten = sorted(await store.forgotten())
    files = Artifacts(settings.data / ARTIFACTS, clock)
    async for _, data in kept_files(store, manifest):
        if data is not None:
            await files.put(data)
    async with open_ledger_of(settings, clock) as ledger:
        erasure = await ledger.load(ledger_lines(folder / LEDGER), forgotten)
        await delete_unreferenced_files(ledger, Artifacts(settings.data / ARTIFACTS, clock))
        for stream in erasure.texts:
            await _drop_forgotten_record(settings.home, ledger, stream)
        missing = (await ledger.look(referenced_hashes)).difference(await files.hashes())
    return RestoredHome(len(erasure.refs), len(missing))


async def _drop_forgotten_record(home: Path, ledger: Ledger, stream: str) -> None:
    """What was forgotten with a task is also in what is kept of its repository."""
    opened = await ledger.read(stream, kinds=["task.opened"])
    if any(isinstance(each.body, TaskOpened) and each.body.text.text is None for each in opened):
        await asyncio.to_thread(forget_record, home, stream)


async def kept_files(
    store: BackupStore, manifest: BackupManifest
) -> AsyncIterator[tuple[str, bytes | None]]:
    """The hash of each file of a backup, with its bytes; None where they are damaged or gone."""
    for hash in manifest.files:
        try:
            yield hash, await store.files.get(hash)
        except (InputError, DamagedArtifact):  # not there, or its name is damaged
            yield hash, None
