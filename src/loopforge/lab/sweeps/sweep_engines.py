"""Engines: where the runs of a sweep are run. In this process, or in several of this machine.

The port is one method. An engine takes jobs from `give` and hands what became of them to `take`, in
any order; nothing above it knows how many there are at a time. Processes are spawned, not forked,
and hold nothing of the parent but a pipe: a worker whose parent is gone is gone in the same moment,
so that no run goes on unseen, or goes on asking models that somebody pays.

Covers no other machines.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Protocol

from loopforge.errors import BadRun, BadScenario, LoopforgeError
from loopforge.lab.sweeps.sweep_worker import RunDone, SweepJob, Work, Worker

Give = Callable[[], Sequence[SweepJob]]
"""The next jobs; none: nothing to do now, but what is under way may yet bring some."""
Take = Callable[[RunDone], None]
PATIENCE = 10.0
"""Seconds that a worker has to end by itself once nothing is left to do."""


class Engine(Protocol):
    """Runs jobs."""

    def run(self, work: Work, give: Give, take: Take) -> None:
        """Run until nothing is given and nothing is under way. Raises BadRun, BadScenario."""
        ...


class Here:
    """One after another, in this process."""

    def run(self, work: Work, give: Give, take: Take) -> None:
        """Run them."""
        with closing(Worker(work)) as worker:
            while jobs := give():
                for job in jobs:
                    take(worker.run(job))


class Processes:
    """Several processes of this machine, each with one batch of jobs at a time.

    A script that calls this needs `if __name__ == "__main__":` around what it does, as with
    everything that spawns.
    """

    def __init__(self, workers: int) -> None:
        if not 1 <= workers <= 256:
            raise BadScenario(f"1 to 256 workers can be, not {workers}.")
        self.workers = workers

    def run(self, work: Work, give: Give, take: Take) -> None:
        """Run them."""
        crew = [_Hand(work) for _ in range(self.workers)]
        try:
            self._serve(crew, give, take)
        finally:
            for hand in crew:
                hand.dismiss()

    def _serve(self, crew: list[_Hand], give: Give, take: Take) -> None:
        while True:
            for hand in crew:
                if not hand.busy:
                    hand.employ(give())
            busy = [hand for hand in crew if hand.busy]
            if not busy:
                return
            ready = wait([hand.pipe for hand in busy])
            for hand in busy:
                if hand.pipe in ready:
                    take(hand.heard())


class _Hand:
    """One process, as the parent holds it. `busy` is how many of its jobs are not done."""

    def __init__(self, work: Work) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.busy = 0
        self.process: SpawnProcess = context.Process(
            target=_labour, args=(work, theirs), name="loopforge sweep", daemon=True
        )
        self.process.start()
        theirs.close()

    def employ(self, jobs: Sequence[SweepJob]) -> None:
        """Hand over jobs, if there are any."""
        if jobs:
            self.busy += len(jobs)
            try:
                self.pipe.send(list(jobs))
            except OSError:
                raise self._gone() from None

    def heard(self) -> RunDone:
        """What became of its next job. Raises BadRun: what went wrong there, or that it died."""
        try:
            told: RunDone | LoopforgeError = self.pipe.recv()
        except (EOFError, OSError):
            raise self._gone() from None
        if not isinstance(told, RunDone):
            raise told
        self.busy -= 1
        return told

    def _gone(self) -> BadRun:
        self.process.join(PATIENCE)
        return BadRun(
            f"A worker process died (exit code {self.process.exitcode}). What was finished is "
            "kept: start the same sweep again, with fewer workers if memory is short."
        )

    def dismiss(self) -> None:
        """Let it go: at once if it is busy, else as soon as it has closed what it holds."""
        self.pipe.close()
        if not self.busy:
            self.process.join(PATIENCE)
        if self.process.is_alive():
            self.process.terminate()
            self.process.join()
        self.process.close()


def _labour(work: Work, pipe: Connection) -> None:
    """What a worker process does: all of its life."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to hear
    threading.Thread(target=_watch, daemon=True).start()
    try:
        with closing(Worker(work)) as worker:
            while True:
                for job in pipe.recv():
                    pipe.send(worker.run(job))
    except (EOFError, OSError):
        pass  # the parent has closed the pipe
    except LoopforgeError as error:
        pipe.send(type(error)(str(error)))


def _watch() -> None:
    """End this process with its parent, however that ends."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
