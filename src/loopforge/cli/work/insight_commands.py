"""loopforge work insights: what attempts at tasks taught mates, and what people do with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from loopforge.cli import Handle, Json, print_rows, run_with_app
from loopforge.cli.memory_command import correct, drop, lock, run_on_memory_item
from loopforge.cli.work.task_watching import person_of, replace_unprintable

if TYPE_CHECKING:
    from loopforge.app import App
    from loopforge.chat.memories.memory_service import Belief, MemoryReader
    from loopforge.core.work.work_vocabulary import AttemptScored
    from loopforge.work.learning.insight_book import InsightShown

insights = typer.Typer(
    no_args_is_help=True, help="What attempts at tasks taught mates, and what becomes of it."
)
Number = Annotated[int, typer.Argument(help="The insight's number, as `list` shows it.", min=1)]


@insights.command("list")
def list_insights(
    context: typer.Context,
    mate: Annotated[str, typer.Option("--mate", help="Only of this mate.")] = "",
    as_json: Json = False,
) -> None:
    """List what mates learned, the best first: uses, scores with and without, which task."""

    async def work(home: App) -> list[dict[str, Any]]:
        book = home.work.tasks.world.learning.book
        mates = [mate] if mate else await home.memory.memories.mates()
        return [_row(one) for each in mates for one in await book.insights(each)]

    def line(row: dict[str, Any]) -> str:
        marks = [f"used {row['uses']} times"]
        if row["uses"] and row["without"] >= 0:
            marks.append(f"scores {row['given']:.0f} with it, {row['without']:.0f} without")
        marks += [row["state"]] if row["state"] != "held" else []
        marks += ["locked"] if row["locked"] else []
        source = f"from the task {row['task'][-8:]}" if row["task"] else ""
        told = ", ".join(filter(None, (*marks, source)))
        return replace_unprintable(f"{row['mate']}  {row['number']}  {row['text']}  ({told})")

    print_rows(
        run_with_app(context, work), as_json, line, "No mate learned anything from a task yet."
    )


def _row(one: InsightShown) -> dict[str, Any]:
    """An insight for programs."""
    item = one.item
    return {
        "mate": item.mate,
        "number": item.seq,
        "text": str(item.text),
        "state": item.state,
        "locked": item.locked,
        "task": one.task,
        "thread": item.room,
        "learned_by": item.learned_by or item.mate,
        **one.worth._asdict(),
        "lift": one.worth.lift,
        "worth": one.worth.worth,
    }


for _change in (correct, lock, drop):  # an insight is an item of memory, by the same number
    insights.command()(_change)


@insights.command()
def give(
    context: typer.Context,
    mate: Handle,
    number: Number,
    to: Annotated[str, typer.Argument(help="The mate or role that is to know it, too.")],
) -> None:
    """Give an insight to another mate, in its present words."""

    async def work(home: App, _reader: MemoryReader, one: Belief) -> None:
        person = await person_of(home)
        await home.work.tasks.world.learning.book.give(one.item, to, person)

    run_on_memory_item(context, mate, number, work)
    typer.echo(f"{to} knows it, too.")


@insights.command("compare")
def compare_arms(context: typer.Context, as_json: Json = False) -> None:
    """Compare attempts that were given what was learned with those that were not, with intervals.

    `work_learning = "split"` in loopforge.toml has each task be one or the other by lot.
    """
    from loopforge.work.learning.insight_book import compare_learning_arms

    async def work(home: App) -> list[AttemptScored]:
        return await home.work.tasks.world.learning.book.attempts()

    rows = run_with_app(context, work)

    def line(row: dict[str, Any]) -> str:
        return (
            f"{row['arm']:<9} {row['attempts']:>4} attempts, mean score {row['mean']:.0f} "
            f"({row['low']:.0f} to {row['high']:.0f})"
        )

    print_rows(
        [one._asdict() for one in compare_learning_arms(rows)],
        as_json,
        line,
        "No attempt was scored yet.",
    )
