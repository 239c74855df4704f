"""Where a run's files go, and how one is written anew.

The one file of the lab that reads the environment: `run_simulation` is called by scripts that
open no home, and they are promised that ACTION_LOG_PATH counts for them too; settings.py, which
owns the environment, stands above the lab.
"""

import os
from collections.abc import Iterable
from itertools import count
from pathlib import Path

from loopforge.errors import BadRun

ACTION_LOG = Path("logs/loopforge_actions.jsonl")
RUNS = Path("runs")
EXPERIMENT = "experiment.json"
"""The file in which a sweep keeps its experiment with its scenarios: where it is, a sweep is."""


def action_log(given: Path | str | None) -> Path:
    """The action log beside the run's own: as given, else ACTION_LOG_PATH, else under logs/."""
    return Path(given or os.environ.get("ACTION_LOG_PATH") or ACTION_LOG)


def free_folder(name: str, runs: Path = RUNS) -> Path:
    """A folder for a new run: runs/NAME, or with the first number that is free.

    It is made, so that no other process is given it. Where that cannot be, whoever writes there
    says why.
    """
    for nth in count(1):
        folder = runs / (name if nth == 1 else f"{name}-{nth}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError:
            pass
        return folder
    raise AssertionError("unreachable")


def replace_file(path: Path, lines: Iterable[bytes]) -> None:
    """Write a file in the place of the one that is there, all of it or nothing. Raises BadRun."""
    beside = path.with_name(f"{path.name}.new")
    try:
        with beside.open("wb") as file:
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        raise BadRun(f"{path} cannot be written: {error.strerror}.") from error
