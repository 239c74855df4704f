"""The archive: the runs and sweeps of a home, by the names of their folders.

RUNS/NAME/actions.jsonl                 a run, "NAME"
SWEEPS/SWEEP/runs/NAME/actions.jsonl    a run that a sweep kept, "SWEEP~NAME"
RUNS/NAME/*.html, SWEEPS/SWEEP/*.html   reports

A sweep may lie in RUNS, too. A name leads to a folder in one of the two or nowhere: links and paths
are no names. Indexes are kept for runs that were looked at last. Plays nothing, and writes nothing.
"""

from collections.abc import Callable, Hashable
from pathlib import Path
from threading import Lock
from typing import Generic, TypeVar

from msgspec import Struct

from loopforge.core.limits.bounded_mapping import BoundedMapping
from loopforge.errors import BadRun, TooLarge, Unknown
from loopforge.lab.inspect.run_reader import RunIndex
from loopforge.lab.run.run_folder import EXPERIMENT, label_of
from loopforge.lab.run.run_log import LOG, head_of, is_fork_of, is_written

V = TypeVar("V")
OPEN = 64
"""Indexes that are kept."""
WITHIN = "~"
"""Between the name of a sweep and that of a run in it."""
LARGEST = 30_000_000
"""Bytes of a report that is shown."""
MOST, MOST_KEPT = 10_000, 500
"""Runs and sweeps that are listed, the newest; and runs that one sweep kept."""


class SweepFolder(Struct, frozen=True):
    """A sweep's folder: what people call it or "", its reports, and the runs whose logs it kept."""

    name: str
    title: str
    written: float
    reports: tuple[str, ...]
    runs: tuple[str, ...]


