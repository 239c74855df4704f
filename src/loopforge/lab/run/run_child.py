"""A run in a process of its own: `python -m loopforge.lab.run.run_child`, given a job on its input.

For a host that has pages to serve meanwhile. Only minds that ask no model can be sent here. What
closed a day or the run is told, a line each, by the number of its row; an error is told as the last
line. It ends by itself where its parent is gone; what is closed by then can be taken up.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from loopforge.core.factory_vocabulary import DayEnded, RunLastRow, Stepped
from loopforge.errors import BadScenario, LoopforgeError
from loopforge.lab.run.robot_minds import Minds
from loopforge.lab.run.run_lifecycle import Progress, Run, fork, resume, simulate
from loopforge.lab.world.scenario_checks import Scenario

KINDNESS = 5
"""How far it stands back from whoever serves people on the same machine (nice)."""


class RunJob(Struct, frozen=True, kw_only=True, tag_field="do"):
    """What is to be played, into `folder`."""

    folder: str


class Begin(RunJob, frozen=True, kw_only=True, tag="run"):
    """A scenario, complete, from its first step on."""

    scenario: dict[str, Any]
    policy: str = "stub"


class TakeUp(RunJob, frozen=True, kw_only=True, tag="resume"):
    """A run that was cut off, to its end."""


class Branch(RunJob, frozen=True, kw_only=True, tag="fork"):
    """The run in `source` up to step `at`, and on from there with something changed."""

    source: str
    at: int
    changes: dict[str, str]


AnyJob = Begin | TakeUp | Branch


class ChildTold(Struct, frozen=True, omit_defaults=True):
    """A line of what it tells: the row that closed a day or the run, or why there is none."""

    row: int = -1
    error: str = ""


async def played(job: AnyJob, minds: Minds, progress: Progress) -> Run:
    """Play a job with these minds. Raises BadRun, BadScenario."""
    folder = Path(job.folder)
    match job:
        case Begin():
            minds.policy = job.policy
            scenario = Scenario.from_dict(job.scenario)
            return await simulate(scenario, minds, out=folder, progress=progress)
        case TakeUp():
            return await resume(folder, minds, progress=progress)
        case Branch():
            source, changes = Path(job.source), job.changes
            return await fork(source, folder, job.at, changes, minds, progress=progress)


def main(text: bytes, tell: Callable[[ChildTold], None]) -> int:
    """Play the job that `text` says; the exit code."""
    parent = os.getppid()

    def progress(row: Stepped | DayEnded | RunLastRow) -> None:
        if os.getppid() != parent:
            raise SystemExit(1)
        if not isinstance(row, Stepped):
            tell(ChildTold(row=row.n))

    try:
        job = msgspec.json.decode(text, type=AnyJob)
        asyncio.run(played(job, Minds(), progress))
    except msgspec.MsgspecError as error:
        tell(ChildTold(error=f"This is no job for a run: {error}."))
        return 2
    except LoopforgeError as error:
        tell(ChildTold(error=str(error)))
        return 1
    except RecursionError:
        tell(ChildTold(error=str(BadScenario("This scenario is too deep to be played."))))
        return 1
    return 0


def _tell(told: ChildTold) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(told) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    os.nice(KINDNESS)
    sys.exit(main(sys.stdin.buffer.read(), _tell))
