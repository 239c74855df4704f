"""loopforge work: give tasks to mates, watch them, steer them, and decide on what comes of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from loopforge.cli import (
    Json,
    Yes,
    existing_settings,
    in_home,
    is_confirmed,
    print_json,
    print_rows,
    settings_from_context,
)
from loopforge.cli.work.bench_command import bench
from loopforge.cli.work.insight_commands import insights
from loopforge.cli.work.task_watching import (
    act_and_watch,
    next_step_hint,
    person_of,
    replace_unprintable,
    repository_of,
    tell_folder,
    tell_uncommitted,
)
from loopforge.cli.work.watch_commands import watch
from loopforge.errors import BadLine
from loopforge.host_lock import home_holder_pid

if TYPE_CHECKING:
    from loopforge.app import App
    from loopforge.work.task_state import TaskState

app = typer.Typer(
    no_args_is_help=True, help="Give tasks to mates, watch them, and decide on what comes of them."
)
app.add_typer(insights, name="insights")
app.add_typer(watch, name="watch")
app.command()(bench)
Which = Annotated[str, typer.Argument(help="The task's id, or its last digits.")]


@app.command("run")
def run_task(
    context: typer.Context,
    task: Annotated[str, typer.Argument(help="What is to be done, in plain words.")],
    mate: Annotated[str, typer.Option("--mate", help="The mate that is to do it.")] = "",
    repo: Annotated[
        Path | None,
        typer.Option("--repo", help="A git repository it is to work on, in a clone of it."),
    ] = None,
    budget: Annotated[float, typer.Option("--budget", help="US dollars it may cost.", min=0)] = 0.0,
    thread: Annotated[
        str, typer.Option("--thread", help="The thread it belongs to; else one of its own.")
    ] = "",
    detach: Annotated[
        bool, typer.Option("--detach", help="Do not watch; the process that runs the home does it.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Give a task, and watch it until it is done, asks something, or stops.

    If this home is not running, this command runs it meanwhile. ctrl+c stops the task; `resume`
    goes on.
    """

    async def give(home: App, person: str) -> tuple[str, int]:
        if thread.startswith("room:") and not mate:
            raise BadLine("In a room nobody speaks without a name: say by --mate who is to do it.")
        name = await repository_of(home, repo)
        if name:
            await tell_uncommitted(home, name)
        id = await home.work.tasks.open(
            task, person, mate=mate, thread=thread, repo=name, budget=budget, owner=True
        )
        if detach:
            typer.echo(id)
        return id, 0

    raise typer.Exit(
        asyncio.run(
            act_and_watch(settings_from_context(context), give, watch=not detach, as_json=as_json)
        )
    )


LEFT = (
    "Nobody runs this home, so tasks stand that were left amid their work: `loopforge up` goes on "
    "with all of them, `loopforge work resume TASK` with one."
)


@app.command("list")
@in_home
async def list_tasks(home: App, as_json: Json = False) -> None:
    """List the tasks of this home, the newest first."""
    idle = home_holder_pid(home.settings.home) is None
    rows = [row_of(one, idle=idle) for one in await home.work.tasks.tasks()]

    def line(row: dict[str, Any]) -> str:
        stage = "left amid" if row["left_amid"] else row["stage"]
        head = f"{row['id'][-8:]}  {stage:<9} turn {row['turn']:>3}  "
        return replace_unprintable(
            f"{head}{row['confidence']:>5.1f}  ${row['cost']:<8} {row['task'][:60]}"
        )

    print_rows(rows, as_json, line, "There are no tasks yet.")
    if not as_json and any(row["left_amid"] for row in rows):
        typer.echo(LEFT)


