"""A worker: runs the runs of a sweep, one after another, and gives the score of each.

What it is told is plain data (`SweepWork` once, then a `SweepJob` for each run), so that it can be
another process, or another machine. Models cannot be sent: they are made where they are used, by a
`MindsMaker`, a function named by where it is imported from, with plain arguments.

Knows nothing of who hands out jobs, of budgets beyond its job's own, or of results already there.
"""

import asyncio
import fcntl
from contextlib import AbstractContextManager, aclosing, nullcontext
from dataclasses import replace
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

from msgspec import Struct

from loopforge.core.factory_vocabulary import RunLastRow
from loopforge.errors import BadRun, BadScenario
from loopforge.lab.run.robot_minds import Minds
from loopforge.lab.run.run_log import LOG, LogSink
from loopforge.lab.run.step_loop import Episode, make_first_row
from loopforge.lab.sweeps.experiment_design import DesignCell, ExperimentDesign
from loopforge.lab.sweeps.experiment_file import policy_of
from loopforge.lab.sweeps.run_score import RunResult, ScoringChain
from loopforge.lab.sweeps.sweep_results import RUNS, TAPES
from loopforge.models.model_tape import Tape


class MindsMaker(Struct, frozen=True):
    """How to make the minds of a run: `path` is "module:function", called with `arguments`.

    The function gives `Minds` with all that the policies may need: models, prompts, mates.
    """

    path: str
    arguments: dict[str, Any] = {}

    def make(self) -> Minds:
        """The minds. Raises BadScenario if there is no such function or it makes something else."""
        module, _, name = self.path.partition(":")
        try:
            function = getattr(import_module(module), name)
        except (ImportError, AttributeError, ValueError) as error:
            raise BadScenario(f"There is no {self.path!r} to make minds with: {error}.") from error
        minds = function(**self.arguments)
        if not isinstance(minds, Minds):
            raise BadScenario(f"{self.path!r} makes a {type(minds).__name__}, not minds.")
        return minds


class SweepWork(Struct, frozen=True):
    """What all jobs of a sweep have in common.

    `replay`: tapes alone answer, as `model` did, if one was named; nobody is asked.
    """

    layout: dict[str, Any]
    folder: str
    maker: MindsMaker | None = None
    keep_logs: bool = False
    replay: bool = False
    model: str = ""


class SweepJob(Struct, frozen=True):
    """One run. `budget` is what it may newly spend, in US dollars; None: no limit."""

    cell: int
    seed: int
    budget: float | None = None

    @property
    def name(self) -> str:
        """What its files are called by."""
        return f"c{self.cell:04d}-s{self.seed}"


class RunDone(Struct, frozen=True):
    """What became of a job. Without a `result` it stopped at its budget.

    `spent` is what the run has cost in all, on this try and before.
    """

    job: SweepJob
    result: RunResult | None
    spent: float = 0.0


class NullSink:
    """A sink that keeps nothing."""

    def write(self, lines: bytes) -> None:
        """Let go of them."""


class SweepWorker:
    """Runs jobs. Raises BadScenario if its minds cannot be made."""

    def __init__(self, work: SweepWork) -> None:
        self._work = work
        self._layout = ExperimentDesign.from_dict(work.layout)
        self._cells = {cell.cell: cell for cell in self._layout.cells}
        self._minds = (work.maker.make() if work.maker else Minds()).on_model(work.model)
        self._runner = asyncio.Runner()

    def run(self, job: SweepJob) -> RunDone:
        """Run one run to its end, or to the end of its budget. Raises BadRun, BadScenario."""
        try:
            return self._runner.run(self._run(job, self._cells[job.cell]))
        except asyncio.CancelledError:  # Runner forgets a Ctrl+C that comes as it begins to listen
            raise KeyboardInterrupt from None
        except BadRun as error:
            raise BadRun(f"Run {job.name}: {error}") from error
        except OSError as error:
            raise BadRun(f"Run {job.name} cannot be written: {error.strerror}.") from error

    async def _run(self, job: SweepJob, cell: DesignCell) -> RunDone:
        scenario = self._layout.scenario(cell.levels, job.seed)
        minds = replace(self._minds, policy=policy_of(cell.levels))
        tape = None if minds.deterministic() else self._tape(job)
        if tape is not None:
            minds.models = tape
        minds.check()
        limit = None if tape is None or job.budget is None else tape.spent + Decimal(job.budget)
        scoring = ScoringChain(scenario.overseer)
        with self._sink(job) as sink:
            episode = Episode(make_first_row(scenario, job.seed, minds), minds, sink)
            episode.chain = scoring
            async with aclosing(episode.run()) as rows:
                async for row in rows:
                    if tape is None:
                        continue
                    _check(tape, capped=limit is not None)
                    if (
                        limit is not None
                        and tape.spent >= limit
                        and not isinstance(row, RunLastRow)
                    ):
                        return RunDone(job, None, float(tape.spent))
        spent, unpriced = (float(tape.spent), tape.unpriced) if tape else (0.0, 0)
        levels = cell.levels
        result = scoring.result(cell.cell, job.seed, levels, cost=spent, unpriced=unpriced)
        return RunDone(job, result, spent)

    def _tape(self, job: SweepJob) -> Tape | None:
        """The run's tape; None where there is no model to ask, now or then."""
        path, live = tape_of(Path(self._work.folder), job), self._minds.models
        if self._work.replay:
            return Tape(path) if live is not None or path.exists() else None
        if live is None:
            return None
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        return Tape(path, live)

    def _sink(self, job: SweepJob) -> AbstractContextManager[LogSink]:
        if not self._work.keep_logs:
            return nullcontext(NullSink())
        folder = Path(self._work.folder) / RUNS / job.name
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / LOG).open("ab")
        fcntl.flock(file, fcntl.LOCK_EX)
        file.truncate(0)
        return file

    def close(self) -> None:
        """Let go of the models and of the loop."""
        close = getattr(self._minds.models, "close", None)
        if close is not None:
            self._runner.run(close())
        self._runner.close()


def tape_of(folder: Path, job: SweepJob) -> Path:
    """Where the tape of a run lies."""
    return folder / TAPES / f"{job.name}.jsonl"


def _check(tape: Tape, *, capped: bool) -> None:
    """Raises BadRun if what the tape holds cannot count."""
    if tape.trouble:
        raise BadRun(tape.trouble)
    if capped and tape.unpriced:
        raise BadRun(
            "Nobody knows the price of the model that answers, so no cost cap can be kept. Give it "
            "a price in loopforge.toml, or leave the cap out."
        )
