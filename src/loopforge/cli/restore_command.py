"""loopforge restore: a home from a backup."""

import asyncio
import shutil
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from loopforge.cli import settings_from_context
from loopforge.core.text.spoken_lists import pluralize
from loopforge.errors import InputError


def command(
    context: typer.Context,
    source: Annotated[
        str, typer.Argument(metavar="FROM", help="Where backups lie: a folder, or a bucket.")
    ],
    name: Annotated[
        str, typer.Option("--name", help="Which one; `loopforge backup --list` says.")
    ] = "newest",
    with_keys: Annotated[
        bool, typer.Option("--with-keys", help="The keys and tokens too that are sealed in it.")
    ] = False,
    ledger: Annotated[
        str,
        typer.Option("--ledger", help="Where the ledger is to be, in place of what was set."),
    ] = "",
) -> None:
    """Make a home from a backup, in an empty folder: `loopforge --home FOLDER restore FROM`.

    It may go to another kind of database: --ledger postgresql://USER@HOST/NAME, or
    sqlite:///PATH; its loopforge.toml names that, then. What was forgotten since the backup is
    forgotten again. Keys and tokens have to be given anew, unless they are in the backup:
    --with-keys asks for their passphrase.
    """
    from loopforge.backup.backup_store import KEYS, BackupStore
    from loopforge.backup.restore_backup import (
        fetch_verified_backup,
        newest_backup,
        restore_home,
        unpack_home,
    )
    from loopforge.backup.sealed_keys import restore_keys
    from loopforge.cli.backup_command import ask_passphrase
    from loopforge.home import make_home
    from loopforge.runtime.installation.settings_file import write_setting
    from loopforge.runtime.system_clock import SystemClock
    from loopforge.settings import with_ledger

    passphrase = ask_passphrase("The passphrase of the keys") if with_keys else ""
    there, clock = settings_from_context(context), SystemClock()
    store = BackupStore(source, clock)

    async def work() -> None:
        which = await newest_backup(store) if name == "newest" else name
        with tempfile.TemporaryDirectory() as folder:
            manifest = await fetch_verified_backup(store, which, Path(folder))
            keys = await asyncio.to_thread(_unsealed, Path(folder) / KEYS, passphrase)
            await asyncio.to_thread(unpack_home, Path(folder), there.home)
            try:
                make_home(there.home)
                found = with_ledger(settings_from_context(context), ledger)
                if ledger:
                    write_setting(found.file, "database_url", ledger)
                restore_keys(found.data, keys)
                done = await restore_home(found, store, manifest, Path(folder), clock)
            except BaseException:  # the ledger is not empty, say: the folder was, so it is again
                shutil.rmtree(there.home, ignore_errors=True)
                raise
        typer.echo(f"{there.home} is what it was in {which}: {manifest.events} events.")
        if done.forgotten:
            typer.echo(f"{done.forgotten} texts that were forgotten since are forgotten here, too.")
        if done.missing:
            typer.echo(
                f"Not here: {pluralize(done.missing, 'file')} that people gave; all else is. "
                f"`loopforge backup {source} --check {which}` names what is damaged or gone."
            )
        if (named := settings_from_context(context)).database_url != found.database_url:
            typer.echo(
                "Set `database_url` to where its ledger is now, before it is started: "
                f"{named.sources['database_url']} names another."
            )

    asyncio.run(work())


def _unsealed(part: Path, passphrase: str) -> dict[str, str]:
    """The files of keys; none without a passphrase."""
    from loopforge.backup.sealed_keys import unseal_keys

    if not passphrase:
        return {}
    if not part.exists():
        raise InputError("There are no keys in this backup; restore it without --with-keys.")
    return unseal_keys(part.read_bytes(), passphrase)
