"""loopforge lab sweep: the command that runs the cells of an experiment."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loopforge.cli import settings_from_context
from loopforge.cli.factory.run_playing import (
    NO_FINDING,
    AsJson,
    Fallback,
    Model,
    find_run_folder,
    name_for_command,
    refuse_unused_model,
    scenarios_of,
    sweeps_of,
)
from loopforge.errors import InputError

if TYPE_CHECKING:
    from loopforge.lab.sweeps.sweep_runner import SweepOutcome
    from loopforge.lab.sweeps.sweep_worker import MindsMaker
    from loopforge.setting_defaults import Settings


def sweep(
    context: typer.Context,
    experiment: Annotated[
        str,
        typer.Argument(
            help="An experiment by name (pressure, perception), a .toml file, or the "
            "experiment.json of a sweep."
        ),
    ],
    workers: Annotated[int, typer.Option("--workers", help="Processes to run it.", min=1)] = 1,
    out: Annotated[
        Path | None, typer.Option("--out", help="Its folder; one that has results goes on.")
    ] = None,
    cost_cap: Annotated[
        float | None, typer.Option("--cost-cap", help="Most US dollars to spend on models.")
    ] = None,
    keep_logs: Annotated[
        bool | None, typer.Option("--keep-logs/--no-logs", help="Keep every run's whole log.")
    ] = None,
    rescore: Annotated[
        bool, typer.Option("--rescore", help="Score all of it again from its tapes; asks nobody.")
    ] = False,
    model: Model = "",
    fallback: Fallback = False,
    as_json: AsJson = False,
) -> None:
    """Run all cells of an experiment, seed by seed. Stopped at any moment, it goes on from there.

    Exits with 1 where runs are missing in the end, such as at a cost cap; with 3 if more than one
    decision in twenty of any cell was not answered.
    """
    from msgspec.structs import replace

    from loopforge.lab.run.robot_minds import PLAIN
    from loopforge.lab.run.run_folder import EXPERIMENT
    from loopforge.lab.sweeps import sweep_runner as sweeps
    from loopforge.lab.sweeps.experiment_design import policies_of
    from loopforge.lab.sweeps.progress_bar import show_progress
    from loopforge.lab.sweeps.sweep_engines import engine_of

    there = settings_from_context(context)
    home = there.home if there.file.exists() else None
    if Path(experiment).name == EXPERIMENT:
        experiment = str(find_run_folder(there, Path(experiment).parent) / EXPERIMENT)
    layout = sweeps.laid_out(
        experiment,
        experiments=home / "experiments" if home else None,
        scenarios=scenarios_of(there),
    )
    name = layout.experiment.name
    folder = out or sweeps_of(there) / name
    if rescore:
        if model or fallback:
            option = "--model" if model else "--fallback"
            raise InputError(f"--rescore asks nobody anything: leave out {option}.")
        layout = sweeps.as_begun(layout, folder)
    if keep_logs is not None:
        layout = replace(layout, experiment=replace(layout.experiment, keep_logs=keep_logs))
    asks = bool(set(policies_of(layout)) - set(PLAIN))
    if not rescore:
        refuse_unused_model(model, fallback=fallback, asks=asks)
    with _said_if_interrupted(folder), show_progress(name) as watcher:
        swept = sweeps.sweep(
            layout,
            folder,
            engine=engine_of(workers),
            maker=minds_maker(there, model, fallback=fallback) if asks else None,
            cost_cap=cost_cap,
            rescore=rescore,
            watcher=watcher,
        )
    _conclude_sweep(there, folder, swept, name, as_json=as_json)


@contextmanager
def _said_if_interrupted(folder: Path) -> Iterator[None]:
    from loopforge.lab.sweeps.sweep_results import RESULTS

    try:
        yield
    except KeyboardInterrupt:
        if (folder / RESULTS).exists():
            kept = "Stopped. What was run is kept; the same command goes on from there."
            typer.echo(kept, err=True)
        raise


def _conclude_sweep(
    there: Settings, folder: Path, swept: SweepOutcome, name: str, *, as_json: bool
) -> None:
    """Say what came of a sweep, and what to do next; exits as `sweep` says."""
    from loopforge.lab.sweeps.sweep_results import answers_in, results_of, worst_of

    then = f"loopforge lab report {name_for_command(there, folder)}"
    if not there.file.exists() or folder.parent != sweeps_of(
        there
    ):  # else the home's page shows it
        then += f" -o {shlex.quote(name)}.html"
    results = results_of(folder)
    answers, worst = answers_in(results), worst_of(results)
    if as_json:
        told = {**asdict(swept), "folder": str(folder), "missing": swept.missing, "next": then}
        told |= {"answers": answers.line, "unanswered": round(worst.share, 4)}
        typer.echo(json.dumps(told, indent=2))
    else:
        typer.echo(answers.line)
        cost = f", for ${swept.cost:.4f}" if swept.cost else ""
        typer.echo(f"{name}: {swept.done} of {swept.runs} runs, in {folder}{cost}.")
        typer.echo(swept.stopped or f"Next: {then}")
    if swept.missing:
        raise typer.Exit(1)
    if not worst.counts:
        if not as_json:
            typer.echo(f"In the cell with most of it, {worst.warning}", err=True)
        raise typer.Exit(NO_FINDING)


def minds_maker(there: Settings, model: str, *, fallback: bool = False) -> MindsMaker:
    """How a worker makes this home's minds."""
    from loopforge.lab.sweeps.sweep_worker import MindsMaker

    asked = {"home": str(there.home), "model": model}
    return MindsMaker(
        "loopforge.factory_opening:worker_minds", {**asked, "fallback": True} if fallback else asked
    )