def row_of(state: TaskState, *, idle: bool) -> dict[str, Any]:
    """A task for programs; `idle`: nobody runs the home."""
    found = state.classified
    return {
        "id": state.id,
        "task": str(state.task.text),
        "stage": state.stage,
        "left_amid": idle and state.at_work and not state.allowing,
        "allowing": [use.tool for use in state.allowing.values()],
        "mate": state.task.mate or (found.role if found else ""),
        "thread": state.thread,
        "type": found.task_type if found else "",
        "flow": found.flow if found else "",
        "complexity": found.complexity if found else "",
        "turn": state.turns,
        "confidence": state.confidence,
        "model": state.model or state.model_seen,
        "cost": str(state.dollars),
        "tokens": state.tokens,
        "read": list(state.read),
        "written": list(state.written),
        "plan": [str(step) for step in state.plan],
        "question": str(state.asked.question) if state.asked else "",
        "result": str(state.finished.result) if state.finished else "",
        "summary": str(state.summary) if state.summary else "",
        "commit": state.offered.commit if state.offered else "",
    }


@app.command("show")
@in_home
async def show_task(
    home: App,
    which: Which,
    diff: Annotated[bool, typer.Option("--diff", help="Show what it would merge, too.")] = False,
    as_json: Json = False,
) -> None:
    """Show a task: how it stands, its plan, its turns, and what came of it."""
    from loopforge.work.task_transcript import lines_of

    state = await home.work.tasks.store.named(which)
    idle = home_holder_pid(home.settings.home) is None
    if as_json:
        print_json(row_of(state, idle=idle))
        return
    typer.echo(replace_unprintable(f"{state.id}  {state.stage}"))
    for event in await home.ledger.read(state.stream):
        for row in lines_of(event, owner=True):
            typer.echo(replace_unprintable(row))
    if diff and state.offered is not None:
        for row in str(state.offered.diff).splitlines():
            typer.echo(replace_unprintable(row))
    if state.turns:
        turn = f"{state.id[-8:]}#{state.turns}"
        typer.echo(f"`loopforge why {turn}` tells how turn {state.turns} came about.")
    typer.echo(next_step_hint(state, idle=idle))
    tell_folder(home, state)


@app.command()
def say(
    context: typer.Context,
    which: Which,
    text: Annotated[str, typer.Argument(help="What the mate is to hear.")],
    as_json: Json = False,
) -> None:
    """Say something during a task: it steers the next turn, or answers a question.

    "no, just answer" has it done as another kind of task. If this home is not running, this
    command runs it meanwhile.
    """
    _go_on(context, which, lambda home, person: home.work.tasks.say(which, person, text), as_json)


@app.command()
@in_home
async def stop(home: App, which: Which) -> str:
    """Stop a task where it is; `resume` goes on from there."""
    return await home.work.tasks.stop(which, await person_of(home))


@app.command()
def resume(
    context: typer.Context,
    which: Which,
    budget: Annotated[
        float, typer.Option("--budget", help="US dollars it may cost beside those before.", min=0)
    ] = 0.0,
    as_json: Json = False,
) -> None:
    """Let a task go on from where it stopped, and watch it."""
    _go_on(
        context, which, lambda home, person: home.work.tasks.resume(which, person, budget), as_json
    )


@app.command()
def allow(context: typer.Context, which: Which, as_json: Json = False) -> None:
    """Say yes to the use of a tool that a task waits for, exactly as it was shown; and watch it."""
    _go_on(
        context,
        which,
        lambda home, person: home.work.tasks.allow(which, person, owner=True),
        as_json,
    )


@app.command()
def deny(
    context: typer.Context,
    which: Which,
    why: Annotated[str, typer.Argument(help="The reason, which the mate is told.")] = "",
    as_json: Json = False,
) -> None:
    """Say no to the use of a tool that a task waits for; it goes on without, and is watched."""
    _go_on(
        context,
        which,
        lambda home, person: home.work.tasks.allow(
            which, person, owner=True, yes=False, reason=why
        ),
        as_json,
    )


@app.command()
@in_home
async def approve(
    home: App,
    which: Which,
    commit: Annotated[
        str, typer.Option("--commit", help="The commit that you looked at: no other is merged.")
    ] = "",
) -> str:
    """Accept the result of a task: exactly the commit that was shown is merged, once."""
    return await home.work.tasks.approve(which, await person_of(home), commit)


@app.command()
@in_home
async def reject(
    home: App,
    which: Which,
    why: Annotated[str, typer.Argument(help="The reason, which stays on record.")] = "",
) -> str:
    """Refuse the result of a task: its branch is deleted; why is looked back on."""
    return await home.work.tasks.reject(which, await person_of(home), reason=why)


