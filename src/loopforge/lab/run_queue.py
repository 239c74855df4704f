"""The queue of runs that somebody starts from a page: plays one at a time.

Runs whose minds ask no model are played in a process of their own, so that nothing they do holds up
who is being served; runs that ask are played here, for it is the models they wait for. A run that
is stopped, or whose host ends, can be taken up again: its folder holds all that was closed.

The queue is kept in memory alone. Knows no page; what has become of a run is in its log.
"""

import asyncio
import logging
import sys
from collections.abc import Callable
from contextlib import redirect_stderr
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from loopforge.core.factory_vocabulary import DayEnded, RunLastRow
from loopforge.core.limits.bounded_mapping import BoundedMapping
from loopforge.errors import BadRun, LoopforgeError
from loopforge.lab.inspect.run_archive import RunArchive
from loopforge.lab.run.child_process import ChildProcess
from loopforge.lab.run.robot_minds import PLAIN, Minds
from loopforge.lab.run.run_child import (
    AnyJob,
    BeginRun,
    ForkRun,
    ResumeRun,
    play_job,
    play_job_in_child,
)
from loopforge.lab.run.run_deletion import delete_run
from loopforge.lab.run.run_lifecycle import asks_models
from loopforge.lab.run.run_log import LOG, began_of, hold
from loopforge.lab.verification.ledger_anchors import LedgerWitness
from loopforge.lab.world.scenario_checks import Scenario
from loopforge.runtime.background_tasks import BackgroundTasks

log = logging.getLogger(__name__)
LONGEST = 50
"""Runs that may wait."""
KEPT = 100
"""Failures that are remembered."""

Witnesses = Callable[[Path, bool], LedgerWitness]


class QueueStanding(Struct, frozen=True):
    """How a run stands here: waiting, running, failed, or "" if nothing is known of it."""

    state: str = ""
    told: str = ""


