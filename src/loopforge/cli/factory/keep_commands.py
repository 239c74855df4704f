"""loopforge lab rename, delete: the commands that keep many runs in order."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loopforge.cli import Yes, settings_from_context
from loopforge.cli.factory.run_playing import Source, run_found, runs_of
from loopforge.errors import InputError

if TYPE_CHECKING:
    from loopforge.setting_defaults import Settings


def rename(
    context: typer.Context,
    folder: Source,
    title: Annotated[str, typer.Argument(help="What to call it; nothing takes that back.")] = "",
) -> None:
    """Say what a run is called on pages. Its name stays: links, forks and the ledger know it."""
    from loopforge.lab.run.run_label import entitle, label_of
    from loopforge.lab.run.run_log import log_of

    place = log_of(run_found(settings_from_context(context), folder)).parent
    entitle(place, title)
    typer.echo(f"{place.name} is called {label_of(place).title or place.name}.")


def delete(context: typer.Context, folder: Source, yes: Yes = False) -> None:
    """Delete a run for good: its log, and all that lies in its folder. Its name is not given again.

    Refused while it is being played. Forks of it stay whole.
    """
    from loopforge.core.text.spoken_lists import join_as_prose
    from loopforge.lab.run.run_deletion import contents_of
    from loopforge.lab.run.run_log import log_of

    there = settings_from_context(context)
    place = log_of(run_found(there, folder)).parent
    if place.resolve().parent != runs_of(there).resolve():
        raise InputError(
            f"{place} is none of the runs that are kept in {runs_of(there)}; remove its folder."
        )
    parts = contents_of(place)
    question = (
        f"Delete {place.name}? {join_as_prose(parts.names)}, {parts.size:,} bytes in all, go."
    )
    if not (yes or typer.confirm(f"{question} This cannot be undone.")):
        typer.echo("Nothing was deleted.")
        return
    asyncio.run(_delete(there, place))
    typer.echo("Deleted.")


async def _delete(there: Settings, place: Path) -> None:
    from loopforge.factory_opening import open_run
    from loopforge.lab.run.run_deletion import delete_run
    from loopforge.runtime.system_clock import SystemClock

    async with open_run(there, place, asks=False) as (_, witness):
        head = delete_run(place, SystemClock().now())
        if witness is not None:
            await witness.deleted(head)
