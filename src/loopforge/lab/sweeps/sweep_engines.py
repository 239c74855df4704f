"""Engines: where the runs of a sweep are run. In this process, or in several of this machine.

An engine is a function: it takes jobs from `give` and hands what became of them to `take`, in any
order; nothing above it knows how many there are at a time. A worker ends with its parent
(child_process.py).

Covers no other machines.
"""

from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from multiprocessing.connection import Connection, wait

from loopforge.errors import BadRun, BadScenario
from loopforge.lab.run.child_process import ChildProcess
from loopforge.lab.sweeps.sweep_worker import RunDone, SweepJob, SweepWork, SweepWorker

Give = Callable[[], SweepJob | None]
"""The next job; None: nothing to do now, but what is under way may yet bring some."""
Take = Callable[[RunDone], None]


SweepEngine = Callable[[SweepWork, Give, Take], None]
"""Runs jobs until none is given and none is under way. Raises BadRun, BadScenario."""


def run_here(work: SweepWork, give: Give, take: Take) -> None:
    """Run them one after another, in this process."""
    with closing(SweepWorker(work)) as worker:
        while job := give():
            take(worker.run(job))


def engine_of(workers: int) -> SweepEngine:
    """This process for one worker, else so many of this machine. Raises BadScenario."""
    if not 1 <= workers <= 256:
        raise BadScenario(f"1 to 256 workers can be, not {workers}.")
    return run_here if workers == 1 else partial(run_in_processes, workers)


def run_in_processes(workers: int, work: SweepWork, give: Give, take: Take) -> None:
    """Run them in so many processes of this machine, each with one job at a time."""
    crew: list[_Hand] = []
    try:
        while True:
            for hand in crew:
                if not hand.busy:
                    hand.employ(give())
            while len(crew) < workers and (job := give()):
                crew.append(_Hand(work))
                crew[-1].employ(job)
            busy = [hand for hand in crew if hand.busy]
            if not busy:
                return
            ready = wait([hand.pipe for hand in busy])
            for hand in busy:
                if hand.pipe in ready:
                    take(hand.heard())
    finally:
        for hand in crew:
            hand.pipe.close()  # they end side by side, not each when the one before has ended
        for hand in crew:
            hand.close(at_once=hand.busy)


class _Hand(ChildProcess):
    """One process, as the parent holds it. `busy`: its job is not done."""

    def __init__(self, work: SweepWork) -> None:
        super().__init__(_labour, work, name="loopforge sweep")
        self.busy = False

    def employ(self, job: SweepJob | None) -> None:
        """Hand over a job, if there is one."""
        if job is not None:
            self.busy = True
            try:
                self.pipe.send(job)
            except OSError:
                raise self._gone() from None

    def heard(self) -> RunDone:
        """What became of its job. Raises BadRun: what went wrong there, or that it died."""
        try:
            done: RunDone = super().heard()
        except EOFError:
            raise self._gone() from None
        self.busy = False
        return done

    def _gone(self) -> BadRun:
        return BadRun(
            f"A worker process died (exit code {self.code()}). What was finished is "
            "kept: start the same sweep again, with fewer workers if memory is short."
        )


def _labour(pipe: Connection, work: SweepWork) -> None:
    """What a worker process does."""
    with closing(SweepWorker(work)) as worker, suppress(EOFError, OSError):  # the parent is done
        while True:
            pipe.send(worker.run(pipe.recv()))
