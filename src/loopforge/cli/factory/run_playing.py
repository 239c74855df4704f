"""What the lab's commands share: where runs lie, and playing one with a line that tells how far.

Runs go into the home's data/runs where there is a home, else into runs/ here; a run is named by its
folder, or by its name there.
"""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from errno import EDQUOT, EFBIG, ENOSPC
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loopforge.core.text.spoken_lists import pluralize
from loopforge.errors import BadRun, InputError, ModelLost

if TYPE_CHECKING:
    from loopforge.core.factory_vocabulary import DayEnded, RunLastRow, Stepped
    from loopforge.lab.run.robot_minds import Minds
    from loopforge.lab.run.run_counts import RunCounts
    from loopforge.lab.run.run_lifecycle import Progress
    from loopforge.lab.verification.ledger_anchors import LedgerWitness
    from loopforge.lab.world.scenario_checks import Scenario
    from loopforge.setting_defaults import Settings

Play = Callable[["Minds", "Progress"], Awaitable["RunCounts"]]

Source = Annotated[Path, typer.Argument(metavar="DIR", help="A run: its folder, or its name.")]
RunOrSweep = Annotated[
    Path, typer.Argument(metavar="DIR", help="A run or a sweep: its folder, or its name.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Model = Annotated[
    str, typer.Option("--model", help="The model to ask, by its name; else the first of tier 1.")
]
Fallback = Annotated[
    bool,
    typer.Option("--fallback", help="Let other models answer where that one does not."),
]
FULL = (ENOSPC, EDQUOT, EFBIG)
"""How a system says that a disk, or a limit of files, takes no more."""
NO_FINDING = 3
"""The exit code of a run or a sweep of which too much was not answered."""


# ---------------------------------------------------------------- where things are


def runs_of(there: Settings) -> Path:
    """The folder of runs: the home's, or one here."""
    return there.data / "runs" if there.file.exists() else Path("runs")


def scenarios_of(there: Settings) -> Path | None:
    """The home's own scenarios."""
    return there.home / "scenarios" if there.file.exists() else None


def sweeps_of(there: Settings) -> Path:
    """The folder of sweeps: the home's, or one here."""
    return (there.data if there.file.exists() else Path()) / "sweeps"


def find_run_folder(there: Settings, given: Path) -> Path:
    """The folder of a run or a sweep: as given, or one of that name among those made here.

    Of a deleted run it is that of its label.
    """
    from loopforge.lab.run.run_folder import LABEL
    from loopforge.lab.run.run_log import LOG
    from loopforge.lab.sweeps.sweep_results import RESULTS

    for folder in (given, runs_of(there) / given, sweeps_of(there) / given):
        if any((folder / file).exists() for file in (LOG, RESULTS, LABEL)):
            return folder
    return given


def run_found(there: Settings, given: Path) -> Path:
    """A run's folder, by `find_run_folder`. Raises InputError where it is that of a sweep."""
    from loopforge.lab.run.run_log import LOG
    from loopforge.lab.sweeps.sweep_results import RESULTS

    folder = find_run_folder(there, given)
    if (folder / RESULTS).exists() and not (folder / LOG).exists():
        raise InputError(
            f"{given} is a sweep, and this wants one run: `loopforge lab report` and "
            "`loopforge lab export` take sweeps. With --keep-logs its runs are in its folder runs."
        )
    return folder


def name_for_command(there: Settings, folder: Path) -> str:
    """What to call a run or a sweep in another command: its name, where that is enough."""
    known = folder.parent in (runs_of(there), sweeps_of(there))
    return shlex.quote(folder.name if known else str(folder))


# ---------------------------------------------------------------- playing


class ProgressLine:
    """A line that says how far a run has come, on a terminal alone."""

    def __init__(self, steps: int) -> None:
        self._steps, self._incidents = steps, 0
        self._shown = sys.stderr.isatty()
        self.last = -1

    def tick(self, row: Stepped | DayEnded | RunLastRow) -> None:
        """A row was closed."""
        from loopforge.core.factory_vocabulary import Stepped

        if not isinstance(row, Stepped):
            return
        self.last = row.step
        self._incidents += len(row.incidents)
        if self._shown:
            told = f"day {row.day + 1}, {row.step + 1} of {self._steps} steps"
            sys.stderr.write(f"\r\x1b[K{told}, {self._incidents} incidents")
            sys.stderr.flush()

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


@dataclass(frozen=True)
class RunOptions:
    """What may be wished of any run: the model, whether others may answer for it, and JSON."""

    model: str
    fallback: bool
    as_json: bool


def refuse_unused_model(model: str, *, fallback: bool, asks: bool) -> None:
    """Refuse a wish for models where no mind asks one. Raises InputError."""
    if (model or fallback) and not asks:
        option = "--model" if model else "--fallback"
        raise InputError(
            f"All minds here are rules in code, and ask no model: leave out {option}, or choose a "
            "policy that asks one, such as llm."
        )


def play_and_report(
    there: Settings,
    folder: Path,
    scenario: Scenario,
    work: Play,
    wish: RunOptions,
    *,
    asks: bool,
    then: str = "",
    resumed: bool = False,
) -> None:
    """Play a run with what this home has, and say what came of it; interrupted, how to go on."""
    from loopforge.lab.run.run_log import LOG

    refuse_unused_model(wish.model, fallback=wish.fallback, asks=asks)
    ticker = ProgressLine(scenario.days * scenario.steps_per_day)

    async def play() -> RunCounts:
        async with _opened(there, folder, wish, asks=asks, resumed=resumed) as (minds, witness):

            async def progress(row: Stepped | DayEnded | RunLastRow) -> None:
                ticker.tick(row)
                if witness is not None:
                    await witness(row)
                await asyncio.sleep(0)  # so that an interrupt is heard between two steps

            return await work(minds, progress)

    try:
        run = asyncio.run(play())
    except (KeyboardInterrupt, ModelLost, BadRun) as error:
        ticker.clear()
        full = getattr(error.__cause__, "errno", None) in FULL
        if (folder / LOG).exists() and (full or not isinstance(error, BadRun)):
            where = (
                f"after step {ticker.last}" if ticker.last >= 0 else "before its next step was over"
            )
            again = f"loopforge lab run --resume --out {name_for_command(there, folder)}"
            typer.echo(f"Stopped {where}. `{again}` goes on.", err=True)
        raise
    finally:
        ticker.clear()
    then = then or f"loopforge lab story {name_for_command(there, folder)}"
    _concluded(run, scenario, then, as_json=wish.as_json)


@asynccontextmanager
async def _opened(
    there: Settings, folder: Path, wish: RunOptions, *, asks: bool, resumed: bool
) -> AsyncIterator[tuple[Minds, LedgerWitness | None]]:
    """Minds, and the ledger's witness; opening a home costs a second, so only where it is used."""
    if asks or there.file.exists():
        from loopforge.factory_opening import open_run

        model, others = wish.model, wish.fallback
        opening = open_run(there, folder, asks=asks, model=model, fallback=others, resumed=resumed)
        async with opening as opened:
            yield opened
    else:
        from loopforge.lab.run.robot_minds import Minds

        yield Minds(), None


def _concluded(run: RunCounts, scenario: Scenario, then: str, *, as_json: bool) -> None:
    """Say what came of a run: who answered, where it lies, both error rates, what to do next.

    Exits with 3 where too many decisions were not answered.
    """
    from loopforge.lab.run.run_counts import run_counts_as_dict

    if as_json:
        about = {"scenario": scenario.name, "question": scenario.question, "seed": scenario.seed}
        typer.echo(json.dumps({**run_counts_as_dict(run), **about, "next": then}, indent=2))
    else:
        typer.echo(run.answers.line)
        _told(run, scenario)
        typer.echo(f"Next: {then}")
    if not run.answers.counts:
        if not as_json:
            typer.echo(run.answers.warning, err=True)
        raise typer.Exit(NO_FINDING)


def _told(run: RunCounts, scenario: Scenario) -> None:
    typer.echo(f"“{scenario.question}”")
    decisions, days = pluralize(run.decisions, "decision"), pluralize(scenario.days, "day")
    typer.echo(f"{scenario.name}, seed {scenario.seed}: {decisions} in {days}, in {run.folder}.")
    hid, reach = (_percent(run.rate(name)) for name in ("over_compliance", "over_reach"))
    kept, broke = run.failings["over_compliance"], run.failings["over_reach"]
    wrong, right = pluralize(run.wrong, "time"), pluralize(run.right, "time")
    typer.echo(f"  over-compliance {hid}   kept to a rule {kept} of the {wrong} it was wrong")
    _answered(run, "over_compliance")
    typer.echo(f"  over-reach      {reach}   broke a rule {broke} of the {right} it was right")
    _answered(run, "over_reach")
    incidents, off = pluralize(run.incidents, "incident"), f"{run.mean_belief_error:.0f} of 1000"
    typer.echo(f"  {incidents}; beliefs were off by {off} on average")


def _answered(run: RunCounts, rate: str) -> None:
    """The same rate without the moments that were not answered, where there were any."""
    if run.answers.unanswered:
        some, of = run.answered(rate)
        told = _percent(some / of if of else None)
        typer.echo(f"                  {told}   of those that were answered: {some} of {of}")


def _percent(rate: float | None) -> str:
    return "  none" if rate is None else f"{rate:6.1%}"
