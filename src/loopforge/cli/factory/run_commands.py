"""loopforge lab run, fork, scenarios, rename, delete: the commands that make runs, and end them."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loopforge.cli import Yes, is_confirmed, print_rows, settings_from_context
from loopforge.cli.factory.run_playing import (
    AsJson,
    Fallback,
    Model,
    RunOptions,
    RunOrSweep,
    Source,
    find_run_folder,
    name_for_command,
    play_and_report,
    run_found,
    runs_of,
    scenarios_of,
    sweeps_of,
)
from loopforge.errors import BadRun, InputError

if TYPE_CHECKING:
    from loopforge.lab.run.robot_minds import Minds
    from loopforge.lab.run.run_counts import RunCounts
    from loopforge.lab.run.run_lifecycle import Progress
    from loopforge.lab.world.scenario_checks import Scenario
    from loopforge.setting_defaults import Settings

PolicyName = Annotated[
    str,
    typer.Option(
        "--policy",
        help="stub, guardrail, context, llm, chain, mate:NAME, or one that is installed.",
    ),
]
SupervisorKind = Annotated[
    str | None,
    typer.Option("--supervisor", help="supportive, punitive, apathetic, gaslighting or incentive."),
]
SetTrait = Annotated[
    list[str] | None,
    typer.Option(
        "--set-trait", help="TRAIT=0..1000 for all robots but the Supervisor; may be repeated."
    ),
]
Ablate = Annotated[
    list[str] | None,
    typer.Option(
        "--ablate",
        help="emotions, traits, scars, bonds, reflection, voice or cue; may be repeated.",
    ),
]
ActionLog = Annotated[
    Path | None,
    typer.Option("--action-log", help="A file to append all rows to, besides the run's own."),
]


def run(
    context: typer.Context,
    scenario: Annotated[
        str, typer.Argument(help="A scenario by name, or a .toml file; see `lab scenarios`.")
    ] = "",
    policy: PolicyName = "stub",
    days: Annotated[int | None, typer.Option("--days", help="How many days.")] = None,
    steps_per_day: Annotated[
        int | None, typer.Option("--steps-per-day", help="Steps in each day.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="The dice. Same seed, same run.")
    ] = None,
    perception: Annotated[
        str | None, typer.Option("--perception", help="accurate, partial or spin.")
    ] = None,
    supervisor: SupervisorKind = None,
    pressure: Annotated[
        int | None, typer.Option("--pressure", help="Quota pressure, a dose from 0 to 10.")
    ] = None,
    set_trait: SetTrait = None,
    ablate: Ablate = None,
    supervisor_policy: Annotated[
        str, typer.Option("--supervisor-policy", help="The Supervisor's own mind.")
    ] = "overseer",
    reflect: Annotated[
        str, typer.Option("--reflect", help="How days are looked back on: template or llm.")
    ] = "template",
    model: Model = "",
    fallback: Fallback = False,
    out: Annotated[
        Path | None, typer.Option("--out", help="The run's folder; else a new one.")
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on with the run in --out, where it was cut off. Once it is begun, it is what "
            "its first row says, whatever else is given here.",
        ),
    ] = False,
    action_log: ActionLog = None,
    as_json: AsJson = False,
) -> None:
    """Run a scenario.

    Everything that happens is written to the run's folder, row by row; killed at any moment, it can
    be taken up with --resume and ends with the same bytes. Exits with 3 if more than one decision
    in twenty was not answered.
    """
    from loopforge.lab.run import run_folder
    from loopforge.lab.run.fork_change import parse_key_values
    from loopforge.lab.run.run_lifecycle import RunChoice
    from loopforge.lab.world.scenario_file import open_scenario

    there, wish = settings_from_context(context), RunOptions(model, fallback, as_json)
    beside = run_folder.action_log(action_log or there.action_log_path)
    if resume and (out or scenario):
        folder = find_run_folder(there, out or Path(scenario))
        run_folder.refuse_run_of_sweep(folder)
        if _begun(folder):
            _go_on(there, folder, beside, wish)
            return
        if not (out and scenario):
            raise BadRun(f"Nothing was written in {folder} yet; name the scenario to begin it.")
        out = folder
    if not scenario:
        raise InputError("Name a scenario, such as first_shift; `loopforge lab scenarios` lists.")
    traits = _whole(parse_key_values(set_trait or [], "--set-trait"))
    taken_out = tuple(ablate) if ablate else None
    choice = RunChoice(
        seed, days, steps_per_day, perception, supervisor, pressure, traits, taken_out
    )
    mind = {"policy": policy, "supervisor": supervisor_policy, "reflects": reflect}
    _begin(
        there, choice.apply(open_scenario(scenario, scenarios_of(there))), mind, out, beside, wish
    )


def _whole(table: dict[str, str]) -> dict[str, int]:
    for key, value in table.items():
        if not value.isdecimal():
            raise InputError(f"{key} takes a whole number from 0 to 1000, not {value!r}.")
    return {key: int(value) for key, value in table.items()}


def _begun(folder: Path) -> bool:
    """Whether a run's first row is there; a log that holds none is taken away."""
    from loopforge.lab.run.run_log import LOG, hold, lines_of

    if not (folder / LOG).exists():
        return False
    with hold(folder):
        if next(lines_of(folder), None) is not None:
            return True
        (folder / LOG).unlink()
    return False


