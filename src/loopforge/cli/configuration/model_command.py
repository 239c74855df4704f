"""loopforge model: larger models that run inside the program, in llama.cpp's file format."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loopforge.cli import Json, Yes, is_confirmed, print_rows, run_with_app, settings_from_context
from loopforge.errors import InputError

if TYPE_CHECKING:
    from loopforge.app import App
    from loopforge.models.files.model_library import LibraryRow, ModelLibrary
    from loopforge.setting_defaults import Settings

app = typer.Typer(no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="Its name in `loopforge model list`.")]
SHOWN_EVERY = 1.0


def _library(there: Settings) -> ModelLibrary:
    from loopforge.models.files.model_library import ModelLibrary

    return ModelLibrary(there.data, there.embedded_files_from)


@app.command("list")
def list_files(context: typer.Context, as_json: Json = False) -> None:
    """List the models' files that are here and those that can be fetched, with what they need."""
    from msgspec import to_builtins

    there = settings_from_context(context)
    rows = _library(there).rows(there.embedded_file)
    lines = {row.name: _line(row) for row in rows}
    print_rows([to_builtins(row) for row in rows], as_json, lambda row: lines[row["name"]], "None.")


def _line(row: LibraryRow) -> str:
    state = "in use" if row.used else "here" if row.here else "can be fetched"
    line = f"{row.name}: {state}, {row.size / 1e9:.2f} GB"
    if row.known:
        line += f", {row.known.memory / 1e9:.1f} GB of memory, {row.known.licence}"
    return line if row.fits else f"{line}; more memory than this machine has"


@app.command()
def fetch(context: typer.Context, name: Name, yes: Yes = False) -> None:
    """Fetch a model's file; a download that broke off goes on from where it stood."""
    there = settings_from_context(context)
    library = _library(there)
    row = next((row for row in library.rows(there.embedded_file) if row.name == name), None)
    if row and not row.here:
        typer.echo(_line(row), err=True)
        if not is_confirmed(f"Fetch it from {there.embedded_files_from}?", yes, err=True):
            raise typer.Exit(1)
    asyncio.run(_fetch(library, name))
    typer.echo(f"{name} is here. `loopforge model use {name}` lets it answer.")


async def _fetch(library: ModelLibrary, name: str) -> None:
    task = library.start(name)
    progress = library.progress(name)
    while not task.done():
        await asyncio.wait([task], timeout=SHOWN_EVERY)
        if sys.stderr.isatty() and progress.size:
            done = f"{progress.have / 1e6:,.0f} of {progress.size / 1e6:,.0f} MB"
            typer.echo(f"\r{done}", nl=False, err=True)
    if sys.stderr.isatty():
        typer.echo(err=True)
    library.ended(name)


@app.command()
def use(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help='Its name in the list; "" for the small one.')],
) -> None:
    """Let this file's model answer; a home that runs changes over at once."""
    from loopforge.host_lock import home_holder_pid
    from loopforge.models.try_loading import check_loads

    there = settings_from_context(context)
    if name:
        check_loads(_library(there).path(name))

    async def change(app: App) -> Any:
        await app.live.change("embedded_file", name or None, "terminal")
        return next(each for each in app.live.states() if each.row.name == "embedded_file")

    state = run_with_app(context, change)
    if state.fixed:
        raise InputError(f"{state.row.variable} is set and comes before this; change it there.")
    called = name or "The small model"
    if home_holder_pid(there.home) is None:
        typer.echo(f"{called} answers from the next start on.")
    else:
        typer.echo(f"{called} answers in a moment: the home that runs loads it now.")


@app.command()
def add(
    context: typer.Context, file: Annotated[Path, typer.Argument(help="A file of format GGUF.")]
) -> None:
    """Take a model's file that you have: it is copied into this home."""
    name = _library(settings_from_context(context)).add(file)
    typer.echo(f"{name} is here. `loopforge model use {name}` lets it answer.")


@app.command()
def remove(context: typer.Context, name: Name) -> None:
    """Delete a model's file from this home."""
    there = settings_from_context(context)
    if name == there.embedded_file:
        raise InputError(f'{name} is in use; first `loopforge model use ""` or another one.')
    _library(there).remove(name)
    typer.echo(f"{name} is gone.")
