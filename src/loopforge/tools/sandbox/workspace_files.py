"""Files of a workspace, read and written by Loopforge itself while, or after, programs use them.

    files = WorkspaceFiles(sandbox.workspace)
    files.write("in/data.csv", data); files.read("out/plot.png", most=1_000_000); files.listing()

Whatever a program put there (links that lead out, pipes that nobody feeds, ten thousand folders in
one another, names that write on a terminal) no path leads out and no call waits. Each folder on
the way is opened by itself, from the one above it, and no link is followed, not even one within.
Blocking, and quick: call it in a thread. Does not know what is in a file, nor trust it.
"""

import os
import stat
import subprocess
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Literal

from loopforge.errors import InputError, TooLarge, Unknown
from loopforge.tools.sandbox.bubblewrap import runner_uid

Kind = Literal["file", "folder", "link", "other"]
DEEPEST = 32
_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True)
class WorkspaceEntry:
    """Something that lies in a workspace. `path` leads to it; `shown` is safe to be shown.

    `changed`: nanoseconds, as its program would have it, so that it may lie. `executable`: its
    owner may run it.
    """

    path: str
    kind: Kind
    size: int
    changed: int = 0
    executable: bool = field(default=False, compare=False)

    @property
    def shown(self) -> str:
        """Its path, with what would not be seen as it is (breaks, escapes) spelled out."""
        return "".join(map(_visible, self.path))


def _visible(sign: str) -> str:
    odd = unicodedata.category(sign)[0] in "CZ" and sign != " "
    return sign.encode("unicode_escape").decode() if odd or sign == "\\" else sign


def deduplicate_names(names: Sequence[str]) -> list[str]:
    """These names, as phones give them to all photos: one that came before gets a number."""
    found: list[str] = []
    for name in names:
        stem, dot, ending = name.rpartition(".") if "." in name[1:] else (name, "", "")
        numbered = (f"{stem}-{nth}{dot}{ending}" for nth in count(2))
        found.append(name if name not in found else next(n for n in numbered if n not in found))
    return found


