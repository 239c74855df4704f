"""loopforge lab: run the Factory, look at what came of it, and keep many runs in order."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loopforge.cli import Yes, is_confirmed, settings_from_context
from loopforge.cli.factory import inspect_commands, run_commands
from loopforge.cli.factory.run_playing import RunOrSweep, find_run_folder, runs_of, sweeps_of
from loopforge.errors import BadRun

if TYPE_CHECKING:
    from loopforge.setting_defaults import Settings


def rename(
    context: typer.Context,
    folder: RunOrSweep,
    title: Annotated[str, typer.Argument(help="What to call it; nothing takes that back.")] = "",
) -> None:
    """Say what a run or a sweep is called on pages. Its name stays: links and ledger know it."""
    from loopforge.lab.run.run_deletion import main_file
    from loopforge.lab.run.run_folder import entitle, label_of

    place = main_file(find_run_folder(settings_from_context(context), folder)).parent
    entitle(place, title)
    typer.echo(f"{place.name} is called {label_of(place).title or place.name}.")


def delete(context: typer.Context, folder: RunOrSweep, yes: Yes = False) -> None:
    """Delete a run or a sweep for good, and all that lies in its folder.

    Its name is not given again; forks of a run stay whole. Refused while it is being played. Of a
    folder elsewhere only what the lab wrote goes, and the folder if nothing is left in it.
    """
    from loopforge.core.text.spoken_lists import join_as_prose
    from loopforge.lab.run.run_deletion import contents_of, main_file
    from loopforge.lab.run.run_folder import EXPERIMENT
    from loopforge.lab.run.run_log import LOG
    from loopforge.lab.sweeps.sweep_results import WRITTEN

    there = settings_from_context(context)
    main = main_file(find_run_folder(there, folder))
    place = main.parent
    if (place.resolve().parent.parent / EXPERIMENT).exists():
        raise BadRun(f"{place.name} is one of the runs of a sweep, which says what they came to.")
    own = place.resolve().parent in (runs_of(there).resolve(), sweeps_of(there).resolve())
    only = () if own else (LOG,) if main.name == LOG else WRITTEN
    parts = contents_of(place, only)
    question = (
        f"Delete {place.name}? {join_as_prose(parts.names)}, {parts.size:,} bytes in all, go."
    )
    if not is_confirmed(f"{question} This cannot be undone.", yes):
        typer.echo("Nothing was deleted.")
        return
    asyncio.run(_delete(there, place, only))
    typer.echo(f"Deleted. Other files in {place} stay." if only and place.exists() else "Deleted.")


async def _delete(there: Settings, place: Path, only: Collection[str]) -> None:
    from loopforge.factory_opening import open_run
    from loopforge.lab.run.run_deletion import delete_run
    from loopforge.runtime.system_clock import SystemClock

    async with open_run(there, place, asks=False) as (_, witness):
        told = witness.deleted if witness else None
        await delete_run(place, SystemClock().now(), told, only)


app = typer.Typer(
    no_args_is_help=True,
    help="Run the Factory, a city of robots where rules conflict with reality, and see what comes.",
)


for command in (
    run_commands.run,
    run_commands.scenarios,
    inspect_commands.verify,
    inspect_commands.story,
    inspect_commands.why,
    run_commands.fork,
    inspect_commands.diff,
    inspect_commands.audit,
    inspect_commands.sweep,
    inspect_commands.report,
    inspect_commands.export,
    rename,
    delete,
):
    app.command()(command)
