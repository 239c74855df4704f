"""loopforge restore: a home from a backup."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from loopforge.cli import settings


def command(
    context: typer.Context,
    source: Annotated[
        str, typer.Argument(metavar="FROM", help="Where backups lie: a folder, or a bucket.")
    ],
    name: Annotated[
        str, typer.Option("--name", help="Which one; `loopforge backup --list` says.")
    ] = "newest",
    ledger: Annotated[
        str,
        typer.Option("--ledger", help="Where the ledger is to be, in place of what was set."),
    ] = "",
) -> None:
    """Make a home from a backup, in an empty folder (--home).

    Between SQLite and PostgreSQL, too: --ledger postgresql://USER@HOST/NAME, or sqlite:///PATH.
    What was forgotten since is forgotten again. Keys and tokens are to be given anew.
    """
    from loopforge.backup.backup_store import BackupStore
    from loopforge.backup.restore_backup import inspected, newest, restore, unpack
    from loopforge.home import make_home
    from loopforge.runtime.system_clock import SystemClock
    from loopforge.settings import with_ledger

    there, clock = settings(context), SystemClock()
    store = BackupStore(source, clock)

    async def work() -> None:
        which = await newest(store) if name == "newest" else name
        with tempfile.TemporaryDirectory() as folder:
            manifest = await inspected(store, which, Path(folder))
            await asyncio.to_thread(unpack, Path(folder), there.home)
            try:
                make_home(there.home)
                found = with_ledger(settings(context), ledger)
                forgotten = await restore(found, store, manifest, Path(folder), clock)
            except BaseException:  # the ledger is not empty, say: the folder was, so it is again
                shutil.rmtree(there.home, ignore_errors=True)
                raise
        typer.echo(f"{there.home} is what it was in {which}: {manifest.events} events.")
        if forgotten:
            typer.echo(f"{forgotten} texts that were forgotten since are forgotten here, too.")
        if ledger:
            typer.echo(f"Set `database_url` in {found.file} to where its ledger is now.")

    asyncio.run(work())
