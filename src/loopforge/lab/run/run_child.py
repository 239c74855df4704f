"""What a host plays of the Factory, here or in a process of its own (child_process.py).

Only minds that ask no model can be sent away. What closed a day or the run is told by the number of
its row; what is closed when it ends can be taken up.
"""

import asyncio
import os
from multiprocessing.connection import Connection
from pathlib import Path

from msgspec import Struct

from loopforge.core.factory_vocabulary import DayEnded, RunLastRow, Stepped
from loopforge.errors import BadScenario
from loopforge.lab.run.robot_minds import Minds
from loopforge.lab.run.run_counts import RunCounts
from loopforge.lab.run.run_lifecycle import Progress, fork_run, resume_run, simulate
from loopforge.lab.world.scenario_checks import Scenario

KINDNESS = 5
"""How far it stands back from whoever serves people on the same machine (nice)."""


class BeginRun(Struct, frozen=True):
    """A scenario from its first step on, into this folder."""

    folder: Path
    scenario: Scenario
    policy: str = "stub"


class ResumeRun(Struct, frozen=True):
    """A run that was cut off, to its end."""

    folder: Path


class ForkRun(Struct, frozen=True):
    """The run in `source` up to step `at`, and on from there with something changed."""

    folder: Path
    source: Path
    at: int
    changes: dict[str, str]


AnyJob = BeginRun | ResumeRun | ForkRun


async def play_job(job: AnyJob, minds: Minds, progress: Progress) -> RunCounts:
    """Play a job with these minds. Raises BadRun, BadScenario."""
    match job:
        case BeginRun():
            minds.policy = job.policy
            return await simulate(job.scenario, minds, out=job.folder, progress=progress)
        case ResumeRun():
            return await resume_run(job.folder, minds, progress=progress)
        case ForkRun():
            source, changes = job.source, job.changes
            return await fork_run(source, job.folder, job.at, changes, minds, progress=progress)


def play_job_in_child(pipe: Connection, job: AnyJob) -> None:
    """Play a job in a process of its own, which tells the rows that close a day or the run."""
    os.nice(KINDNESS)

    def progress(row: Stepped | DayEnded | RunLastRow) -> None:
        if not isinstance(row, Stepped):
            pipe.send(row.n)

    try:
        asyncio.run(play_job(job, Minds(), progress))
    except RecursionError:
        raise BadScenario("This scenario is too deep to be played.") from None
