"""loopforge mate history, diff, undo, fork, traits, story, merge: what became of a mate.

Whoever runs these commands on the machine decides as its owner does, and sees all that is on
record. What changed on disk while the home did not run is put on record first where something is to
be changed; what only looks, changes nothing. A merge asks about each conflict at a terminal;
elsewhere decisions come as options, and without them nothing is done but told.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from loopforge.cli import Handle, Json, in_home, print_json, print_rows, run_with_app
from loopforge.core.limits.line_matching import unified_diff_rows
from loopforge.errors import InputError, Unknown

if TYPE_CHECKING:
    from datetime import datetime

    from loopforge.app import App
    from loopforge.core.growth.growth_events import MergeTake
    from loopforge.core.mates.file_merge import FileConflict
    from loopforge.core.mates.mate_changes import MateChange
    from loopforge.mates.mate_merging import MergePlan

MACHINE, ITSELF = "at the machine", "itself"
Number = Annotated[int | None, typer.Argument(help="A change, by its number in `history`.", min=0)]


@in_home
async def history(home: App, handle: Handle, as_json: Json = False) -> None:
    """Every change of a mate that is on record, newest first: number, when, version, by whom, what.

    Its file changed, a trait was approved, it was forked, merged, or a change was undone.
    """
    rows, behind = await _history(home, handle)

    def line(row: dict[str, Any]) -> str:
        version = row["hash"] or "(file went away)"
        return "\t".join((str(row["number"]), row["at"], version, row["by"], row["what"]))

    print_rows(rows, as_json, line, "")
    if behind and not as_json:
        typer.echo("The file is another one now; that version is recorded when the home runs.")


async def _history(app: App, handle: str) -> tuple[list[dict[str, Any]], bool]:
    """The rows, and whether the file is another than the newest of them."""
    found = await app.growth.changes.changes(handle)
    if not found:
        raise Unknown(f"No version of a mate {handle!r} is on record.")
    rows = [_row(app, one) for one in found[::-1]]
    mate = app.roster.mates().get(handle)
    return rows, (mate.hash if mate else "") != found[-1].hash


def _row(app: App, one: MateChange) -> dict[str, Any]:
    nobody = {"written": "on disk", "gone": "on disk", "memory": ITSELF}.get(one.kind, MACHINE)
    return {
        "number": one.number,
        "at": _at(app, one.at),
        "hash": one.hash,
        "by": person_name(app, one.by) if one.by else nobody,
        "what": one.told,
    }


def _at(app: App, moment: datetime) -> str:
    from zoneinfo import ZoneInfo

    zone = ZoneInfo(app.settings.timezone)
    return moment.astimezone(zone).isoformat(sep=" ", timespec="seconds")


def person_name(app: App, by: str) -> str:
    """What somebody is called, or their id where nobody knows."""
    person = app.people.person(by)
    return str(person.name) if person else by


@in_home
async def diff(
    home: App,
    handle: Handle,
    number: Number = None,
    other: Annotated[
        int | None,
        typer.Argument(help="Another, to compare with; else the one before.", min=0),
    ] = None,
    as_json: Json = False,
) -> None:
    """What a change did to a mate's file (without a number: the newest), or two side by side."""
    changes = await home.growth.changes.changes(handle)
    last = len(changes) if number is None else number
    first = max(last - 1, 0)
    if other is not None:
        first, last = last, other
    elif number is not None:
        await home.growth.changes.change(handle, number)
    before, after = await home.growth.changes.diff(handle, first, last)
    if as_json:
        print_json({"from": first, "to": last, "before": before, "after": after})
        return
    was, now = before.splitlines(), after.splitlines()
    lines = unified_diff_rows(was, now, f"{handle} {first}", str(last))
    typer.echo("\n".join(lines) or "Nothing is different.")


@in_home
async def undo(
    home: App,
    handle: Handle,
    number: Annotated[
        int | None, typer.Argument(help="A change, by its number; else the newest.", min=1)
    ] = None,
) -> str:
    """Take a change of a mate back; what came after it stays. Undone once more, it is done again.

    A running home goes by it at once. Where a later change touched the same lines, nothing is
    written.
    """
    change = await home.growth.changes.undo(handle, number or 0)
    return f"Change {change.number} ({change.told}) is taken back; it stays on record."


@in_home
async def fork(
    home: App,
    handle: Handle,
    name: Annotated[str, typer.Argument(help='What the new one is called, such as "Maya Two".')],
    new_handle: Annotated[
        str, typer.Option("--handle", help="Its handle; else made from its name.")
    ] = "",
    number: Annotated[
        int | None, typer.Option("--at", help="As it was after this change; else as it is.", min=0)
    ] = None,
) -> str:
    """Make two mates of one: the new one begins as the other is, and each goes on from there."""
    made = await home.growth.forking.fork(handle, name, new_handle=new_handle, number=number)
    return f"{made.name} (@{made.handle}) is made, as a fork of @{handle}. It runs at once."


