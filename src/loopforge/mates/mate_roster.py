"""The roster: the mates of a home, as their files are now.

    file is fine ----------------------> running
    running, and the file breaks ------> running still, the last good version; a problem
    running, and the file goes away ---> gone (known as gone)
    broken from the start -------------> a problem, nobody runs

Files are looked at whenever somebody asks (one `stat` each), so an edit applies with the next turn.
Two files with one handle: the one that runs has it, then the one that is called so, then the first
by file name; the other is a problem. Never raises for what stands in the folder. One event loop may
use it, and threads beside it.

`MateCache` is for whoever asks dozens of times in a turn: a look at the files holds for a moment;
who is not found is looked for anew, since a mate may have been made just now.
"""

import os
import stat
import threading
from collections.abc import ItemsView, Iterator, Mapping, ValuesView
from pathlib import Path
from typing import NamedTuple

from loopforge.core.mates import yaml_reader
from loopforge.core.mates.mate_file import Mate, mate_file_flaws, parse_mate
from loopforge.errors import BadMate, InputError, Unknown
from loopforge.runtime.installation.home_files import replace_whole
from loopforge.runtime.ports import Clock
from loopforge.runtime.ttl_cache import TtlCache

MOST = 500
"""Files that are read; a folder with more is taken for a mistake."""


class _Print(NamedTuple):
    """What tells one version of a file from another without reading it."""

    changed: int
    size: int
    inode: int
    mode: int


class _File(NamedTuple):
    """One file: its last look, the mate it last held, the text of that, what is wrong now."""

    print: _Print | None
    mate: Mate | None
    text: str
    problems: tuple[BadMate, ...]


class RosterNews(NamedTuple):
    """A version of a mate that began to run; `hash` is "" where the mate went away instead."""

    handle: str
    hash: str = ""
    text: str = ""


class RosterStanding(NamedTuple):
    """How it stands with one mate or file. `handle` is "" where a file holds no mate.

    `state`: "runs", "runs its last good version", "broken" or "gone".
    """

    handle: str
    state: str
    file: str
    mate: Mate | None
    problems: tuple[BadMate, ...]


