"""The log of a run: rows as JSON lines, each hashed over the one before.

    hash(n) = SHA-256(hash(n-1) + the row's own bytes)

A row stands in the file as its JSON with the hash as last key. Rows are written a step at a time,
so that a killed run has lost at most the step in flight. Reading gives rows back one at a time;
checking says which line is not what was written.
"""

import fcntl
import os
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Protocol

import msgspec

from loopforge.core.factory_vocabulary import (
    Began,
    DayEnded,
    Decided,
    Reflected,
    Row,
    RunLastRow,
    Stepped,
)
from loopforge.errors import BadRun, BadScenario
from loopforge.lab.run.run_folder import label_of
from loopforge.lab.world.scenario_checks import Scenario

LOG = "actions.jsonl"
START = sha256(b"loopforge factory").digest()
TAIL = len(b',"hash":""}') + 64
BLOCK = 4096
"""Bytes that are read at once from the end of a log."""
_encoder = msgspec.json.Encoder()

ActionLogEntry = Decided


class LogSink(Protocol):
    """Where lines go."""

    def write(self, lines: bytes) -> object:
        """Take whole lines."""


class LogChain:
    """Turns rows into lines, each hashed over the last; `head` is the hash so far."""

    __slots__ = ("_line", "head")

    def __init__(self) -> None:
        self.head = START
        self._line = bytearray()

    def line(self, row: Row) -> bytes:
        """The row's line, with its newline."""
        line = self._line  # written over and over: it has grown to the size of a row
        _encoder.encode_into(row, line)
        self.head = sha256(self.head + line).digest()
        line[-1:] = b',"hash":"%s"}\n' % self.head.hex().encode()
        return bytes(line)


def body_of(line: bytes) -> tuple[bytes, str]:
    """A line's row as it was hashed, and the hash it states."""
    stripped = line.rstrip(b"\n")
    return stripped[:-TAIL] + b"}", stripped[-66:-2].decode("ascii", "replace")


def row_of(line: bytes) -> Row:
    """The row of a line. Raises BadRun."""
    body, _ = body_of(line)
    try:
        row: Row = _decoder().decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadRun(f"this is no row of a run: {error}") from error
    return row


@cache
def _decoder() -> msgspec.json.Decoder[Row]:
    """Made where a row is first read: a sweep's workers only write them."""
    return msgspec.json.Decoder(Row)


def log_of(folder: Path) -> Path:
    """The log of a run's folder. Raises BadRun where there is none."""
    path = folder / LOG
    if not path.is_file():
        if told := label_of(folder).said(folder.name):
            raise BadRun(told)
        raise BadRun(f"{folder} holds no {LOG}: it is no run. `loopforge lab run --out` makes one.")
    return path


def head_of(folder: Path) -> str:
    """The hash of a run's last whole line, or ""; reads the end of its log alone. Raises BadRun."""
    with log_of(folder).open("rb") as file:
        begin = size = file.seek(0, os.SEEK_END)
        tail = b""
        while begin and tail.rfind(b"\n") < TAIL:
            begin = max(0, begin - BLOCK)
            file.seek(begin)
            tail = file.read(size - begin)
    line, newline, _ = tail.rpartition(b"\n")
    return body_of(line)[1] if newline else ""