@app.command()
@in_home
async def undo(home: App, which: Which) -> str:
    """Take back the last change that a task made to files, with the talk about it; or its merge."""
    return await home.work.tasks.undo(which, await person_of(home))


@app.command()
@in_home
async def forget(home: App, which: Which, yes: Yes = False) -> str:
    """Forget a task for good: every word of it, its workspace, their copies, what rests on it.

    That there was one, when, and what it cost stays on record; what was merged stays merged.
    """
    person = await person_of(home)
    await home.work.tasks.store.named(which)
    question = "Every word and file of this task goes, and cannot be had back. Forget it?"
    if not is_confirmed(question, yes):
        return "Nothing was forgotten."
    return await home.work.forgetting.forget(which, person)


@app.command()
@in_home
async def rate(
    home: App,
    which: Which,
    up: Annotated[bool, typer.Option("--up/--down", help="Your thumb.")],
) -> str:
    """Give a thumb: up makes the mate surer of itself, down brings in another model."""
    after = await home.work.tasks.rate(which, await person_of(home), up=up)
    return f"Its confidence is {after:.0f} of 100 now."


@app.command()
@in_home
async def export(home: App, which: Which) -> None:
    """Write all that happened in a task, as lines of JSON."""
    from loopforge.ledger.jsonl_export import as_json_line

    async for event in home.work.tasks.export(which):
        typer.echo(as_json_line(event))


@app.command()
@in_home
async def calibration(home: App, as_json: Json = False) -> None:
    """Say how well confidence foretold what people accepted: Brier score, reliability."""
    score, bins = await home.work.tasks.calibration()
    if as_json:
        print_json({"brier": score, "reliability": [one._asdict() for one in bins]})
        return
    if score is None:
        typer.echo("No result was approved or rejected yet.")
        return
    typer.echo(f"Brier score {score:.3f} (0 is perfect, 0.25 is a coin)")
    for one in bins:
        typer.echo(f"thought {one.thought:.0%}, came {one.came:.0%}, of {one.tasks}")


@app.command("tiers")
@in_home
async def first_tiers(home: App, as_json: Json = False) -> None:
    """Say with which tier of models tasks of each type best begin, by what people approved before.

    `work_first_tier = "learned"` in loopforge.toml has tasks begin so.
    """
    from loopforge.core.work.first_tier import advice_of, cost_per_approval
    from loopforge.work.model_choice import decided_tasks

    rows = [
        {
            "type": one.type,
            "tier": one.tier,
            "regret": round(one.regret, 6),
            "records": [
                {**msgspec.structs.asdict(row), "price": round(cost_per_approval(row), 6)}
                for row in one.records
            ],
        }
        for one in advice_of(await decided_tasks(home.work.tasks.store))
    ]

    def line(row: dict[str, Any]) -> str:
        said = f"tier {row['tier']}" if row["tier"] else "too little is known"
        tiers = "; ".join(
            f"tier {one['tier']}: {one['approved']} of {one['tasks']} approved, "
            f"${one['price']:.4f} for each that is"
            for one in row["records"]
        )
        return f"{row['type']:<10} {said} ({tiers}); regret ${row['regret']:.4f}"

    print_rows(rows, as_json, line, "No result was approved or rejected yet.")


def _go_on(
    context: typer.Context,
    which: str,
    do: Callable[[App, str], Awaitable[str]],
    as_json: bool,
) -> None:
    """Have something done with a task, say what is told of it, and watch the task from there."""

    async def work(home: App, person: str) -> tuple[str, int]:
        from loopforge.work.task_transcript import lines_of

        state = await home.work.tasks.store.named(which)
        seen = state.seq
        told = await do(home, person)
        fresh = await home.ledger.read(state.stream, after=seen)
        if not as_json and [told] not in map(lines_of, fresh):  # those are told by the watching
            typer.echo(told)
        return state.id, seen

    raise typer.Exit(
        asyncio.run(act_and_watch(existing_settings(context), work, watch=True, as_json=as_json))
    )