class RecentCache(Generic[V]):
    """So many things that were asked for last, by key; each is made once. Safe in threads."""

    def __init__(self, most: int) -> None:
        self._kept: BoundedMapping[Hashable, V] = BoundedMapping(most)
        self._lock, self._making = Lock(), Lock()

    def of(self, key: Hashable, make: Callable[[], V]) -> V:
        """What has this key; made, where it is not there, while others who ask wait."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        with self._making:
            found = self._kept.get(key) or make()
            with self._lock:
                self._kept[key] = found
        return found


class RunArchive:
    """The runs under a folder and the sweeps under another; neither need be there. Thread-safe."""

    def __init__(self, folder: Path, sweeps: Path | None = None) -> None:
        self.folder = folder
        self._roots = (folder, sweeps) if sweeps else (folder,)
        self._open: RecentCache[RunIndex] = RecentCache(OPEN)

    def names(self) -> list[str]:
        """The runs, the one that was written last first; those of sweeps are not among them."""
        found = []
        for each in self._folders():
            try:
                found.append(((each / LOG).stat().st_mtime, each.name))
            except OSError:
                continue
        return [name for _, name in sorted(found, reverse=True)[:MOST]]

    def sweeps(self) -> list[SweepFolder]:
        """The sweeps, the newest first."""
        found = []
        for each in self._folders():
            if (each / EXPERIMENT).is_file():
                kept = sorted(log.parent.name for log in (each / "runs").glob(f"*/{LOG}"))
                found.append(
                    SweepFolder(
                        name=each.name,
                        title=label_of(each).title,
                        written=(each / EXPERIMENT).stat().st_mtime,
                        reports=self.reports(each.name),
                        runs=tuple(kept[:MOST_KEPT]),
                    )
                )
        return sorted(found, key=lambda sweep: -sweep.written)[:MOST]

    def _folders(self) -> list[Path]:
        held = [one for root in self._roots if root.is_dir() for one in root.iterdir()]
        return [one for one in held if one.is_dir() and not one.is_symlink()]

    def _named(self, part: str) -> Path:
        """The folder of this name, in RUNS where it is in neither."""
        held = (root / part for root in self._roots)
        return next((each for each in held if each.is_dir()), self.folder / part)

    def path(self, name: str) -> Path:
        """The folder of this name, there or not. Raises Unknown for what can be no name."""
        parts = [name] if self._named(name[:200]).is_dir() else name.split(WITHIN)
        if len(parts) > 2 or not all(_plain(part) for part in parts):
            raise Unknown(f"There is no run {name[:100]!r} here.")
        folder = self._named(parts[0])
        within = folder / "runs" / parts[1] if len(parts) == 2 else folder
        if any(each.is_symlink() for each in (folder, folder / "runs", within, within / LOG)):
            raise Unknown(f"There is no run {name[:100]!r} here.")
        return within

    def found(self, name: str) -> Path:
        """The folder of a run that is there. Raises Unknown, which says so of a deleted one."""
        folder = self.path(name)
        if not (folder / LOG).is_file():
            told = label_of(folder).said(name)
            raise Unknown(told or f"There is no run {name[:100]!r} here.")
        return folder

    def listed(self, name: str) -> Path:
        """The folder of a run or a sweep that is there. Raises Unknown."""
        folder = self.path(name)
        return folder if (folder / EXPERIMENT).is_file() else self.found(name)

    def index(self, name: str) -> RunIndex:
        """A run as it stands now. Raises Unknown: no such run; BadRun: it cannot be read."""
        folder = self.found(name)
        index = self._open.of(name, lambda: RunIndex(folder))
        index.refresh()
        return index

    def alone(self, name: str) -> Path:
        """The folder of a sweep, or of a run that none keeps, if any. Raises Unknown, BadRun."""
        folder = self.path(name)
        if self.in_sweep(folder):
            raise BadRun(f"{name} is one of the runs of a sweep, which says what they came to.")
        return folder

    def in_sweep(self, folder: Path) -> bool:
        """Whether this folder of a run is one that a sweep keeps."""
        return folder.parent not in self._roots

    def origin(self, head: str, fork: str) -> tuple[str, str]:
        """The run that this fork was made of, and a sentence if it was deleted.

        By the name that the fork keeps; else the run whose log ended, or ends, with this hash. Two
        empty texts where there is none. Of runs with the same rows one that is still there.
        """
        made = self.path(fork)
        source = label_of(made).source
        gone = "", ""
        for folder in self._folders():
            label, named = label_of(folder), folder.name == source
            try:
                if not (folder / LOG).is_file():
                    if label.deleted and (named or label.head == head):
                        gone = folder.name, label.said(folder.name)
                elif head_of(folder) == head or (named and is_fork_of(made, folder)):
                    return folder.name, ""
            except BadRun:
                continue
        return gone

    def busy(self, name: str) -> bool:
        """Whether some process writes this run, or sweep, just now."""
        folder = self.path(name)
        try:
            return is_written(folder if (folder / EXPERIMENT).is_file() else folder / LOG)
        except OSError:
            return False

    def free(self, wanted: str, taken: frozenset[str] = frozenset()) -> str:
        """A name that no run has yet, made of letters, digits, underscores and hyphens."""
        plain = "".join(
            sign if sign.isascii() and (sign.isalnum() or sign == "_") else "-" for sign in wanted
        )
        plain = "-".join(part for part in plain.split("-") if part)[:80] or "run"
        name, nth = plain, 1
        while name in taken or any((root / name).exists() for root in self._roots):
            nth += 1
            name = f"{plain}-{nth}"
        return name

    # ------------------------------------------------------------ reports

    def reports(self, name: str) -> tuple[str, ...]:
        """The reports in the folder of a run or a sweep, by their files' names."""
        folder = self.path(name)
        if not folder.is_dir():
            return ()
        return tuple(sorted(each.name for each in folder.glob("*.html") if _shown(each)))

    def report(self, name: str, file: str) -> bytes:
        """A report. Raises Unknown, TooLarge, BadRun."""
        path = self.path(name) / file
        if not _plain(file) or not file.endswith(".html") or not _shown(path):
            raise Unknown("There is no such report here.")
        try:
            if path.stat().st_size > LARGEST:
                raise TooLarge(f"{file} is too large to be shown; open it in a browser by itself.")
            return path.read_bytes()
        except OSError as error:
            raise BadRun(f"{file} cannot be read: {error.strerror}.") from error


def _plain(name: str) -> bool:
    """Whether this can be the name of one folder or file, and of nothing else."""
    return (
        0 < len(name) <= 200
        and name.isprintable()
        and not name.startswith(".")
        and not any(sign in name for sign in "/\\")
    )


def _shown(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()
