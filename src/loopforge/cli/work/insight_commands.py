"""loopforge work insights: what attempts at tasks taught mates, and what people do with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from loopforge.cli import Handle, Json, in_home, print_rows
from loopforge.cli.memory_command import correct, drop, lock, memory_item
from loopforge.cli.work.task_watching import person_of, replace_unprintable

if TYPE_CHECKING:
    from loopforge.app import App
    from loopforge.work.learning.insight_book import InsightShown

insights = typer.Typer(
    no_args_is_help=True, help="What attempts at tasks taught mates, and what becomes of it."
)
Number = Annotated[int, typer.Argument(help="The insight's number, as `list` shows it.", min=1)]


@insights.command("list")
@in_home
async def list_insights(
    home: App,
    mate: Annotated[str, typer.Option("--mate", help="Only of this mate.")] = "",
    as_json: Json = False,
) -> None:
    """List what mates learned, the best first: uses, scores with and without, which task."""
    book = home.work.tasks.world.learning.book
    mates = [mate] if mate else await home.memory.memories.mates()
    rows = [_row(one) for each in mates for one in await book.insights(each)]

    def line(row: dict[str, Any]) -> str:
        marks = [f"used {row['uses']} times"]
        if row["uses"] and row["without"] >= 0:
            marks.append(f"scores {row['given']:.0f} with it, {row['without']:.0f} without")
        marks += [row["state"]] if row["state"] != "held" else []
        marks += ["locked"] if row["locked"] else []
        source = f"from the task {row['task'][-8:]}" if row["task"] else ""
        told = ", ".join(filter(None, (*marks, source)))
        return replace_unprintable(f"{row['mate']}  {row['number']}  {row['text']}  ({told})")

    print_rows(rows, as_json, line, "No mate learned anything from a task yet.")


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
@in_home
async def give(
    home: App,
    mate: Handle,
    number: Number,
    to: Annotated[str, typer.Argument(help="The mate or role that is to know it, too.")],
) -> str:
    """Give an insight to another mate, in its present words."""
    one = await memory_item(home, mate, number)
    await home.work.tasks.world.learning.book.give(one.item, to, await person_of(home))
    return f"{to} knows it, too."


@insights.command("compare")
@in_home
async def compare_arms(home: App, as_json: Json = False) -> None:
    """Compare attempts that were given what was learned with those that were not, with intervals.

    `work_learning = "split"` in loopforge.toml has each task be one or the other by lot.
    """
    from loopforge.work.learning.insight_book import compare_learning_arms

    rows = compare_learning_arms(await home.work.tasks.world.learning.book.attempts())

    def line(row: dict[str, Any]) -> str:
        return (
            f"{row['arm']:<9} {row['attempts']:>4} attempts, mean score {row['mean']:.0f} "
            f"({row['low']:.0f} to {row['high']:.0f})"
        )

    print_rows([one._asdict() for one in rows], as_json, line, "No attempt was scored yet.")