class WorkspaceFiles:
    """The files of one workspace.

    Raises Unknown for what is no file there, InputError for a path that none can have.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def read(self, path: str, most: int, start: int = 0) -> bytes:
        """At most this many bytes of a file, from `start` on."""
        with self._above(path) as (folder, name):
            try:
                file = os.open(name, _READ, dir_fd=folder)
            except OSError as error:
                raise self._amiss(path, error) from error
            try:
                if not stat.S_ISREG(os.fstat(file).st_mode):
                    raise Unknown(f"{path!r} is no file that can be read in this workspace.")
                return os.pread(file, most, start)
            finally:
                os.close(file)

    def write(
        self, path: str, data: bytes, most: int = 64 * 1024 * 1024, *, executable: bool = False
    ) -> None:
        """Write a file whole, or not at all; its folders are made. What stood there is replaced."""
        if len(data) > most:
            raise TooLarge(f"{path!r} has {len(data)} bytes; a workspace takes {most} in one file.")
        with self._above(path, make=True) as (folder, name):
            fresh = f".{os.getpid()}-{id(data)}.part"
            try:
                file = os.open(fresh, _NEW, 0o600, dir_fd=folder)
                try:
                    with open(file, "wb", closefd=False) as stream:
                        stream.write(data)
                    if executable:
                        os.fchmod(file, 0o700)
                    _give(file)
                finally:
                    os.close(file)
                os.replace(fresh, name, src_dir_fd=folder, dst_dir_fd=folder)
            except OSError as error:
                with suppress(OSError):
                    os.unlink(fresh, dir_fd=folder)
                raise self._amiss(path, error) from error

    def entry(self, path: str) -> WorkspaceEntry:
        """What lies at a path, a link as itself. Raises Unknown where nothing does."""
        with self._above(path) as (folder, name):
            try:
                os.stat(name, dir_fd=folder, follow_symlinks=False)
            except OSError as error:
                raise self._amiss(path, error) from error
            return _seen(_parts(path), folder)

    def folder(self, path: str) -> None:
        """Make a folder, and those above it; quiet where it is there."""
        with self._folder(_parts(path), make=True):
            pass

    def link(self, path: str) -> str:
        """Where a link says that it leads; it is not gone there. Raises Unknown for no link."""
        with self._above(path) as (folder, name):
            try:
                return os.readlink(name, dir_fd=folder)
            except OSError as error:
                raise self._amiss(path, error) from error

    def make_link(self, path: str, target: str) -> None:
        """Make a link, wherever it leads; for programs of the sandbox alone. Raises Unknown."""
        with self._above(path, make=True) as (folder, name):
            try:
                os.symlink(target, name, dir_fd=folder)
            except OSError as error:
                raise self._amiss(path, error) from error

    def listing(
        self, most: int = 1000, without: Collection[str] = frozenset()
    ) -> list[WorkspaceEntry]:
        """What lies there, by path: at most this many, no deeper than DEEPEST folders.

        Folders of the names `without` are listed, but not what lies in them.
        """
        found: list[WorkspaceEntry] = []
        folders: list[tuple[str, ...]] = [()]
        while folders and len(found) < most:
            way = folders.pop()
            with suppress(Unknown, OSError), self._folder(way) as held:
                opened = os.open(f"/proc/self/fd/{held}", os.O_RDONLY | os.O_CLOEXEC)
                try:
                    with os.scandir(opened) as entries:
                        for entry in entries:
                            if len(found) >= most:
                                break
                            found.append(seen := _seen((*way, entry.name), opened))
                            inside = seen.kind == "folder" and entry.name not in without
                            if inside and len(way) < DEEPEST:
                                folders.append((*way, entry.name))
                finally:
                    os.close(opened)
        return sorted(found, key=lambda entry: os.fsencode(entry.path))

    def remove(self) -> None:
        """Take the workspace away with all that is in it, however it was laid out."""
        if self._root.is_symlink():  # chmod would follow it
            self._root.unlink()
        if not self._root.exists():
            return
        given = [("chmod", "-R", "u+rwx", "--"), ("rm", "-rf", "--one-file-system", "--")]
        for command in given:  # both walk by descriptors, follow no link and mind no depth
            subprocess.run(  # noqa: S603
                [*command, str(self._root.absolute())],
                env={"PATH": "/usr/bin:/bin"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                check=False,
            )
        if self._root.exists():
            raise InputError(f"{self._root} could not be removed whole; remove it by hand.")

    @contextmanager
    def _above(self, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
        """The folder a path lies in, open, and the last part of its name."""
        *way, name = _parts(path)
        with self._folder(tuple(way), make=make) as folder:
            yield folder, name

    @contextmanager
    def _folder(self, way: tuple[str, ...], *, make: bool = False) -> Iterator[int]:
        held = os.open(self._root, _FOLDER)
        try:
            for part in way:
                try:
                    if make:
                        _make(part, held)
                    below = os.open(part, _FOLDER, dir_fd=held)
                except OSError as error:
                    raise self._amiss("/".join(way), error) from error
                os.close(held)
                held = below
            yield held
        finally:
            os.close(held)

    def _amiss(self, path: str, error: OSError) -> InputError:
        return Unknown(f"{path!r} cannot be used in this workspace: {error.strerror}.")


def _parts(path: str) -> tuple[str, ...]:
    """The names of a path. Raises InputError for one that leads nowhere in a workspace."""
    parts = path.split("/")
    while parts and parts[0] == ".":
        parts.pop(0)
    try:
        long = max((len(os.fsencode(part)) for part in parts), default=0) > 255
    except UnicodeEncodeError:
        long = True
    bad = not parts or any(part in ("", ".", "..") or "\0" in part for part in parts)
    if bad or long or len(parts) > DEEPEST + 1:
        raise InputError(
            f"{path[:200]!r} is no path in a workspace: give it from there on, like out/a.png."
        )
    return tuple(parts)


def _make(name: str, above: int) -> None:
    """Make a folder unless something is there; as root it belongs to those who run programs."""
    try:
        os.mkdir(name, 0o700, dir_fd=above)
    except FileExistsError:
        return
    if (uid := runner_uid()) is not None:
        os.chown(name, uid, uid, dir_fd=above, follow_symlinks=False)


def _give(file: int) -> None:
    if (uid := runner_uid()) is not None:
        os.fchown(file, uid, uid)


def _seen(way: tuple[str, ...], folder: int) -> WorkspaceEntry:
    try:
        seen = os.stat(way[-1], dir_fd=folder, follow_symlinks=False)
    except OSError:
        return WorkspaceEntry("/".join(way), "other", 0)
    kinds: dict[int, Kind] = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}
    kind = kinds.get(stat.S_IFMT(seen.st_mode), "other")
    runs = bool(seen.st_mode & stat.S_IXUSR)
    return WorkspaceEntry("/".join(way), kind, seen.st_size, seen.st_mtime_ns, runs)
