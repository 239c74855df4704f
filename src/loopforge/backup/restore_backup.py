"""A home from a backup: in an empty folder, with its ledger in SQLite or PostgreSQL.

    checked -> settings, mates, runs -> the ledger in one transaction, its views folded anew
      -> files -> what was forgotten since is forgotten again

Does not cover: keys and tokens, which no backup holds; people sign in anew.
"""

from __future__ import annotations

import asyncio
import gzip
import shutil
import tarfile
from pathlib import Path

from loopforge.app import ARTIFACTS
from loopforge.artifacts.artifact_store import Artifacts
from loopforge.artifacts.file_retention import sweep
from loopforge.backup.backup_store import (
    HOME,
    KEYS,
    LEDGER,
    BackupManifest,
    BackupStore,
    newer,
)
from loopforge.backup.make_backup import check_ledger, fetch
from loopforge.errors import BackupError, InputError, Unknown
from loopforge.ledger.erasure.text_erasure import Wish
from loopforge.ledger.schema_migration import NEWEST
from loopforge.ledger_opening import open_ledger_of
from loopforge.runtime.ports import Clock
from loopforge.settings_table import Settings


async def newest(store: BackupStore) -> str:
    """The name of the newest backup. Raises Unknown where there is none."""
    if not (names := await store.names()):
        raise Unknown(f"There is no backup in {store.where}.")
    return names[-1]


async def inspected(store: BackupStore, name: str, folder: Path) -> BackupManifest:
    """Bring a backup's parts into this folder and check them. Raises BackupError, LedgerBehind."""
    manifest = await store.manifest(name)
    if manifest.schema > NEWEST:
        raise newer(name, manifest.program)
    for part in (LEDGER, HOME, *({KEYS} & manifest.parts.keys())):
        await fetch(store, name, part, manifest, folder / part)
    heads = await asyncio.to_thread(check_ledger, folder / LEDGER)
    if dict(heads) != manifest.heads:
        raise BackupError(f"The ledger in {name} is not the one that was backed up.")
    return manifest


def unpack(folder: Path, home: Path) -> None:
    """Put settings, mates and runs into a new home; only files, and only within it.

    Raises InputError for a folder with files, BackupError for what no backup of ours holds.
    """
    if home.exists() and any(home.iterdir()):
        raise InputError(f"{home} is not empty; restore into a new folder: `loopforge --home NEW`.")
    home.mkdir(parents=True, exist_ok=True)
    with tarfile.open(folder / HOME, "r:gz") as tar:
        for each in tar:  # tarfile's own filters came with Python 3.11.4; Debian 12 has 3.11.2
            place = home / each.name
            held = tar.extractfile(each) if each.isfile() else None
            if held is None or not place.resolve().is_relative_to(home.resolve()):
                raise BackupError(f"{each.name!r} in this backup is no file of a home.")
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with place.open("wb") as file:
                place.chmod(each.mode & 0o755)
                shutil.copyfileobj(held, file)


async def restore(
    settings: Settings, store: BackupStore, manifest: BackupManifest, folder: Path, clock: Clock
) -> int:
    """Bring the ledger and its files back; how many texts were forgotten again.

    `folder` holds the checked parts. Raises InputError where the ledger is not empty.
    """
    async with open_ledger_of(settings, clock) as ledger:
        with gzip.open(folder / LEDGER, "rb") as rows:
            await ledger.load(rows)
    files = Artifacts(settings.data / ARTIFACTS, clock)
    for hash in manifest.files:
        await files.put(await store.files.get(hash))
    async with open_ledger_of(settings, clock) as ledger:
        known = list(await ledger.texts(sorted(await store.forgotten())))
        if known:
            why = "forgotten after this backup was made"
            await ledger.erase(Wish(refs=tuple(known), exactly=True, by="restore", why=why))
            await sweep(ledger, Artifacts(settings.data / ARTIFACTS, clock))
    return len(known)
