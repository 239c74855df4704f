"""The writer of a run's log: one process holds it, and what stands there is never rewritten.

A run that is taken up is played again from its beginning: the writer compares what it is given with
what the file holds, and appends what is new. An action log beside it gets the same rows, each once.
"""

import fcntl
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, Self

from loopforge.errors import BadRun
from loopforge.lab.run.run_log import (
    LOG,
    JsonlActionLogger,
    LogSink,
    file_error_text,
    is_resume_point,
    lines_of,
    log_of,
    row_of,
    write_all,
)


class RunLogWriter:
    """A run's own log file, held by one process; compares before it appends where rows exist.

    With `resumed` the log is there: `known` are its lines up to where it can be gone on from, read
    once nobody else can write them. Raises BadRun.
    """

    def __init__(self, folder: Path, *, resumed: bool = False) -> None:
        self.path = log_of(folder) if resumed else folder / LOG
        self.known: list[bytes] = []
        self._at = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file: BinaryIO = self.path.open("ab" if resumed else "xb", buffering=0)
        except FileExistsError as error:
            if not folder.is_dir():
                raise BadRun(f"{folder} is no folder; a run needs one of its own.") from error
            raise BadRun(
                f"{folder} holds a run already. Name another --out, or take it up with --resume."
            ) from error
        except (OSError, ValueError) as error:  # ValueError: no path at all
            raise BadRun(f"{self.path} cannot be written: {file_error_text(error)}.") from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if resumed:
                self.known = _resumable_lines(folder)
        except BlockingIOError as error:
            self.close()
            raise BadRun(f"{folder} is being written by another process just now.") from error
        except BaseException:
            self.close()
            raise
        self._there = b"".join(self.known)

    def write(self, lines: bytes) -> None:
        """Append; what stands there already must be the same."""
        if self._at < len(self._there):
            there = self._there[self._at : self._at + len(lines)]
            if there != lines[: len(there)]:
                raise BadRun(
                    f"{self.path} cannot be taken up: what it holds is not what this program does "
                    "with the same scenario. Its log is left as it is."
                )
            self._at += len(lines)
            lines = lines[len(there) :]
        if lines and self._there:
            self._file.truncate(len(self._there))
            self._there = b""
        write_all(self._file, self.path, lines)

    def close(self) -> None:
        """Give the folder free."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _resumable_lines(folder: Path) -> list[bytes]:
    """The lines of a log up to the last row after which its run can be gone on with."""
    whole: list[bytes] = []
    pending: list[bytes] = []
    for line in lines_of(folder):
        pending.append(line)
        if is_resume_point(row_of(line)):
            whole += pending
            pending = []
    return whole


class LogTee:
    """A run's log with an action log beside it, which gets what it lacks of the run's rows."""

    def __init__(self, log: RunLogWriter, logger: JsonlActionLogger) -> None:
        self._log, self._logger = log, logger
        self._left = _bytes_held(logger.path, log.known) if log.known else 0

    def write(self, lines: bytes) -> None:
        """To both."""
        self._log.write(lines)
        skipped = min(self._left, len(lines))
        self._left -= skipped
        if skipped < len(lines):
            self._logger.write(lines[skipped:])


def _bytes_held(path: Path, known: Sequence[bytes]) -> int:
    """How many bytes of a run's lines an action log got; all, where it has none: it is a new one.

    A kill between the two files may have kept rows from it, or torn the last.
    """
    ends: dict[bytes, int] = {}
    size = 0
    for line in known:
        size += len(line)
        ends[line] = size
    held, torn = 0, b""
    with path.open("rb") as file:
        for line in file:
            if line in ends:
                held, torn = ends[line], b""
            elif not line.endswith(b"\n"):
                torn = line
    if not held:
        return size
    more = b"".join(known)[held:]
    return held + (len(torn) if torn and more.startswith(torn) else 0)


@contextmanager
def open_logs(
    folder: Path, beside: Path | None, *, resumed: bool = False
) -> Iterator[tuple[RunLogWriter, LogSink]]:
    """A run's log, and where its rows go: there, and into an action log beside. Raises BadRun."""
    with ExitStack() as stack:
        if beside is None:
            log = stack.enter_context(RunLogWriter(folder, resumed=resumed))
            yield log, log
            return
        logger = JsonlActionLogger(beside)  # first: where it cannot be, no run is begun
        stack.callback(logger.close)
        log = stack.enter_context(RunLogWriter(folder, resumed=resumed))
        yield log, LogTee(log, logger)
