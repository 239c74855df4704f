"""loopforge work bench: tasks whose tests decide, given to the mates of a home."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loopforge.cli import Json, print_json, settings_from_context
from loopforge.cli.work.task_watching import join_or_run_home, person_of, replace_unprintable
from loopforge.errors import HostTaken, InputError

if TYPE_CHECKING:
    from loopforge.setting_defaults import Settings
    from loopforge.work.benchmark.instance_run import InstanceAttempt
    from loopforge.work.benchmark.swe_instance import SweInstance

ARMS = ("on", "unused", "shuffled", "off")


def bench(
    context: typer.Context,
    folder: Annotated[
        Path,
        typer.Argument(help="The instances, in SWE-bench's format.", exists=True, file_okay=False),
    ],
    attempts: Annotated[
        int, typer.Option("--attempts", help="Attempts at each at most.", min=1, max=20)
    ] = 1,
    learning: Annotated[
        list[str] | None,
        typer.Option("--learning", help="What attempts are given: on, unused, shuffled, off."),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option("--only", help="These instances alone, by their ids.")
    ] = None,
    mate: Annotated[str, typer.Option("--mate", help="The mate that is to do them.")] = "",
    budget: Annotated[
        float, typer.Option("--budget", help="US dollars that one attempt may cost.", min=0)
    ] = 0.0,
    as_json: Json = False,
) -> None:
    """Give a folder of instances to mates as tasks, one by one, and have their tests decide.

    The models are the home's. `--learning on --learning off` runs all of them once with what
    attempts taught, and once without; which comes first is as you say it.
    """
    from loopforge.work.benchmark.swe_instance import read_instances

    arms = learning or ["on"]
    if strange := [arm for arm in arms if arm not in ARMS]:
        raise InputError(f"{strange[0]!r} is none of {', '.join(ARMS)}.")
    instances = read_instances(folder)
    if only:
        known = {each.instance_id for each in instances}
        if missing := [one for one in only if one not in known]:
            raise InputError(f"There is no instance {missing[0]!r} in {folder}.")
        instances = [each for each in instances if each.instance_id in only]
    there = settings_from_context(context)
    done: list[InstanceAttempt] = []
    for arm in dict.fromkeys(arms):
        set_so: dict[str, Any] = {"work_learning": arm}
        now = replace(there, **set_so)
        done += asyncio.run(_ran(now, instances, arm, (attempts, mate, budget), as_json))
    if as_json:
        _print_all(done)
    else:
        for row in _summary(done):
            typer.echo(row)


async def _ran(
    there: Settings,
    instances: Sequence[SweInstance],
    arm: str,
    how: tuple[int, str, float],
    quiet: bool,
) -> list[InstanceAttempt]:
    """All instances in one arm. Raises HostTaken where another process runs the home."""
    from loopforge.work.benchmark.instance_run import BenchmarkRun

    attempts, mate, budget = how
    done = []
    async with join_or_run_home(there) as (app, here):
        if not here:
            raise HostTaken(
                "Another process runs this home, and a benchmark sets how its mates learn: stop "
                "that one first, or give another home by --home."
            )
        tasks, clock = app.work.tasks, app.stamp.clock
        run = BenchmarkRun(tasks, clock, there.home, await person_of(app), arm, attempts)
        async for one in run.over(instances, mate=mate, budget=budget):
            done.append(one)
            if not quiet:
                typer.echo(_line(one))
    return done


def _line(one: InstanceAttempt) -> str:
    what = "resolved" if one.resolved else f"not resolved: {one.why}"
    if one.unusable:
        return replace_unprintable(f"{one.instance}  {one.arm}  says nothing: {one.why}")
    figures = f"{one.turns} turns, confidence {one.confidence:.0f}, ${one.dollars:.4f}"
    return replace_unprintable(
        f"{one.instance}  {one.arm}  attempt {one.attempt}  ({figures})  {what}"
    )


def _summary(done: Sequence[InstanceAttempt]) -> list[str]:
    from loopforge.work.benchmark.benchmark_summary import arm_difference, arms_of

    rows, arms = [""], arms_of(done)
    for arm in arms:
        rate = arm.resolved
        odd = f"; {arm.unusable} said nothing" if arm.unusable else ""
        sure = f", Brier score {arm.brier:.2f}" if arm.brier is not None else ""
        rows.append(
            f"{arm.arm:<9} resolved {round(rate.estimate * rate.n)} of {rate.n} "
            f"(95 %: {rate.low:.0%} to {rate.high:.0%}), {arm.first} at the first of "
            f"{arm.attempts} attempts, ${arm.dollars:.4f}{sure}{odd}"
        )
    for arm in arms[1:]:
        if found := arm_difference(done, arms[0].arm, arm.arm):
            apart = found.interval
            rows.append(
                f"{arm.arm} less {arms[0].arm}: {apart.estimate:+.0%} "
                f"(95 %: {apart.low:+.0%} to {apart.high:+.0%}, p {found.p:.2f})"
            )
    return rows


def _print_all(done: Sequence[InstanceAttempt]) -> None:
    import msgspec

    from loopforge.work.benchmark.benchmark_summary import arm_difference, arms_of

    arms = arms_of(done)
    apart: dict[str, Any] = {
        arm.arm: arm_difference(done, arms[0].arm, arm.arm) for arm in arms[1:]
    }
    print_json(msgspec.to_builtins({"attempts": done, "arms": arms, "differences": apart}))
