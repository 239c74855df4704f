"""Deleting a run or a sweep: all that lies in its folder goes, its label stays.

Refused while a process writes there. What makes the folder a run or a sweep goes last, and ledgers
take note before that: what was cut off in between is there still, and can be deleted again.
"""

import asyncio
import fcntl
import os
import shutil
from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from loopforge.errors import BadRun
from loopforge.lab.run.run_folder import EXPERIMENT, LABEL, label_of, write_label
from loopforge.lab.run.run_log import LOG, head_of, log_of


class RunContents(Struct, frozen=True):
    """What goes with a run or a sweep: files by name, folders too, and how many bytes in all."""

    names: tuple[str, ...]
    size: int


def main_file(folder: Path) -> Path:
    """The file by which this folder is a run or a sweep. Raises BadRun where it is neither."""
    return sweep if (sweep := folder / EXPERIMENT).is_file() else log_of(folder)


def contents_of(folder: Path, only: Collection[str] = ()) -> RunContents:
    """What deleting a run or a sweep takes away, its main file first; `only` as in `delete_run`."""
    parts = _parts(folder, only)
    files = [each for part in parts for each in (part, *part.rglob("*"))]
    size = sum(each.stat().st_size for each in files if each.is_file() and not each.is_symlink())
    return RunContents(tuple(each.name for each in parts), size)


async def delete_run(
    folder: Path,
    now: datetime,
    witness: Callable[[str], Awaitable[None]] | None = None,
    only: Collection[str] = (),
) -> None:
    """Delete the run or the sweep in this folder for good.

    `witness` is told the hash of a run's last whole line, or "": what it raises leaves all as it
    was. With `only`, for folders that are not the lab's own, nothing else than files of these names
    goes, and no label stays; nor does the folder, if it is empty then.
    Raises BadRun where there is none, where it is being written, or where a file cannot be removed.
    """
    with _held(folder):
        head = head_of(folder) if main_file(folder).name == LOG else ""
        before = label_of(folder)
        if not only:
            write_label(folder, replace(before, deleted=now, head=head))
        try:
            if witness:
                await witness(head)
        except BaseException:
            if not only:
                write_label(folder, before)
            raise
        try:
            await asyncio.to_thread(_remove, folder, only)
        except OSError as error:
            told = f"{folder.name} cannot be deleted whole: {error.strerror or error}."
            raise BadRun(told) from error


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Hold a run's log, or a sweep's folder, as who writes there does. Raises BadRun."""
    main = main_file(folder)
    door = os.open(main if main.name == LOG else folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(door, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            told = f"{folder.name} is being played, or will be; stop it first."
            raise BadRun(told) from None
        yield
    finally:
        os.close(door)


def _remove(folder: Path, only: Collection[str]) -> None:
    for each in reversed(_parts(folder, only)):
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each)
        else:
            each.unlink()
    if only:
        (folder / LABEL).unlink(missing_ok=True)
        if not any(folder.iterdir()):
            folder.rmdir()


def _parts(folder: Path, only: Collection[str]) -> list[Path]:
    """What goes, the main file first."""
    held = folder.iterdir() if folder.is_dir() else ()
    going = [each for each in held if each.name != LABEL and (not only or each.name in only)]
    return sorted(going, key=lambda each: (each.name not in (LOG, EXPERIMENT), each.name))
