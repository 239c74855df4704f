"""loopforge backup: the home's ledger, files, mates and settings, kept somewhere else."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from loopforge.cli import existing_settings, settings_from_context
from loopforge.core.egress.hidden_signs import as_visible_row
from loopforge.core.text.spoken_lists import pluralize
from loopforge.errors import BackupError, InputError, LoopforgeError

if TYPE_CHECKING:
    from loopforge.backup.backup_store import BackupManifest, BackupStore

COMMANDS = (
    *("add", "all", "check", "create", "delete", "help", "info", "list", "ls", "make", "new"),
    *("now", "prune", "remove", "restore", "rm", "run", "show", "start", "status", "verify"),
)
"""Words that people type where other programs have commands; no folder is made of them."""
NO_COMMAND = (
    "`{word}` is no command of `loopforge backup`; nothing was made. `loopforge backup FOLDER` "
    "makes a backup there (a folder of that name is ./{word}), with --list it says which "
    "there are, with --check newest it looks whether one is whole; `loopforge "
    "restore` brings one back."
)


def command(
    context: typer.Context,
    to: Annotated[
        str,
        typer.Argument(help="A folder, or a bucket such as s3://NAME/PATH. Else `backup_to`."),
    ] = "",
    listed: Annotated[
        bool, typer.Option("--list", help="Only say which backups there are.")
    ] = False,
    with_keys: Annotated[
        bool,
        typer.Option("--with-keys", help="Keys and tokens too, sealed by a passphrase."),
    ] = False,
    check: Annotated[
        str, typer.Option("--check", help="Only check this one, such as its name or `newest`.")
    ] = "",
) -> None:
    """Make a backup, also while the home runs, and check it.

    Keys and tokens are left out unless you say --with-keys: then a passphrase that seals them
    is asked for, or read from standard input, and kept nowhere. The setting `backup_keep` says
    how many older ones are kept. `loopforge restore` brings one back.
    """
    from loopforge.backup.backup_retention import prune_backups
    from loopforge.backup.backup_store import BackupStore
    from loopforge.backup.make_backup import back_up
    from loopforge.ledger_opening import open_tables_of
    from loopforge.runtime.plugins.setting_checks import parse_retention_rule
    from loopforge.runtime.system_clock import SystemClock

    if to.lower() in COMMANDS:
        raise InputError(NO_COMMAND.format(word=to))
    there = settings_from_context(context) if listed or check else existing_settings(context)
    if not (where := to or there.backup_to):
        raise InputError("Say where to: `loopforge backup FOLDER`, or set `backup_to`.")
    passphrase = ask_passphrase("The passphrase for the keys", again=True) if with_keys else ""
    store, clock = BackupStore(where, SystemClock()), SystemClock()

    async def work() -> None:
        if listed:
            for name in await store.names():
                typer.echo(await _line(store, name))
            return
        if check:
            await _checked(store, check)
            return
        async with open_tables_of(there) as ledger:
            name, manifest = await back_up(there, ledger, store, clock, passphrase)
        typer.echo(f"Made and checked: {told(name, manifest)}")
        for each in await prune_backups(store, parse_retention_rule(there.backup_keep)):
            typer.echo(f"Not kept any longer: {each}")

    asyncio.run(work())


def ask_passphrase(what: str, *, again: bool = False) -> str:
    """A passphrase, typed without being shown, or from standard input. Raises InputError."""
    from loopforge.backup.sealed_keys import SHORTEST

    if sys.stdin.isatty():
        found = str(typer.prompt(f"{what} (it is not shown)", hide_input=True))
        if again and typer.prompt("Once more", hide_input=True) != found:
            raise InputError("These are two different passphrases; nothing was made.")
    else:
        found = sys.stdin.readline().rstrip("\n")
    if len(found) < SHORTEST:
        raise InputError(f"A passphrase has {SHORTEST} characters or more.")
    return found


async def _checked(store: BackupStore, name: str) -> None:
    import tempfile
    from pathlib import Path

    from loopforge.artifacts.artifact_store import is_hash
    from loopforge.backup.restore_backup import fetch_verified_backup, kept_files, newest_backup

    name = await newest_backup(store) if name == "newest" else name
    with tempfile.TemporaryDirectory() as folder:
        manifest = await fetch_verified_backup(store, name, Path(folder))
    lost = [hash async for hash, data in kept_files(store, manifest) if data is None]
    for hash in lost:
        typer.echo(as_visible_row(f"damaged or gone: {store.where}/files/{hash[:2]}/{hash}"))
    if lost:
        then = "The next backup brings anew what the home has."
        try:
            for hash in filter(is_hash, lost):
                await store.note_damaged(hash)
        except BackupError:  # by keys that only read
            then = "Delete what is damaged there: the next backup brings it anew."
        raise BackupError(
            f"Of {pluralize(len(manifest.files), 'file')} {len(lost)} cannot be brought back; all "
            f"else in {name} can. {then}"
        )
    typer.echo(f"All of it is as it was written: {told(name, manifest)}")


async def _line(store: BackupStore, name: str) -> str:
    try:
        return told(name, await store.manifest(name))
    except LoopforgeError as error:
        return as_visible_row(f"{name}  {error}")


def told(name: str, manifest: BackupManifest) -> str:
    """A backup in one line."""
    files = f"{len(manifest.files)} files"
    if manifest.absent:
        files += f", {len(manifest.absent)} files forgotten meanwhile"
    if manifest.damaged:
        files += (
            f", not {pluralize(len(manifest.damaged), 'file')} that the home's disk has damaged"
        )
    return as_visible_row(
        f"{name}  {manifest.events} events, {files}, by Loopforge {manifest.program}"
    )