def traits(
    context: typer.Context,
    handle: Annotated[str, typer.Argument(help="A mate's handle; without it, all.")] = "",
    yes: Annotated[str, typer.Option("--yes", help="Say yes to the proposal of this id.")] = "",
    no: Annotated[str, typer.Option("--no", help="Say no to it.")] = "",
    as_json: Json = False,
) -> None:
    """What mates ask to have changed in themselves, and why; --yes changes it, --no does not.

    Of an id the last characters are enough.
    """
    if yes and no:
        raise InputError("Say --yes or --no, not both.")
    if yes or no:
        one = run_with_app(
            context, lambda app: app.growth.traits.decide(yes or no, approved=bool(yes))
        )
        how = f"is {one.after} from now on" if yes else "stays as it is"
        typer.echo(f"{one.mate}: {one.trait} {how}.")
        return

    async def work(app: App) -> list[dict[str, Any]]:
        if handle:
            await app.growth.changes.changes(handle)
        return [
            {
                "id": one.id,
                "mate": one.mate,
                "at": _at(app, one.at),
                "trait": one.trait,
                "before": one.before or "",
                "after": one.after,
                "why": one.why,
                "lines": list(one.lines),
            }
            for one in await app.growth.traits.open(handle)
        ]

    def line(row: dict[str, Any]) -> str:
        change = f"{row['trait']}: {row['before'] or '(none)'} -> {row['after']}"
        return "\t".join((row["id"], row["mate"], row["at"], change, row["why"]))

    print_rows(run_with_app(context, work), as_json, line, "Nobody asks to be changed.")


@in_home
async def story(home: App, handle: Handle, as_json: Json = False) -> None:
    """How a mate grew, told in sentences, each with the events and lines that it rests on."""
    from loopforge.mates.growth_story import StoryReader

    async def reader(_lines: Sequence[str]) -> StoryReader:
        return StoryReader(lambda by: person_name(home, by), lambda _lines: True)

    def line(row: dict[str, Any]) -> str:
        return f"{row['at']}  {row['text']}  [{' '.join(id[-8:] for id in row['events'])}]"

    rows = [
        {
            "at": _at(home, one.at),
            "text": one.text,
            "change": one.number,
            "events": list(one.events),
            "lines": list(one.lines),
        }
        for one in await home.growth.changes.story(handle, reader)
    ]
    print_rows(rows, as_json, line, "Nothing is on record of it yet.")


# ---------------------------------------------------------------- merging


@in_home
async def merge(
    home: App,
    one: Annotated[str, typer.Argument(help="The mate that takes in the other.")],
    other: Annotated[str, typer.Argument(help="The other; it stays as it is.")],
    take: Annotated[
        list[str] | None,
        typer.Option(
            "--take",
            help="a, b or both for every conflict, or for one of them: traits.patience=b. Repeat.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Take into one mate what another became. Conflicts are shown, and decided by you.

    What only one of the two changed since they were one is taken unasked. At a terminal each
    conflict is asked; else say --take. With --json and no --take nothing is changed: it tells what
    there is.
    """
    given = take or []
    plan = await home.growth.merging.plan(one, other)
    if not given and as_json:
        print_json(_plain(plan))
        return
    takes = read_takes(given, plan)
    if not given and plan.about and sys.stdin.isatty():
        takes = {each.about: _asked(each, one, other) for each in plan.conflicts}
    elif not given and plan.about:
        shown = "\n".join(_shown(each, one, other) for each in plan.conflicts)
        raise InputError(f"Say --take for each of these; nothing was merged.\n{shown}")
    await home.growth.merging.merge(plan, takes)
    if as_json:
        print_json(_plain(plan))
        return
    told = [f"taken from @{other}: {', '.join(plan.taken)}"] if plan.taken else []
    told += [f"memories: {plan.kept}"] if plan.kept else []
    told += [f"decided: {', '.join(plan.about)}"] if plan.about else []
    typer.echo(
        f"@{one} took in @{other} ({'; '.join(told)}). `loopforge mate undo {one}` undoes it."
    )


def _plain(plan: MergePlan) -> dict[str, Any]:
    return {
        "into": plan.a,
        "from": plan.b,
        "common_origin": plan.origin,
        "taken": list(plan.taken),
        "memories": plan.kept,
        "conflicts": [each._asdict() for each in plan.conflicts],
    }


def read_takes(given: Sequence[str], plan: MergePlan) -> dict[str, MergeTake]:
    """What was said with --take: one word for all, words for some. Raises InputError."""
    from loopforge.core.growth.growth_events import MergeTake

    ways: tuple[MergeTake, ...] = get_args(MergeTake)
    takes: dict[str, MergeTake] = {}
    for each in given:
        about, _, word = each.rpartition("=")
        way = next((one for one in ways if one == word), None)
        if way is None:
            raise InputError(f"--take {each}: say a, b or both, or such as traits.patience=b.")
        if about:
            takes[about] = way
            continue
        named = {e.about: way if way in e.takes else None for e in plan.conflicts}
        if left := [name for name, one in named.items() if one is None and name not in takes]:
            raise InputError(f"Of {', '.join(left)} both cannot be had; say a or b for each.")
        takes = dict.fromkeys(named, way) | takes
    return takes


def _shown(one: FileConflict, a: str, b: str) -> str:
    was = [f"  it was: {_short(one.base)}"] if one.base else []
    sides = [f"  a @{a}: {_short(one.a)}", f"  b @{b}: {_short(one.b)}"]
    return "\n".join([f"{one.about} ({', '.join(one.takes)})", *was, *sides])


def _short(text: str) -> str:
    return text.replace("\n", "\n      ") or "(nothing)"


def _asked(one: FileConflict, a: str, b: str) -> MergeTake:
    """Ask whoever sits there."""
    from click import Choice

    typer.echo(_shown(one, a, b))
    answer: MergeTake = typer.prompt("Take", type=Choice(list(one.takes)))
    return answer


COMMANDS: tuple[Callable[..., None], ...] = (history, diff, undo, fork, traits, story, merge)
