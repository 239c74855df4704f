"""loopforge memory: what mates keep of people, as somebody at the machine sees and changes it.

An item is named by its mate and its number in that mate's memory. A running host takes everything
up by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from loopforge.cli import Handle, Json, Yes, in_home, is_confirmed, print_json, print_rows
from loopforge.errors import Unknown

if TYPE_CHECKING:
    from loopforge.app import App
    from loopforge.chat.memories.memory_service import Belief, MemoryReader

app = typer.Typer(no_args_is_help=True, help="What mates keep of people, and whether it holds.")
Number = Annotated[int, typer.Argument(help="The item's number, as `list` shows it.", min=1)]
Whose = Annotated[str, typer.Option("--mate", help="Only of this mate.")]


def _reader() -> MemoryReader:
    from loopforge.chat.memories.memory_service import MemoryReader

    return MemoryReader("")


@app.command("list")
@in_home
async def list_items(
    home: App,
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
    from loopforge.cli.people_command import person_called

    await home.people.refresh()
    found = await home.memory.memories.beliefs(_reader(), mate, all=True)
    if mate and not found:
        home.roster.get(mate)
    if person:
        wanted = (await person_called(home.people, person, forgotten=True)).id
        found = [one for one in found if wanted in _concerned(home, one)]
    rows, zone = {one.item.id: one for one in found}, home.live.zone

    def line(row: dict[str, Any]) -> str:
        one = rows[row["id"]]
        told = (
            f"{row['mate']}\t{row['number']}\t{row['text']}\t{', '.join(belief_labels(one, zone))}"
        )
        for each in one.evidence if lines else ():
            at = f"{each.at.astimezone(zone):%Y-%m-%d %H:%M}"
            told += f"\n\t\t{at} {each.who} in {each.room}: {each.text}"
        return told

    none = "No mate keeps anything of that." if mate or person else "No mate keeps anything yet."
    print_rows([belief_row(one) for one in found], as_json, line, none)


def _concerned(app: App, one: Belief) -> set[str]:
    item = one.item
    return {app.people.same(each) for each in item.about or (item.told_by,) if each}


async def memory_item(home: App, mate: str, number: int) -> Belief:
    """The item of that number. Raises Unknown."""
    await home.people.refresh()
    try:
        return await home.memory.memories.find(_reader(), mate, number)
    except Unknown:
        home.roster.get(mate)  # of whom there is not, it is said first
        raise


@app.command()
@in_home
async def correct(
    home: App,
    mate: Handle,
    number: Number,
    text: Annotated[str, typer.Argument(help="What it is to say instead.")],
) -> str:
    """Change what an item says; `undo` takes it back."""
    one = await memory_item(home, mate, number)
    await home.memory.memories.correct(_reader(), one, text)
    return "Corrected."


@app.command()
@in_home
async def lock(
    home: App,
    mate: Handle,
    number: Number,
    off: Annotated[bool, typer.Option("--off", help="Take that back.")] = False,
) -> str:
    """Lock an item: from now on only a person can change it."""
    one = await memory_item(home, mate, number)
    await home.memory.memories.lock(_reader(), one, on=not off)
    return "Unlocked: what mates learn may change it, too." if off else "It stands."


@app.command()
@in_home
async def drop(home: App, mate: Handle, number: Number) -> str:
    """Let an item go, so that no mate uses it; `loopforge memory restore` brings it back."""
    await home.memory.memories.drop(_reader(), await memory_item(home, mate, number))
    return "Let go."


@app.command()
@in_home
async def restore(home: App, mate: Handle, number: Number) -> str:
    """Let an item be used again that was let go, flagged or replaced."""
    await home.memory.memories.restore(_reader(), await memory_item(home, mate, number))
    return "It holds again."


@app.command()
@in_home
async def forget(home: App, mate: Handle, number: Number, yes: Yes = False) -> str:
    """Forget an item for good, in every wording, with what was made of it."""
    one = await memory_item(home, mate, number)
    question = f"Forget “{one.text}”, and what was made of it? This cannot be undone."
    if not is_confirmed(question, yes):
        return "Nothing was forgotten."
    done = await home.memory.memories.forget(_reader(), one)
    rest = "" if done.clean else " Somebody was reading; traces go with the next erasure."
    return f"Forgotten: {len(done.refs)} texts.{rest}"


@app.command()
@in_home
async def undo(
    home: App,
    mate: Annotated[str, typer.Argument(help="Only of this mate; else of any.")] = "",
) -> str:
    """Take back the last change that was made here, at the machine."""
    return f"Taken back: {await home.memory.memories.undo(_reader(), mate)}."


@app.command()
@in_home
async def audit(home: App, as_json: Json = False) -> None:
    """Check that the lines that memories rest on still stand; flag where they do not, and count."""
    import msgspec

    memories = home.memory.memories
    await home.memory.audit.settle_all()
    rows: list[dict[str, Any]] = [
        {"mate": mate, **msgspec.to_builtins(await memories.figures(mate))}
        for mate in await memories.mates()
    ]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        figures = ", ".join(f"{key.replace('_', ' ')} {row[key]}" for key in row if key != "mate")
        typer.echo(f"{row['mate']}\t{figures}")
    if not rows:
        typer.echo("No mate keeps anything.")
