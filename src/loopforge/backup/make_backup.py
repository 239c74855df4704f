"""Making a backup, also while the home runs, and looking at it once it is made.

    one moment of the ledger -> its rows, and which files it holds -> settings, mates, runs
      -> everything is written -> read back from there, every hash derived again
      -> files that are not there yet -> backup.json

What is left out: keys and tokens, who is signed in, logs. An event that comes meanwhile is in the
next one. Files of which the words were forgotten meanwhile are absent, and those that the home's
disk has damaged; the manifest says so. What fails leaves nothing behind.
"""

import asyncio
import gzip
import logging
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import msgspec
from sqlalchemy import select
from sqlalchemy.engine import Connection

from loopforge import __version__
from loopforge.artifacts.artifact_store import Artifacts
from loopforge.artifacts.file_retention import like_hashes, referenced_hashes
from loopforge.backup.backup_store import (
    DEAD,
    FORMAT,
    HOME,
    KEYS,
    LEDGER,
    MANIFEST,
    NAMED,
    BackupManifest,
    BackupStore,
)
from loopforge.backup.sealed_keys import seal_keys
from loopforge.core.events import Erased, Event
from loopforge.errors import BackupError, DamagedArtifact, DamagedBackup, LedgerBroken, Unknown
from loopforge.ledger.database.table_schema import events
from loopforge.ledger.row_dump import Anchors, dump_rows, verify_dump
from loopforge.ledger.schema_migration import NEWEST, schema_status, schema_version
from loopforge.ledger.storage.event_reading import in_read_snapshot
from loopforge.ledger.storage.row_codec import events_of
from loopforge.ledger.table_access import Tables
from loopforge.ledger_opening import ARTIFACTS
from loopforge.runtime.installation.home_files import sha256_of
from loopforge.runtime.installation.settings_file import FILE
from loopforge.runtime.ports import Clock
from loopforge.setting_defaults import Settings
from loopforge.settings import SAVED
from loopforge.work.git.task_repositories import RECORDS

log = logging.getLogger(__name__)
FOLDERS = (
    "mates",
    "roles",
    "prompts",
    "scenarios",
    "experiments",
    "tools",
    "repositories",
    "data/mcp",
    "data/runs",
    "data/sweeps",
)
"""What of a home is in its backup, besides its settings, its ledger and its files."""
PACKED = (FILE, SAVED, *FOLDERS)
"""All that is packed, and all that is unpacked, with the records of tasks: no database, say, nor
the web room's secret."""
WORK = "backup-"
"""How the folder begins, in the home's data, in which one is made."""
LONGEST = 500_000_000
"""Bytes of a row of the ledger; a larger one is none of ours, whatever a small file unpacks to."""
LAST = "last-backup.json"
"""In the home's data: when and where the last one was made."""


class LastBackup(msgspec.Struct, frozen=True):
    """The last backup of a home."""

    at: datetime
    where: str
    name: str


async def back_up(
    settings: Settings, ledger: Tables, store: BackupStore, clock: Clock, passphrase: str = ""
) -> tuple[str, BackupManifest]:
    """Make a backup and check it; its name, and what it is. Raises BackupError, LedgerError.

    The ledger may have an older schema; the backup has it, then. With a `passphrase`, keys and
    tokens are in it, sealed.
    """
    try:
        return await _made(settings, ledger, store, clock, passphrase)
    except OSError as error:
        where = error.filename or settings.data
        raise BackupError(
            f"No backup was made: {where}: {error.strerror or error}. It is packed in "
            f"{settings.data} first: make room on that disk, and try again."
        ) from error


async def _made(
    settings: Settings, ledger: Tables, store: BackupStore, clock: Clock, passphrase: str
) -> tuple[str, BackupManifest]:
    at = clock.now()
    name = at.strftime(NAMED)
    _sweep(settings.data, at)
    with tempfile.TemporaryDirectory(dir=settings.data, prefix=WORK) as folder:
        rows, home = Path(folder) / LEDGER, Path(folder) / HOME
        files = Artifacts(settings.data / ARTIFACTS, clock)

        def read(connection: Connection) -> tuple[str, frozenset[str]]:
            with in_read_snapshot(connection), gzip.open(rows, "wb", 6) as file:
                dump_rows(connection, file.write)
                if schema_status(connection) == "ok":
                    return NEWEST, referenced_hashes(connection)
                return schema_version(connection) or "", like_hashes(connection)

        schema, wanted = await ledger.look(read)
        if schema != NEWEST:
            wanted = wanted.intersection(await files.hashes())
        await asyncio.to_thread(_pack, settings.home, home)
        made = [home, rows]
        if passphrase:
            made.append(Path(folder) / KEYS)
            made[-1].write_bytes(await asyncio.to_thread(seal_keys, settings.data, passphrase))
        parts = {each.name: await asyncio.to_thread(sha256_of, each) for each in made}
        heads = await asyncio.to_thread(check_ledger, rows)
        manifest = BackupManifest(
            format=FORMAT,
            program=__version__,
            schema=schema,
            at=at,
            home=settings.home.name,
            parts=parts,
            heads=dict(heads),
            files=tuple(sorted(wanted)),
        )
        try:
            manifest = await _written(store, name, made, manifest, files)
        except Exception:
            with suppress(BackupError):
                await store.drop(name)
            raise
    await note_erasures(ledger, store)
    last = msgspec.json.encode(LastBackup(at, store.where, name))
    (settings.data / LAST).write_bytes(last)
    log.info("backup %s: %d events in %s", name, manifest.events, store.where)
    return name, manifest


