"""loopforge mate merge: take into one mate what another became, each conflict decided by a person.

At a terminal it asks; elsewhere, decisions come as options, and without them nothing is done but
told.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from loopforge.cli import Json, print_json, run_with_app
from loopforge.errors import InputError

if TYPE_CHECKING:
    from loopforge.app import App
    from loopforge.core.growth.growth_events import MergeTake
    from loopforge.core.mates.file_merge import FileConflict
    from loopforge.mates.mate_merging import MergePlan

WAYS = {"a": "as it is in the first", "b": "as it is in the second", "both": "both"}


def merge(
    context: typer.Context,
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
    if not given and as_json:
        print_json(run_with_app(context, lambda app: _told(app, one, other)))
        return

    async def work(app: App) -> MergePlan:
        plan = await app.growth.merging.plan(one, other)
        takes = read_takes(given, plan)
        if not given and plan.about and sys.stdin.isatty():
            takes = {each.about: _asked(each, one, other) for each in plan.conflicts}
        elif not given and plan.about:
            shown = "\n".join(_shown(each, one, other) for each in plan.conflicts)
            raise InputError(f"Say --take for each of these; nothing was merged.\n{shown}")
        await app.growth.merging.merge(plan, takes)
        return plan

    plan = run_with_app(context, work)
    if as_json:
        print_json(_plain(plan))
        return
    told = [f"taken from @{other}: {', '.join(plan.taken)}"] if plan.taken else []
    told += [f"memories: {plan.kept}"] if plan.kept else []
    told += [f"decided: {', '.join(plan.about)}"] if plan.about else []
    typer.echo(
        f"@{one} took in @{other} ({'; '.join(told)}). `loopforge mate undo {one}` undoes it."
    )


async def _told(app: App, one: str, other: str) -> dict[str, Any]:
    return _plain(await app.growth.merging.plan(one, other))


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
