"""loopforge work watch: repositories in which new code is looked at, and docstrings are offered."""

from __future__ import annotations

import asyncio
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loopforge.cli import Json, existing_settings, in_home, print_rows
from loopforge.cli.work.task_watching import (
    TaskWatcher,
    join_or_run_home,
    next_step_hint,
    person_of,
    replace_unprintable,
    repository_of,
)
from loopforge.errors import BadLine

if TYPE_CHECKING:
    from loopforge.app import App
    from loopforge.work.watching.watch_service import WatchShown

watch = typer.Typer(
    no_args_is_help=True,
    help="Have new commits of a repository looked at, and missing docstrings offered on a branch.",
)
Repo = Annotated[str, typer.Argument(help="A registered repository, by its name or folder.")]


@watch.command("start")
@in_home
async def start_watch(
    home: App,
    repo: Annotated[Path, typer.Argument(help="The folder of a git repository.")],
    every: Annotated[
        str, typer.Option("--every", help='When it is looked at, such as "every day at 9:00".')
    ] = "every hour",
    budget: Annotated[
        float, typer.Option("--budget", help="US dollars that each task may cost.", min=0.01)
    ] = 0.5,
    mate: Annotated[str, typer.Option("--mate", help="The mate that writes them.")] = "",
    room: Annotated[str, typer.Option("--room", help="The room that is told of it.")] = "",
) -> str:
    """Watch a repository, or change how it is watched. What is there already is left as it is."""
    person = await person_of(home)
    thread = ""
    if room:
        state = await home.rooms.state(room)
        thread = state.stream
        if mate not in state.mates:
            raise BadLine("A room is told by a mate that is in it: name one with --mate.")
    name = await repository_of(home, repo)
    told = await home.work.watch.begin(name, person, every, budget, mate=mate, thread=thread)
    return f"It is looked at {told}."


@watch.command("list")
@in_home
async def list_watches(home: App, as_json: Json = False) -> None:
    """List the repositories that are watched: when, by whom, and what waits."""
    rows = [_row(one) for one in await home.work.watch.shown()]

    def line(row: dict[str, Any]) -> str:
        next_look = datetime.fromisoformat(row["next"]).strftime("%Y-%m-%d %H:%M")
        told = [f"next look {next_look}", f"${row['budget']:g} a task"]
        told += [f"by {row['mate']}"] if row["mate"] else []
        told += [f"{len(row['missing'])} docstrings wait"] if row["missing"] else []
        told += [f"task {row['task'][-8:]} is {row['stage']}"] if row["task"] else []
        told += [row["trouble"]] if row["trouble"] else []
        return replace_unprintable(f"{row['repo']:<16} {'; '.join(told)}")

    print_rows(rows, as_json, line, "No repository is watched.")


def _row(one: WatchShown) -> dict[str, Any]:
    """A watch for programs."""
    state = one.state
    assert state.began is not None
    return {
        "repo": state.repo,
        "rule": state.began.rule,
        "zone": state.began.zone,
        "next": one.next.isoformat() if one.next else "",
        "mate": state.began.mate,
        "budget": state.began.budget,
        "commit": state.mark,
        "missing": [f"{place.path}: {place.name}" for place in state.missing],
        "task": state.task,
        "stage": one.stage or "",
        "trouble": one.trouble,
    }


@watch.command("look")
def look_now(context: typer.Context, repo: Repo) -> None:
    """Look at a repository now, and watch the task that comes of it.

    If this home is not running, this command runs it meanwhile.
    """

    async def work() -> int:
        async with join_or_run_home(existing_settings(context)) as (home, here):
            person = await person_of(home)
            stream = await home.work.watch.want_look(repo, person)
            if not here:
                typer.echo("The process that runs this home looks at it now.")
                return 0
            await home.lanes.settled(stream)
            (row,) = [one for one in await home.work.watch.shown() if one.state.stream == stream]
            if row.stage in ("finished", "waiting", "stopped"):
                task = await home.work.tasks.store.named(row.state.task)
                typer.echo(f"Task {task.id[-8:]} is {row.stage}. {next_step_hint(task)}")
                return 0
            if row.stage is None:
                typer.echo(row.trouble or "No docstring is missing in what is new.")
                return 0
            return await TaskWatcher(home, here, as_json=False).watch(row.state.task, person)

    raise typer.Exit(asyncio.run(work()))


@watch.command("stop")
@in_home
async def stop_watch(home: App, repo: Repo) -> str:
    """Stop watching a repository; a task that is open stays."""
    return await home.work.watch.end(repo, await person_of(home))
