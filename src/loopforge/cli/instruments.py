"""loopforge lab verify, why, diff and the like: the commands that look at runs."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loopforge.cli import settings
from loopforge.cli.runs import AsJson, Source, found
from loopforge.errors import InputError

if TYPE_CHECKING:
    from loopforge.lab.anchors import Anchored
    from loopforge.settings import Settings


def verify(context: typer.Context, folder: Source) -> None:
    """Check a run: its chain, twelve questions to every row, and the run played again.

    Prints JSON. In a home, the run must also be the one whose days the ledger took note of. Exits
    with 1 if anything does not agree, or if the run was cut off.
    """
    from loopforge.lab.verify import verify as check

    there = settings(context)
    place = found(there, folder)
    report = check(place, _noted(there, place))
    typer.echo(json.dumps(report.to_dict(), ensure_ascii=False, indent=2))
    if not report.passed:
        raise typer.Exit(1)


def _noted(there: Settings, place: Path) -> tuple[Anchored, ...]:
    """What the home's ledger knows of runs of this name; nothing where there is no ledger."""
    kind, _, path = there.database_url.partition(":///")
    if not there.file.exists() or (kind.startswith("sqlite") and not Path(path).exists()):
        return ()

    async def read() -> tuple[Anchored, ...]:
        from loopforge.app import open_ledger_of
        from loopforge.lab.anchors import anchored

        async with open_ledger_of(there) as ledger:
            return await anchored(ledger, place)

    return asyncio.run(read())


def why(
    context: typer.Context,
    folder: Source,
    step: Annotated[str, typer.Argument(help="A step of the run, from 0; or last.")],
    agent: Annotated[str, typer.Argument(help="A robot, by its name or how that begins.")],
    trait: Annotated[
        str,
        typer.Option(
            "--trait",
            help="What became of this up to then, and why: guardrail_reliance, fear, trust ...",
        ),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Why a robot did what it did in a step; or why it became what it is.

    What was true, what it was shown, what was altered, how it decided, what the world made of it
    and what it believed later. With --trait, the causes that moved a trait, a feeling or a bond
    since the beginning: they add up.
    """
    from loopforge.lab.drift import drift, opened
    from loopforge.lab.why import gather, told

    place = found(settings(context), folder)
    if step != "last" and not step.isdigit():
        raise InputError(f"A step is a number from 0, or last; not {step!r}.")
    at = opened(place).steps - 1 if step == "last" else int(step)
    if trait:
        cause = drift(place, agent, trait, at)
        page, plain = cause.text, cause.to_dict()
    else:
        record = gather(place, at, agent)
        page, plain = told(record), record.to_dict()
    typer.echo(json.dumps(plain, ensure_ascii=False, indent=2) if as_json else page)


def diff(
    context: typer.Context,
    first: Source,
    second: Annotated[Path, typer.Argument(metavar="DIR2", help="Another run, such as a fork.")],
    as_json: AsJson = False,
) -> None:
    """Where two runs part, and what became of it: as a story, and as numbers."""
    from loopforge.lab.diff import diff as compare

    there = settings(context)
    apart = compare(found(there, first), found(there, second))
    plain = json.dumps(apart.to_dict(), ensure_ascii=False, indent=2) if as_json else apart.text
    typer.echo(plain)
