"""loopforge memory: what mates keep of people, as somebody at the machine sees and changes it.

An item is named by its mate and its number in that mate's memory. A running host takes everything
up by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from loopforge.cli import Handle, Json, Yes, is_confirmed, print_json, print_rows, run_with_app
from loopforge.errors import Unknown

if TYPE_CHECKING:
    from loopforge.app import App
    from loopforge.chat.memories.memory_service import Belief, MemoryReader

T = TypeVar("T")
app = typer.Typer(no_args_is_help=True, help="What mates keep of people, and whether it holds.")
Number = Annotated[int, typer.Argument(help="The item's number, as `list` shows it.", min=1)]
Whose = Annotated[str, typer.Option("--mate", help="Only of this mate.")]


def _reader() -> MemoryReader:
    from loopforge.chat.memories.memory_service import MemoryReader

    return MemoryReader("")


@app.command("list")
def list_items(
    context: typer.Context,
    person: Annotated[
        str, typer.Option("--person", help="Only what concerns this person, by name or id.")
    ] = "",
    mate: Whose = "",
    lines: Annotated[
        bool, typer.Option("--lines", help="With the lines that each rests on.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List what mates remember: mate, number, what it says, from when, whether it still holds."""
    from loopforge.chat.memories.belief_wording import belief_labels, belief_row

    async def work(app: App) -> tuple[list[Belief], Any]:
        await app.people.refresh()
        found = await app.memory.memories.beliefs(_reader(), mate, all=True)
        if mate and not found:
            app.roster.get(mate)
        if person:
            from loopforge.cli.people_command import person_called

            wanted = (await person_called(app.people, person, forgotten=True)).id
            found = [one for one in found if wanted in _concerned(app, one)]
        return found, app.live.zone

    found, zone = run_with_app(context, work)
    rows = {one.item.id: one for one in found}

    def line(row: dict[str, Any]) -> str:
        one = rows[row["id"]]
        told = (
            f"{row['mate']}\t{row['number']}\t{row['text']}\t{', '.join(belief_labels(one, zone))}"
        )
        for each in one.evidence if lines else ():
            at = f"{each.at.astimezone(zone):%Y-%m-%d %H:%M}"
            told += f"\n\t\t{at} {each.who} in {each.room}: {each.text}"
        return told

    print_rows([belief_row(one) for one in found], as_json, line, "No mate keeps anything of that.")


def _concerned(app: App, one: Belief) -> set[str]:
    item = one.item
    return {app.people.same(each) for each in item.about or (item.told_by,) if each}


def run_on_memory_item(
    context: typer.Context,
    mate: str,
    number: int,
    work: Callable[[App, MemoryReader, Belief], Coroutine[Any, Any, T]],
) -> T:
    """Do something with one item."""

    async def find(app: App) -> T:
        await app.people.refresh()
        reader = _reader()
        try:
            found = await app.memory.memories.find(reader, mate, number)
        except Unknown:
            app.roster.get(mate)  # of whom there is not, it is said first
            raise
        return await work(app, reader, found)

    return run_with_app(context, find)


@app.command()
def correct(
    context: typer.Context,
    mate: Handle,
    number: Number,
    text: Annotated[str, typer.Argument(help="What it is to say instead.")],
) -> None:
    """Change what an item says; `undo` takes it back."""
    run_on_memory_item(
        context, mate, number, lambda app, who, one: app.memory.memories.correct(who, one, text)
    )
    typer.echo("Corrected.")


@app.command()
def lock(
    context: typer.Context,
    mate: Handle,
    number: Number,
    off: Annotated[bool, typer.Option("--off", help="Take that back.")] = False,
) -> None:
    """Lock an item: from now on only a person can change it."""
    run_on_memory_item(
        context, mate, number, lambda app, who, one: app.memory.memories.lock(who, one, on=not off)
    )
    typer.echo("Unlocked: what mates learn may change it, too." if off else "It stands.")


@app.command()
def drop(context: typer.Context, mate: Handle, number: Number) -> None:
    """Let an item go, so that no mate uses it; `loopforge memory restore` brings it back."""
    run_on_memory_item(
        context, mate, number, lambda app, who, one: app.memory.memories.drop(who, one)
    )
    typer.echo("Let go.")


@app.command()
def restore(context: typer.Context, mate: Handle, number: Number) -> None:
    """Let an item be used again that was let go, flagged or replaced."""
    run_on_memory_item(
        context, mate, number, lambda app, who, one: app.memory.memories.restore(who, one)
    )
    typer.echo("It holds again.")


@app.command()
def forget(context: typer.Context, mate: Handle, number: Number, yes: Yes = False) -> None:
    """Forget an item for good, in every wording, with what was made of it."""

    async def work(app: App, reader: MemoryReader, one: Belief) -> str:
        question = f"Forget “{one.text}”, and what was made of it? This cannot be undone."
        if not is_confirmed(question, yes):
            return "Nothing was forgotten."
        done = await app.memory.memories.forget(reader, one)
        rest = "" if done.clean else " Somebody was reading; traces go with the next erasure."
        return f"Forgotten: {len(done.refs)} texts.{rest}"

    typer.echo(run_on_memory_item(context, mate, number, work))


@app.command()
def undo(
    context: typer.Context,
    mate: Annotated[str, typer.Argument(help="Only of this mate; else of any.")] = "",
) -> None:
    """Take back the last change that was made here, at the machine."""
    done = run_with_app(context, lambda app: app.memory.memories.undo(_reader(), mate))
    typer.echo(f"Taken back: {done}.")


@app.command()
def audit(context: typer.Context, as_json: Json = False) -> None:
    """Check that the lines that memories rest on still stand; flag where they do not, and count."""

    async def work(app: App) -> list[dict[str, Any]]:
        import msgspec

        await app.memory.audit.settle_all()
        return [
            {"mate": mate, **msgspec.to_builtins(await app.memory.memories.figures(mate))}
            for mate in await app.memory.memories.mates()
        ]

    rows = run_with_app(context, work)
    if as_json:
        print_json(rows)
        return
    for row in rows:
        figures = ", ".join(f"{key.replace('_', ' ')} {row[key]}" for key in row if key != "mate")
        typer.echo(f"{row['mate']}\t{figures}")
    if not rows:
        typer.echo("No mate keeps anything.")