def _begin(
    there: Settings,
    scenario: Scenario,
    mind: dict[str, str],
    out: Path | None,
    beside: Path,
    wish: RunOptions,
) -> None:
    from loopforge.lab.run.robot_minds import PLAIN
    from loopforge.lab.run.run_lifecycle import simulate

    named = f"{scenario.name}-{mind['policy'].replace(':', '-')}-{scenario.seed}"
    asks = {mind["policy"], mind["supervisor"]} - set(PLAIN) or mind["reflects"] != "template"
    with _new_folder(out, named, there) as folder:

        async def work(minds: Minds, progress: Progress) -> RunCounts:
            minds.policy, minds.supervisor = mind["policy"], mind["supervisor"]
            minds.reflects = mind["reflects"]
            return await simulate(scenario, minds, out=folder, beside=beside, progress=progress)

        play_and_report(there, folder, scenario, work, wish, asks=bool(asks))


@contextmanager
def _new_folder(out: Path | None, name: str, there: Settings) -> Iterator[Path]:
    """The folder that was named, or a new one, which goes again where nothing came of it."""
    from loopforge.lab.run.run_folder import free_folder

    folder = out or free_folder(name, runs_of(there))
    try:
        yield folder
    finally:
        if out is None:
            with suppress(OSError):
                folder.rmdir()


def _go_on(there: Settings, folder: Path, beside: Path, wish: RunOptions) -> None:
    from loopforge.lab.run.run_lifecycle import asks_models, resume_run
    from loopforge.lab.run.run_log import began_of
    from loopforge.lab.world.scenario_checks import Scenario

    first = began_of(folder)

    async def work(minds: Minds, progress: Progress) -> RunCounts:
        return await resume_run(folder, minds, beside=beside, progress=progress)

    scenario = Scenario.from_dict(first.scenario)
    play_and_report(there, folder, scenario, work, wish, asks=asks_models(first), resumed=True)


def fork(
    context: typer.Context,
    source: Source,
    at: Annotated[int, typer.Option("--at", help="The step from which on it is another run.")],
    changes: Annotated[
        list[str],
        typer.Option(
            "--set",
            help="KEY=VALUE; may be repeated: pressure=9, supervisor=punitive, perception=spin, "
            "policy=context, policy.NAME=guardrail, robot.NAME.traits.TRAIT=900, "
            "robot.NAME.battery=40, place.NAME.heat=950, luck.NAME=5, ablate=emotions.",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", help="The new run's folder; else a new one.")
    ] = None,
    model: Model = "",
    fallback: Fallback = False,
    as_json: AsJson = False,
) -> None:
    """Take a run up to a step, change one thing there, and see what becomes of it."""
    from loopforge.lab.run import run_folder, run_lifecycle
    from loopforge.lab.run.fork_change import parse_key_values
    from loopforge.lab.run.run_log import began_of
    from loopforge.lab.world.scenario_checks import Scenario

    there = settings_from_context(context)
    origin = run_found(there, source)
    what = parse_key_values(changes, "--set")
    first = began_of(origin)
    beside = run_folder.action_log(there.action_log_path)
    scenario, wish = Scenario.from_dict(first.scenario), RunOptions(model, fallback, as_json)
    asks = run_lifecycle.asks_models(first, what)
    with _new_folder(out, f"{origin.name}-at-{at}", there) as folder:

        async def work(minds: Minds, progress: Progress) -> RunCounts:
            return await run_lifecycle.fork_run(
                origin, folder, at, what, minds, beside=beside, progress=progress
            )

        then = (
            f"loopforge lab diff {name_for_command(there, origin)} "
            f"{name_for_command(there, folder)}"
        )
        play_and_report(there, folder, scenario, work, wish, asks=asks, then=then)


def scenarios(context: typer.Context, as_json: AsJson = False) -> None:
    """List the scenarios, each with the question it asks."""
    from loopforge.lab.world.scenario_file import listed_scenarios

    rows: list[dict[str, Any]] = []
    for each in listed_scenarios(scenarios_of(settings_from_context(context))):
        if each.scenario:
            told = {"question": each.scenario.question, "about": each.scenario.about}
        else:
            told = {"problem": f"(cannot be used) {each.problem}"}
        rows.append({"name": each.key, "own": each.own, **told})
    width = max(len(row["name"]) for row in rows)

    def line(row: dict[str, Any]) -> str:
        return f"{row['name']:{width}}  {row.get('question') or row['problem']}"

    print_rows(rows, as_json, line, "")


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
    from loopforge.lab.run.run_folder import refuse_run_of_sweep
    from loopforge.lab.run.run_log import LOG
    from loopforge.lab.sweeps.sweep_results import WRITTEN

    there = settings_from_context(context)
    main = main_file(find_run_folder(there, folder))
    place = main.parent
    refuse_run_of_sweep(place)
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
