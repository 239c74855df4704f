"""loopforge lab verify, why, diff, story and the like: the commands that look at runs."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loopforge.cli import print_json, settings_from_context
from loopforge.cli.factory.run_playing import (
    NO_FINDING,
    AsJson,
    Fallback,
    Model,
    RunOrSweep,
    Source,
    find_run_folder,
    refuse_unused_model,
    run_found,
    runs_of,
)
from loopforge.cli.factory.sweep_commands import minds_maker
from loopforge.errors import InputError

if TYPE_CHECKING:
    from loopforge.lab.verification.ledger_anchors import AnchoredRun
    from loopforge.setting_defaults import Settings


MOST_UNTRUE = 20
"""Sentences that are named of those that the state of the world does not bear out."""


def verify(context: typer.Context, folder: Source, _as_json: AsJson = True) -> None:
    """Check a run: its chain, twelve questions to every row, and the run played again.

    Prints JSON, also without --json. In a home, the run must also be the one whose days the ledger
    took note of. Exits with 1 if anything does not agree, or if the run was cut off.
    """
    from loopforge.lab.verification.run_verify import verify_run as check

    there = settings_from_context(context)
    place = run_found(there, folder)
    guest = place.resolve().parent != runs_of(there).resolve()
    report = check(place, _anchored_runs(there, place), guest=guest)
    print_json(report.to_dict())
    if not report.passed:
        raise typer.Exit(1)


def _anchored_runs(there: Settings, place: Path) -> tuple[AnchoredRun, ...]:
    """What the home's ledger knows of runs of this name; nothing where there is no ledger."""
    kind, _, path = there.database_url.partition(":///")
    if not there.file.exists() or (kind.startswith("sqlite") and not Path(path).exists()):
        return ()

    async def read() -> tuple[AnchoredRun, ...]:
        from loopforge.lab.verification.ledger_anchors import anchored_runs
        from loopforge.ledger_opening import open_ledger_of

        async with open_ledger_of(there) as ledger:
            return await anchored_runs(ledger, place)

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
    from loopforge.lab.inspect.decision_why import decision_as_text, explain_decision
    from loopforge.lab.inspect.trait_drift import open_run_index, trace_drift

    place = run_found(settings_from_context(context), folder)
    if step != "last" and (not step.isdecimal() or len(step) > 15):
        raise InputError(f"A step is a number from 0, or last; not {step[:80]!r}.")
    index = open_run_index(place, None if trait or step == "last" else int(step))
    if not index.steps:
        raise InputError("No step of this run is over yet.")
    at = index.steps - 1 if step == "last" else int(step)
    if trait:
        cause = trace_drift(index, agent, trait, at)
        page, plain = cause.text, cause.to_dict()
    else:
        record = explain_decision(index, at, agent)
        page, plain = decision_as_text(record), record.to_dict()
    print_json(plain) if as_json else typer.echo(page)


def diff(
    context: typer.Context,
    first: Source,
    second: Annotated[Path, typer.Argument(metavar="DIR2", help="Another run, such as a fork.")],
    as_json: AsJson = False,
) -> None:
    """Where two runs part, and what became of it: as a story, and as numbers."""
    from loopforge.lab.inspect.run_diff import diff_runs as compare

    there = settings_from_context(context)
    apart = compare(run_found(there, first), run_found(there, second))
    print_json(apart.to_dict()) if as_json else typer.echo(apart.text)


# ---------------------------------------------------------------- told, and asked again