def is_written(path: Path) -> bool:
    """Whether a process holds this log, or a sweep's folder, for writing. Raises OSError."""
    door = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(door, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(door)
    return False


def hold(folder: Path) -> BinaryIO:
    """Keep a run from being written or deleted until this is closed. Raises BadRun."""
    file = log_of(folder).open("rb")
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise BadRun(f"{folder} is being written by another process just now.") from None
    return file


def lines_of(folder: Path) -> Iterator[bytes]:
    """The whole lines of a run's log; a last one that was cut off is left out."""
    with log_of(folder).open("rb") as file:
        for line in file:
            if line.endswith(b"\n"):
                yield line


def rows_of(folder: Path) -> Iterator[Row]:
    """The rows of a run, in order.

    Raises BadRun, naming the line that is none, or not the next, or of another city.
    """
    crew, rules = set[str](), set[str]()
    for number, line in enumerate(lines_of(folder), 1):
        try:
            row = row_of(line)
            if row.n != number - 1:
                raise BadRun(f"row {row.n} does not follow on the one before it.")
            if isinstance(row, Began):
                scenario = Scenario.from_dict(row.scenario)
                crew, rules = {robot.name for robot in scenario.robots}, {*scenario.rules}
            elif isinstance(row, Decided | Reflected) and row.who not in crew:
                raise BadRun(f"nobody of this run's scenario is called {row.who[:80]!r}.")
            elif isinstance(row, Decided) and row.truth.rule not in rules:
                raise BadRun(f"this run's scenario has no rule {row.truth.rule[:80]!r}.")
        except (BadRun, BadScenario) as error:
            raise BadRun(f"{folder / LOG}, line {number}: {error}") from error
        yield row


def began_of(folder: Path) -> Began:
    """The first row of a run. Raises BadRun."""
    first = next(rows_of(folder), None)
    if not isinstance(first, Began):
        raise BadRun(f"{folder / LOG} does not begin with what the run was; its head is missing.")
    return first


def is_fork_of(fork: Path, source: Path) -> bool:
    """Whether this fork was made of this run, as it is, or as it was before it went on.

    Raises BadRun.
    """
    made, first = began_of(fork), began_of(source)
    if made.forked is None or first.forked is not None:
        return False
    named = label_of(fork).source == source.resolve().name
    same = (made.digest, made.seed, made.policies) == (first.digest, first.seed, first.policies)
    return made.forked["of"] == head_of(source) or (named and same)


def split_first_row(rows: Iterable[Row]) -> tuple[Began, Iterator[Row]]:
    """The first of these rows, and those behind it. Raises BadRun where they do not begin a run.

    Acts of a step that was never closed are left out: what came of them stands nowhere.
    """
    stream = iter(rows)
    first = next(stream, None)
    if not isinstance(first, Began):
        raise BadRun("These rows do not begin with what the run was; its head is missing.")
    return first, _whole_steps(stream)


def _whole_steps(rows: Iterable[Row]) -> Iterator[Row]:
    acts: list[Decided] = []
    for row in rows:
        if isinstance(row, Decided):
            acts.append(row)
            continue
        yield from acts
        acts.clear()
        yield row


def is_resume_point(row: Row) -> bool:
    """Whether a run may be taken up after this row."""
    return isinstance(row, Began | Stepped | DayEnded | RunLastRow)


def write_all(file: BinaryIO, path: Path, lines: bytes) -> None:
    """Write all of it: a raw file may take a part without a word. Raises BadRun."""
    try:
        while lines:
            taken = file.write(lines)
            if not taken:
                raise BadRun(f"{path} cannot be written: it takes nothing more.")
            lines = lines[taken:]
    except OSError as error:
        raise BadRun(f"{path} cannot be written: {file_error_text(error)}.") from error


def file_error_text(error: OSError | ValueError) -> str:
    """What an error of a file says, in its own words and no more."""
    return (isinstance(error, OSError) and error.strerror) or str(error)


def refuse_log_name(path: Path, *names: str) -> None:
    """Raises BadRun where this file, which is to be written, has one of these names of a log."""
    if path.name in names:
        raise BadRun(f"{path} is the name of a log itself; name another file.")


class JsonlActionLogger:
    """Appends rows to a file of their own, beside the run's log. Raises BadRun if it cannot."""

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        refuse_log_name(self.path, LOG)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file: BinaryIO = self.path.open("ab", buffering=0)
        except (OSError, ValueError) as error:  # ValueError: no path at all
            raise BadRun(
                f"The action log {path} cannot be written: {file_error_text(error)}."
            ) from error

    def write(self, lines: bytes) -> None:
        """Append whole lines."""
        write_all(self._file, self.path, lines)

    def write_entry(self, entry: ActionLogEntry) -> None:
        """Append one row as a line, unchained."""
        self.write(_encoder.encode(entry) + b"\n")

    def close(self) -> None:
        """Done."""
        self._file.close()


def log_action(logger: JsonlActionLogger, entry: ActionLogEntry) -> None:
    """Write one entry to an action log. A log that cannot be written is an error, never silence."""
    logger.write_entry(entry)