class MateRoster:
    """The mates in a folder of Markdown files. The folder need not be there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files: dict[str, _File] = {}
        self._gone: dict[str, str] = {}
        self._clashes: list[BadMate] = []
        self._trouble: list[BadMate] = []
        self._mates: dict[str, Mate] = {}
        self._where: dict[str, str] = {}
        self._news: list[RosterNews] = []
        self._lock = threading.Lock()

    # ------------------------------------------------------------ asking

    def mates(self) -> dict[str, Mate]:
        """Those who run now, by handle, in the order of their files."""
        with self._lock:
            self._look()
            return dict(self._mates)

    def get(self, handle: str) -> Mate:
        """One mate. Raises Unknown, saying whether its file is gone or broken or never was."""
        with self._lock:
            self._look()
            if (mate := self._mates.get(handle)) is not None:
                return mate
            raise Unknown(self._unknown(handle))

    def why_not(self, handle: str) -> tuple[str, str]:
        """Why a mate does not run, in a few words for anybody; and where, for who can mend it."""
        found = [bad for bad in self.problems() if bad.source == f"{handle}.md"]
        if not found:
            return self._missing(handle)
        if not (line := found[0].line):
            return "its file cannot be read", f"{handle}.md"
        return "its file has a mistake", f"{handle}.md, line {line}"

    def _missing(self, handle: str) -> tuple[str, str]:
        name = self._gone.get(handle, f"{handle}.md")
        other = next((one for one, file in self._where.items() if file == name), "")
        if not other:
            return "its file is gone", name
        again = f"it is @{other} now; a line `handle: {handle}` in it makes it @{handle} again"
        return "its file says another name", f"{name} ({again})"

    def problems(self) -> list[BadMate]:
        """What is wrong with the files as they are now, in the order of files and lines."""
        with self._lock:
            self._look()
            found = [bad for file in self._files.values() for bad in file.problems]
            return [*self._trouble, *found, *self._clashes]

    def standings(self) -> list[RosterStanding]:
        """Every file and what it holds, and the mates whose file went away meanwhile."""
        with self._lock:
            self._look()
            found = [self._standing(name, file) for name, file in self._files.items()]
            gone = [RosterStanding(h, "gone", name, None, ()) for h, name in self._gone.items()]
            return found + gone

    def _standing(self, name: str, file: _File) -> RosterStanding:
        handle = file.mate.handle if file.mate else ""
        clashes = tuple(bad for bad in self._clashes if bad.source == name)
        if file.mate is None or clashes:
            return RosterStanding("", "broken", name, file.mate, file.problems + clashes)
        state = "runs its last good version" if file.problems else "runs"
        return RosterStanding(handle, state, name, file.mate, file.problems)

    def path(self, handle: str) -> Path:
        """The file of a mate, running or not; where it would stand if there is none."""
        with self._lock:
            self._look()
            return self.folder / self._where.get(handle, f"{handle}.md")

    def news(self) -> list[RosterNews]:
        """Who began to run or went away since this was last asked, each version once, in order.

        At first that is everybody. Holds each version that `mates` gave, however short it ran.
        """
        with self._lock:
            self._look()
            news, self._news = self._news, []
            return news

    # ------------------------------------------------------------ writing

    def write(self, handle: str, text: str, file: str = "") -> Mate:
        """Put a mate's file in place, whole or not at all, if it is a mate of this handle.

        `file` names a file of the folder to write instead of the mate's own.
        Raises BadMate for the first thing that is wrong with the text; then nothing is changed.
        """
        path = self.path(handle)
        if file and file != path.name:
            path = self._place(handle, file, path)
        mate = parse_mate(text, path.name)
        if mate.handle != handle:
            raise BadMate(path.name, 1, f"this is {mate.handle}, not {handle}; mind the handle")
        other = next((one for one, name in self._where.items() if name == path.name), handle)
        if other != handle:
            raise BadMate(path.name, 1, f"this file is that of {other}; move it out of the way")
        data = text.encode("utf-8")
        if len(data) > yaml_reader.LARGEST:
            raise BadMate(
                path.name, 1, f"the file is too large; {yaml_reader.LARGEST} bytes at most"
            )
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            replace_whole(Path(os.path.realpath(path)), data)  # through a link, not in its place
        except OSError as error:
            raise InputError(f"{path} cannot be written: {error.strerror or error}.") from error
        return mate

    def _place(self, handle: str, file: str, own: Path) -> Path:
        """The path of a file that is to hold this mate. Raises BadMate if another file does."""
        if not _is_mate(file) or Path(file).name != file:
            raise BadMate(file, 0, "this is no name of a mate's file; it ends in .md")
        if handle in self._where:
            taken = f"the handle {handle} belongs to {own.name} already; give another"
            raise BadMate(file, 1, taken)
        return self.folder / file

    # ------------------------------------------------------------ looking

    def _look(self) -> None:
        """Read what changed since the last look."""
        names = self._names()
        seen = {name: self._file(name, self._files.get(name)) for name in names}
        if seen != self._files or self._clashes:
            self._settle(seen)
        self._files = seen

    def _names(self) -> list[str]:
        """Names of the files in the folder; a folder that cannot be read keeps those known."""
        self._trouble = []
        try:
            with os.scandir(self.folder) as entries:
                names = sorted(e.name for e in entries if _is_mate(e.name))
        except FileNotFoundError:
            return []
        except OSError as error:
            self._trouble = [_unreadable(str(self.folder), error)]
            return list(self._files)
        if len(names) > MOST:
            self._trouble = [BadMate(str(self.folder), 0, f"more than {MOST} files; {MOST} count")]
        return names[:MOST]

    def _file(self, name: str, known: _File | None) -> _File:
        path = self.folder / name
        last, text = (known.mate, known.text) if known else (None, "")
        try:
            found = path.stat()
            print_ = _Print(found.st_mtime_ns, found.st_size, found.st_ino, found.st_mode)
            if known is not None and known.print == print_:
                return known
            if not stat.S_ISREG(found.st_mode):
                return _File(print_, last, text, (BadMate(name, 0, "this is no file"),))
            with path.open("rb") as file:
                data = file.read(yaml_reader.LARGEST + 1)
        except OSError as error:
            return _File(None, last, text, (_unreadable(name, error),))
        problems = tuple(mate_file_flaws(data, name))
        if problems:
            return _File(print_, last, text, problems)
        return _File(print_, parse_mate(data, name), data.decode("utf-8"), ())

    def _settle(self, files: dict[str, _File]) -> None:
        """Say who runs: for each handle the file that had it, or is called so, or comes first."""
        mates: dict[str, Mate] = {}
        where: dict[str, str] = {}
        self._clashes = []
        claims: dict[str, list[str]] = {}
        for name, file in files.items():
            if file.mate is not None:
                claims.setdefault(file.mate.handle, []).append(name)
        owners = {
            handle: min(
                names, key=lambda name: (name != self._where.get(handle), name != f"{handle}.md")
            )
            for handle, names in claims.items()
        }
        for name, file in files.items():
            if file.mate is None:
                continue
            handle = file.mate.handle
            if owners[handle] != name:
                said = f"the handle {handle} belongs to {owners[handle]} already; give another"
                self._clashes.append(BadMate(name, 1, said))
                continue
            mates[handle], where[handle] = file.mate, name
        for handle, name in self._where.items():
            if handle not in mates:
                self._gone[handle] = name
        for handle, mate in mates.items():
            self._gone.pop(handle, None)
            before = self._mates.get(handle)
            if before is None or before.hash != mate.hash:
                self._news.append(RosterNews(handle, mate.hash, files[where[handle]].text))
        self._news += [RosterNews(handle) for handle in self._mates if handle not in mates]
        self._mates, self._where = mates, where

    def _unknown(self, handle: str) -> str:
        if handle in self._gone:
            return f"The mate {handle} is gone: {self._gone[handle]} does not hold it any more."
        file = self._files.get(f"{handle}.md")
        if file is not None and file.problems:
            return f"The mate {handle} does not run yet. {file.problems[0]}."
        if not self._mates:
            return f"There is no mate here yet; `loopforge mate new {handle}` makes one."
        are = "is" if len(self._mates) == 1 else "are"
        return f"There is no mate {handle!r} here; there {are} {', '.join(self._mates)}."


def _is_mate(name: str) -> bool:
    return name.endswith(".md") and not name.startswith(".") and name != "README.md"


def _unreadable(source: str, error: OSError) -> BadMate:
    return BadMate(
        source, 0, f"it cannot be read ({error.strerror or error}); mend its permissions"
    )


# ---------------------------------------------------------------- mate cache


class MateCache(Mapping[str, Mate]):
    """The mates of the home, by handle, as they are on file at this moment."""

    def __init__(self, roster: MateRoster, clock: Clock) -> None:
        self._now = TtlCache(roster.mates, clock)

    def __getitem__(self, handle: str) -> Mate:
        mates = self._now.get()
        return mates[handle] if handle in mates else self._now.get(anew=True)[handle]

    def items(self) -> ItemsView[str, Mate]:
        """As of one look."""
        return self._now.get().items()

    def values(self) -> ValuesView[Mate]:
        """As of one look."""
        return self._now.get().values()

    def __iter__(self) -> Iterator[str]:
        return iter(self._now.get())

    def __len__(self) -> int:
        return len(self._now.get())