class RunQueue:
    """The queue. `minds` gives models, prompts and mates; `witness` tells a ledger of a run."""

    def __init__(
        self, archive: RunArchive, minds: Callable[[], Minds], witness: Witnesses | None = None
    ) -> None:
        self.archive = archive
        self.running = ""
        self.closed = False
        self.minds, self._witness = minds, witness
        self._waiting: dict[str, AnyJob] = {}
        self._failed: BoundedMapping[str, str] = BoundedMapping(KEPT)
        self._held: dict[str, BinaryIO] = {}
        self._tasks = BackgroundTasks()
        self._working: asyncio.Task[None] | None = None
        self._playing: asyncio.Task[None] | None = None

    # ------------------------------------------------------------ what may be asked for

    def begin(self, scenario: Scenario, policy: str) -> str:
        """Put a new run into the queue; its name. Raises BadScenario, BadRun."""
        self._room()
        minds = self.minds()
        minds.policy = policy
        minds.check()
        words = f"{scenario.name} {policy.replace(':', ' ')} {scenario.seed}"
        name = self.archive.free(words, self._taken())
        self._put(name, BeginRun(self.archive.path(name), scenario, policy))
        return name

    def take_up(self, name: str) -> None:
        """Put a run that was cut off into the queue. Raises Unknown, BadRun."""
        self._room()
        self.archive.alone(name)
        index = self.archive.index(name)
        if index.ended:
            raise BadRun(f"{name} has come to its end; there is nothing left to take up.")
        if name in self._waiting or name == self.running:
            raise BadRun(f"{name} is being played, or will be.")
        self._put(name, ResumeRun(index.folder))

    def branch(self, name: str, at: int, changes: dict[str, str]) -> str:
        """Put a fork of a run into the queue; its name. Raises Unknown, BadRun."""
        self._room()
        source = self.archive.index(name)
        fork = self.archive.free(f"{name} at {at}", self._taken())
        self._put(fork, ForkRun(self.archive.path(fork), source.folder, at, changes))
        return fork

    def stop(self, name: str) -> None:
        """Take a run out of the queue, or end it where it is."""
        self._waiting.pop(name, None)
        self._let_go(name)
        if name == self.running and self._playing is not None:
            self._playing.cancel()

    def idle(self, name: str) -> Path:
        """The folder of a sweep, or of a run that no sweep keeps, which nobody plays or waits for.

        Raises Unknown, BadRun.
        """
        folder = self.archive.alone(name)
        for fork, job in self._waiting.items():
            if isinstance(job, ForkRun) and job.source == folder:
                raise BadRun(f"{fork} waits to be forked from {name}; stop it first.")
        if self.standing(name).state in ("waiting", "running") or self.archive.busy(name):
            raise BadRun(f"{name} is being played, or will be; stop it first.")
        if name not in self._failed:
            self.archive.listed(name)
        return folder

    async def delete(self, name: str, now: datetime, actor: str) -> None:
        """Delete a run or a sweep for good, and let the ledger know.

        Raises Unknown, BadRun, LedgerError.

        Of a run that failed before its first row there is nothing but what is told of it here.
        """
        folder = await asyncio.to_thread(self.idle, name)
        if (folder / LOG).exists() or name not in self._failed:
            witness = self._witness(folder, True).deleted if self._witness else None
            await delete_run(folder, now, witness and partial(witness, actor=actor))
        self._failed.pop(name, None)

    def standing(self, name: str) -> QueueStanding:
        """How a run stands."""
        if name == self.running:
            return QueueStanding("running")
        if name in self._waiting:
            before = list(self._waiting).index(name) + bool(self.running)
            told = "It is the next." if before <= 1 else f"{before} runs come before it."
            return QueueStanding("waiting", told)
        if name in self._failed:
            return QueueStanding("failed", self._failed[name])
        return QueueStanding()

    def known(self) -> list[str]:
        """The runs that wait, run, or failed, the last first; some have no folder."""
        running = [self.running] if self.running else []
        return [*reversed(self._waiting), *running, *reversed(self._failed)]

    async def close(self) -> None:
        """End what is running; it can be taken up again."""
        self.closed = True
        self._waiting.clear()
        for name in list(self._held):
            self._let_go(name)
        await self._tasks.close()

    # ------------------------------------------------------------ the work

    def _taken(self) -> frozenset[str]:
        return frozenset({*self._waiting, *self._failed, self.running})

    def _room(self) -> None:
        if len(self._waiting) >= LONGEST:
            raise BadRun(f"{LONGEST} runs are waiting already; let some of them come to their end.")

    def _put(self, name: str, job: AnyJob) -> None:
        if isinstance(job, ResumeRun):
            self._held[name] = hold(job.folder)
        self._failed.pop(name, None)
        self._waiting[name] = job
        if self._working is None or self._working.done():
            self._working = self._tasks.spawn(self._work(), "lab: the queue of runs")

    async def _work(self) -> None:
        while self._waiting:
            name = next(iter(self._waiting))
            job = self._waiting.pop(name)
            self.running = name
            self._let_go(name)
            self._playing = self._tasks.spawn(self._play(name, job), f"lab: {name}")
            try:
                await asyncio.wait([self._playing])
            finally:
                self.running = ""

    async def _play(self, name: str, job: AnyJob) -> None:
        witness = self._witness(job.folder, isinstance(job, ResumeRun)) if self._witness else None
        try:
            minds = await asyncio.to_thread(self._minds_of, job)
            if minds is None:
                await self._send(name, job, witness)
            else:
                await play_job(job, minds, witness or _nobody)
        except LoopforgeError as error:
            self._fail(name, str(error))
        except Exception:
            log.exception("the run %s broke", name)
            self._fail(name, "Something broke in here while it ran. It stands in data/logs.")
        finally:
            if witness is not None:
                witness.close()

    def _let_go(self, name: str) -> None:
        if name in self._held:
            self._held.pop(name).close()

    def _fail(self, name: str, why: str) -> None:
        self._failed[name] = why

    def _minds_of(self, job: AnyJob) -> Minds | None:
        """The minds of a job that asks models; None where it can be sent away."""
        minds = self.minds()
        if isinstance(job, BeginRun):
            return None if job.policy in PLAIN else minds
        changes = job.changes if isinstance(job, ForkRun) else {}
        return minds if asks_models(began_of(_base(job)), changes) else None

    async def _send(self, name: str, job: AnyJob, witness: LedgerWitness | None) -> None:
        """Let a process of its own play it. Raises BadRun, LedgerError."""
        # What draws a terminal puts a stream of number -1 there, with which no process can begin.
        with redirect_stderr(sys.__stderr__):
            child = ChildProcess(play_job_in_child, job, name=f"loopforge lab: {name}")
        try:
            while True:
                number = await asyncio.to_thread(child.heard)
                if witness is not None:
                    index = await asyncio.to_thread(self.archive.index, name)
                    row = index.row(number)
                    assert isinstance(row, DayEnded | RunLastRow)
                    await witness(row)
        except EOFError:
            if code := await asyncio.to_thread(child.code):
                ended = f"Its process ended with code {code}; data/logs may say why."
                raise BadRun(ended) from None
        finally:
            child.close(at_once=True)


def _base(job: AnyJob) -> Path:
    """The folder of the run that a job reads: of a fork, its source's."""
    return job.source if isinstance(job, ForkRun) else job.folder


def _nobody(_row: object) -> None:
    """Told of a run, and tells nobody."""
