"""Deleting a run: its log and all that lies in its folder go, its label stays.

Refused while a process writes the log. What ledgers took note of stays in them.
"""

import fcntl
import shutil
from datetime import datetime
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from loopforge.errors import BadRun
from loopforge.lab.run.run_label import LABEL, label_of, write_label
from loopforge.lab.run.run_log import LOG, head_of, log_of


class RunContents(Struct, frozen=True):
    """What goes with a run: its files by name, folders too, and how many bytes there are in all."""

    names: tuple[str, ...]
    size: int


def contents_of(folder: Path) -> RunContents:
    """What deleting the run in this folder takes away; its log is named first."""
    names = sorted((each.name for each in _parts(folder)), key=lambda name: (name != LOG, name))
    files = (each for each in folder.rglob("*") if each.is_file() and not each.is_symlink())
    return RunContents(tuple(names), sum(each.stat().st_size for each in files))


def delete_run(folder: Path, now: datetime) -> str:
    """Delete the run in this folder for good; the hash of its last whole line, or "".

    Raises BadRun where there is none, where it is being written, or where a file cannot be removed.
    """
    with log_of(folder).open("rb") as log:
        try:
            fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadRun(f"{folder.name} is being played just now; stop it first.") from None
        head = head_of(folder)
        try:
            write_label(folder, replace(label_of(folder), deleted=now, head=head))
            (folder / LOG).unlink()
            for each in _parts(folder):
                if each.is_dir() and not each.is_symlink():
                    shutil.rmtree(each)
                else:
                    each.unlink()
        except OSError as error:
            told = f"{folder.name} cannot be deleted whole: {error.strerror or error}."
            raise BadRun(told) from error
    return head


def _parts(folder: Path) -> list[Path]:
    held = folder.iterdir() if folder.is_dir() else ()
    return [each for each in held if each.name != LABEL]