async def _written(
    store: BackupStore, name: str, made: list[Path], manifest: BackupManifest, files: Artifacts
) -> BackupManifest:
    """Put everything there, and its manifest last."""
    for each in made:
        await store.write(f"{name}/{each.name}", each)
    for each in made:
        await fetch_backup_part(store, name, each.name, manifest, each.with_name("again"))
    manifest = await _kept(manifest, files, store)
    await store.write(f"{name}/{MANIFEST}", msgspec.json.format(msgspec.json.encode(manifest)))
    return manifest


def _sweep(data: Path, now: datetime) -> None:
    """Remove what backups that were killed had packed so far."""
    for left in data.glob(f"{WORK}*/"):
        if now - datetime.fromtimestamp(left.stat().st_mtime, UTC) > DEAD:
            shutil.rmtree(left, ignore_errors=True)


async def fetch_backup_part(
    store: BackupStore, name: str, part: str, manifest: BackupManifest, to: Path
) -> None:
    """Bring a part of a backup into a file. Raises DamagedBackup where it is another."""
    await store.fetch(f"{name}/{part}", to)
    if await asyncio.to_thread(sha256_of, to) != manifest.parts.get(part):
        raise DamagedBackup(f"{name}/{part} in {store.where} is not what was written there.")


def check_ledger(rows: Path) -> Anchors:
    """Derive every hash of these rows again; the heads. Raises DamagedBackup."""
    try:
        return verify_dump(ledger_lines(rows))
    except LedgerBroken as error:
        raise DamagedBackup(f"The ledger in this backup is damaged: {error}") from error


def ledger_lines(rows: Path) -> Iterator[bytes]:
    """The lines of a backup's ledger, one by one. Raises DamagedBackup."""
    try:
        with gzip.open(rows, "rb") as file:
            yield from iter(partial(file.readline, LONGEST), b"")
    except (EOFError, OSError, zlib.error) as error:
        raise DamagedBackup(f"The ledger in this backup is damaged: {error}") from error


async def _kept(manifest: BackupManifest, files: Artifacts, store: BackupStore) -> BackupManifest:
    """Put files where backups are that are not there yet; the manifest, with those that are lost.

    One that is there in another size than in the home was broken off, and is put there anew, as is
    one that a check noted to be damaged.
    While parts of an unfinished backup lie there nobody takes a file away.
    """
    absent, damaged, put = set[str](), set[str](), set[str]()
    here, kept, noted = await files.sizes(), await store.files.sizes(), await store.damaged()
    torn = {hash for hash, size in kept.items() if here.get(hash, size) != size}
    for hash in {*manifest.files}.difference(kept.keys() - torn - noted):
        try:
            data = await files.get(hash)
        except Unknown:
            absent.add(hash)
        except DamagedArtifact as error:
            log.warning("it is put into no backup: %s", error)
            damaged |= {hash} - torn
        else:
            await store.files.put(data)
            put.add(hash)
    for hash in noted - (kept.keys() - put):
        await store.forget_damaged(hash)
    return msgspec.structs.replace(
        manifest,
        files=tuple(hash for hash in manifest.files if hash not in absent | damaged),
        absent=tuple(sorted(absent)),
        damaged=tuple(sorted(damaged)),
    )


def _pack(home: Path, into: Path) -> None:
    with tarfile.open(into, "w:gz", dereference=True) as tar:
        for path in _packed(home):
            try:
                tar.add(path, path.relative_to(home).as_posix(), recursive=False)
            except FileNotFoundError:
                continue  # a run or a mate that was taken away just now


def _packed(home: Path) -> Iterator[Path]:
    yield from (home / name for name in (FILE, SAVED) if (home / name).exists())
    for folder in FOLDERS:
        yield from (path for path in sorted((home / folder).rglob("*")) if path.is_file())
    yield from sorted(home.glob(RECORDS))


async def note_erasures(ledger: Tables, store: BackupStore) -> None:
    """Note beside the backups what was forgotten, so that none of them brings it back."""
    known = await store.erased()

    def unnoted(connection: Connection) -> list[Event]:
        ids = connection.execute(select(events.c.id).where(events.c.kind == "ledger.erased"))
        new = [id for id in ids.scalars() if id not in known]
        rows = [connection.execute(select(events).where(events.c.id == id)).one() for id in new]
        return events_of(connection, rows)

    for event in await ledger.look(unnoted):
        assert isinstance(event.body, Erased)
        await store.write(f"erased/{event.id}", "\n".join(event.body.refs).encode())


def last_backup(settings: Settings) -> LastBackup | None:
    """The last backup of this home; None if none was made."""
    try:
        return msgspec.json.decode((settings.data / LAST).read_bytes(), type=LastBackup)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