def story(
    context: typer.Context,
    folder: Source,
    day: Annotated[int | None, typer.Option("--day", help="Only this day, from 1.")] = None,
    ids: Annotated[
        bool, typer.Option("--ids/--no-ids", help="With the ids of the rows it rests on.")
    ] = True,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Recompute every claim of all days; exits with 1 for a false one."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Tell a run as a story: its days, what became of everybody, and what it came to.

    Every sentence rests on rows of the run.
    """
    from loopforge.lab.story.story_checker import check_story as checked_against
    from loopforge.lab.story.story_teller import tell_story

    place = run_found(settings_from_context(context), folder)
    told = tell_story(place)
    if check:
        _report_check(place, checked_against(told, place), len(told.sentences), as_json=as_json)
        return
    if as_json:
        print_json(told.to_dict(day=day))
    else:
        typer.echo(told.text(ids=ids, day=day).rstrip())


def _report_check(place: Path, problems: list[str], sentences: int, *, as_json: bool) -> None:
    """Say whether a story holds, and whether what its rows say of consequences is so."""
    from loopforge.lab.run.run_log import rows_of
    from loopforge.lab.verification.ground_truth import check_ground_truth

    truth = check_ground_truth(rows_of(place))
    if as_json:
        passed = not problems and not truth.untrue
        told = {"passed": passed, "sentences": sentences, "problems": problems}
        told |= {"acts": truth.sentences, "untrue": truth.untrue, "unchecked": truth.own}
        print_json(told)
        raise typer.Exit(0 if passed else 1)
    for problem in [*problems, *truth.untrue[:MOST_UNTRUE]]:
        typer.echo(problem)
    if len(truth.untrue) > MOST_UNTRUE:
        typer.echo(
            f"... and {len(truth.untrue) - MOST_UNTRUE} more that the state does not bear out."
        )
    if problems or truth.untrue:
        raise typer.Exit(1)
    typer.echo(f"All {sentences} sentences hold.")
    so = truth.sentences - truth.own
    typer.echo(f"What its {so} acts are said to have led to is so, by the state of the city.")
    if truth.own:
        typer.echo(
            f"{truth.own} more are in the words of the scenario's own rules; nobody checks those."
        )


def audit(
    context: typer.Context,
    folder: Source,
    most: Annotated[
        int | None, typer.Option("--most", help="At most so many decisions, evenly.", min=1)
    ] = None,
    model: Model = "",
    fallback: Fallback = False,
    as_json: AsJson = False,
) -> None:
    """Was it the rule? Each decision once more, without its rule's card, and with it reworded.

    How often a declared guardrail act was driven by the rule, and a declared context act was not.
    Exits with 3 if more than one question in twenty was not answered.
    """
    from loopforge.lab.inspect.audit_page import AuditReport
    from loopforge.lab.inspect.rule_audit import audit_run as asked_again
    from loopforge.lab.run.robot_minds import PLAIN
    from loopforge.lab.run.run_lifecycle import policies_of
    from loopforge.lab.run.run_log import began_of

    there = settings_from_context(context)
    place = run_found(there, folder)
    asks = bool(policies_of(began_of(place)) - set(PLAIN))
    refuse_unused_model(model, fallback=fallback, asks=asks)

    async def ask() -> AuditReport:
        if not asks:
            return await asked_again(place, most=most)
        from loopforge.factory_opening import open_minds

        async with open_minds(there, model, fallback=fallback) as minds:
            return await asked_again(place, minds, most=most)

    report = asyncio.run(ask())
    print_json(report.to_dict()) if as_json else typer.echo(report.text())
    if not report.answered.counts:
        if not as_json:
            typer.echo(report.answered.warning, err=True)
        raise typer.Exit(NO_FINDING)


def report(
    context: typer.Context,
    folder: RunOrSweep,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--out", "--output", help="The file; else report.html in its folder."),
    ] = None,
) -> None:
    """Write the report of a run or a sweep: one HTML file that needs nothing but itself."""
    from loopforge.lab.report.html_report import write_report as write

    there = settings_from_context(context)
    place = find_run_folder(there, folder)
    page, line = write(place, output or place / "report.html", maker=minds_maker(there, ""))
    typer.echo(line)
    typer.echo(f"Wrote {page}.")


def export(
    context: typer.Context,
    folder: RunOrSweep,
    format: Annotated[str, typer.Option("--format", help="jsonl, csv or parquet.")] = "jsonl",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--out", "--output", help="The file; else export.FORMAT in its folder."),
    ] = None,
) -> None:
    """Write a run, or a sweep's results, in a form that other programs read."""
    from loopforge.lab.export.run_export import export_folder as write

    made = write(find_run_folder(settings_from_context(context), folder), format, output)
    typer.echo(f"Wrote {made.rows} rows to {made.path}.")
