"""The folder of a run or a sweep: where its files go, and the label that it bears.

A run's name is that of its folder, which never changes: addresses, other runs and the ledger know
it by that. What people call it is only shown. Of a deleted run the label alone stays, so that its
name is not given again and whatever cites it can say what became of it.

The one file of the lab that reads the environment: `run_simulation` is called by scripts that
open no home, and they are promised that ACTION_LOG_PATH counts for them too; settings.py, which
owns the environment, stands above the lab.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from itertools import count
from pathlib import Path

import msgspec

from loopforge.errors import BadRun, InputError

ACTION_LOG = Path("logs/loopforge_actions.jsonl")
RUNS = Path("runs")
EXPERIMENT = "experiment.json"
"""The file in which a sweep keeps its experiment with its scenarios: where it is, a sweep is."""
UNFINISHED = ".new"
"""Ends the name of what is being written in a file's place; a kill may leave it there."""


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
    beside = path.with_name(f"{path.name}{UNFINISHED}")
    try:
        with beside.open("wb") as file:
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise BadRun(f"{path} cannot be written: {error.strerror}.") from error


def is_run_of_sweep(folder: Path) -> bool:
    """Whether a run lies in the folder of a sweep that kept it."""
    return (folder.resolve().parent.parent / EXPERIMENT).exists()


def refuse_run_of_sweep(folder: Path) -> None:
    """Raises BadRun for a run that a sweep kept: what it comes to is the sweep's to say."""
    if is_run_of_sweep(folder):
        raise BadRun(f"{folder.name} is one of the runs of a sweep, which says what they came to.")


# ---------------------------------------------------------------- run label


LABEL = "label.json"
LONGEST = 80
"""Characters of what a run is called."""


class RunLabel(msgspec.Struct, frozen=True, omit_defaults=True):
    """`title` is what people call a run, or ""; `deleted` when it was, and `head` its last hash.

    `source` is the name of the run that it was forked from: a run may have gone on since, and have
    another head than the fork's first row tells.
    """

    title: str = ""
    deleted: datetime | None = None
    head: str = ""
    source: str = ""

    def said(self, name: str) -> str:
        """A sentence on a deleted run or sweep of this name; "" of one that is there."""
        if self.deleted is None:
            return ""
        return f"{name} was deleted on {self.deleted.day} {self.deleted:%B %Y}."


def label_of(folder: Path) -> RunLabel:
    """The label of a run's folder; an empty one where there is none that can be read."""
    try:
        return msgspec.json.decode((folder / LABEL).read_bytes(), type=RunLabel)
    except (OSError, msgspec.MsgspecError):
        return RunLabel()


def write_label(folder: Path, label: RunLabel) -> None:
    """Write the label of a folder that is there. Raises BadRun."""
    replace_file(folder / LABEL, [msgspec.json.encode(label)])


def keep_source(folder: Path, source: Path) -> None:
    """Keep in a new fork's label which run it is made of. Raises BadRun."""
    write_label(folder, RunLabel(source=source.resolve().name))


def entitle(folder: Path, title: str) -> None:
    """Say what people call a run; "" takes it back. Raises InputError, BadRun."""
    plain = " ".join(title.split())
    if len(plain) > LONGEST or not plain.isprintable():
        raise InputError(f"A run is called by at most {LONGEST} letters and signs in one line.")
    write_label(folder, msgspec.structs.replace(label_of(folder), title=plain))
