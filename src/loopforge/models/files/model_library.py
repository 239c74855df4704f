"""The library: models' files of a home (data/models), those that can be fetched, and what fits.

Which of them answers is the setting embedded_file; the library only finds its path. One fetch of a
file runs at a time: who asks for it again is given the one that runs.
"""

import asyncio
import glob
import os
import shutil
from collections.abc import AsyncIterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO

import msgspec
from msgspec import Struct

from loopforge.errors import InputError, LoopforgeError, ModelError, Unknown
from loopforge.models.files.gguf_file import HEAD, check_gguf
from loopforge.models.files.model_download import (
    SPARE,
    DownloadProgress,
    download_model_file,
    lock_download,
    look_up,
)
from loopforge.runtime.background_tasks import BackgroundTasks

FOLDER, SUFFIX, TAKEN = "models", ".gguf", ".copy.part"
SMALL_MEMORY = 300_000_000
"""Bytes of memory for what is read and said, and for the small model itself."""
LONGEST = 150
"""Characters of a file's name."""
SMALL_FILE = 2_000_000_000
"""Bytes below which a file's model is met as a small one: some three billion parameters."""


class KnownFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file worth fetching. `size` and `memory` are about so many bytes, `window` tokens."""

    title: str
    at: str
    size: int
    memory: int
    licence: str
    window: int
    sha256: str = ""


class LibraryRow(Struct, frozen=True, kw_only=True):
    """One file as people see it. `have`, `size` and `memory` are bytes; `going`: it is fetched."""

    name: str
    title: str
    size: int
    memory: int
    here: bool
    fits: bool = True
    used: bool = False
    going: bool = False
    have: int = 0
    trouble: str = ""
    known: KnownFile | None = None


def known_files() -> dict[str, KnownFile]:
    """The catalogue that ships."""
    import tomllib

    found = tomllib.loads(Path(__file__).with_name("known_files.toml").read_text("utf-8"))
    return msgspec.convert(found, dict[str, KnownFile])


def machine_memory() -> int:
    """Bytes of memory that this machine, or the container it is, may use."""
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with suppress(OSError, ValueError):
        whole = min(whole, int(Path("/sys/fs/cgroup/memory.max").read_text("ascii")))
    return whole


def free_memory() -> int | None:
    """Bytes of memory that nobody uses now; None where this machine does not tell."""
    try:
        told = Path("/proc/meminfo").read_text("ascii")
        free = int(told.partition("MemAvailable:")[2].split(maxsplit=1)[0]) * 1024
    except (OSError, ValueError, IndexError):
        return None
    with suppress(OSError, ValueError):  # of a container: its files in memory can be let go
        group = Path("/sys/fs/cgroup")
        used = int((group / "memory.current").read_text("ascii"))
        spare = dict(
            line.split() for line in (group / "memory.stat").read_text("ascii").splitlines()
        )
        most = int((group / "memory.max").read_text("ascii"))
        free = min(free, most - used + int(spare.get("inactive_file", 0)))
    return free


def memory_of(path: Path | None) -> int:
    """Bytes of memory that a file's model takes, about; None: the small one's."""
    if path is None or not path.is_file():
        return SMALL_MEMORY
    known = known_files().get(path.stem)
    return known.memory if known else int(path.stat().st_size * 1.2) + SMALL_MEMORY


def file_of(data: Path, value: str) -> Path | None:
    """Where the file is that the setting names: by its name in the library, or a path."""
    if not value:
        return None
    path = Path(value).expanduser()
    return path if path.is_absolute() else data / FOLDER / f"{value.removesuffix(SUFFIX)}{SUFFIX}"


def is_small(path: Path | None) -> bool:
    """Whether the embedded model is one for trying out, of this file or of the one that ships."""
    return path is None or not path.is_file() or path.stat().st_size < SMALL_FILE


class ModelLibrary:
    """The files of a home; `place` is the address that the catalogue's paths stand below."""

    def __init__(self, data: Path, place: str, memory: int | None = None) -> None:
        self.folder = data / FOLDER
        self._place = place.rstrip("/")
        self.memory = machine_memory() if memory is None else memory
        self.known = known_files()
        self._tasks = BackgroundTasks()
        self._going: dict[str, tuple[asyncio.Task[None], DownloadProgress]] = {}
        self._troubles: dict[str, str] = {}

    def rows(self, used: str = "") -> list[LibraryRow]:
        """What is here and what can be fetched; `used` is the setting's value."""
        here = {path.stem: path for path in sorted(self.folder.glob(f"*{SUFFIX}"))}
        rows = [
            self._row(name, here.get(name), used) for name in dict.fromkeys((*self.known, *here))
        ]
        return sorted(rows, key=lambda row: (not row.here, row.size))

    def _row(self, name: str, path: Path | None, used: str) -> LibraryRow:
        known, going = self.known.get(name), self._going.get(name)
        about = known.size if known else 0
        return LibraryRow(
            name=name,
            title=known.title if known else name,
            memory=known.memory if known else memory_of(path),
            size=path.stat().st_size if path else (going and going[1].size) or about,
            here=path is not None,
            fits=known is None or known.memory <= self.memory,
            used=bool(path) and name == used,
            going=going is not None,
            have=going[1].have if going else 0,
            trouble=self._troubles.get(name, ""),
            known=known,
        )

    def path(self, name: str) -> Path:
        """A file that is here. Raises Unknown."""
        path = self.folder / f"{name}{SUFFIX}"
        if Path(name).name != name or not path.is_file():
            here = ", ".join(row.name for row in self.rows() if row.here) or "none"
            raise Unknown(f"No model's file {name!r} is here (here: {here}).")
        return path

    def start(self, name: str) -> asyncio.Task[None]:
        """Fetch it, or go on waiting for the fetch that runs. Raises Unknown."""
        if name not in self.known:
            raise Unknown(
                f"There is no model {name!r} to fetch; there are: {', '.join(self.known)}."
            )
        if name not in self._going:
            self._troubles.pop(name, None)
            progress = DownloadProgress()
            task = self._tasks.spawn(self._fetch(name, progress), f"fetching {name}")
            self._going[name] = (task, progress)
        return self._going[name][0]

    def progress(self, name: str) -> DownloadProgress:
        """How far the fetch that runs has come."""
        return self._going[name][1] if name in self._going else DownloadProgress()

    async def fetch(self, name: str) -> None:
        """Fetch it and wait for it. Raises Unknown and ModelError."""
        await self.start(name)
        self.ended(name)

    def ended(self, name: str) -> None:
        """Raises ModelError where the last fetch of it went wrong."""
        if trouble := self._troubles.get(name):
            raise ModelError(trouble)

    async def _fetch(self, name: str, progress: DownloadProgress) -> None:
        known = self.known[name]
        target = self.folder / f"{name}{SUFFIX}"
        try:
            if not target.exists():
                file = await look_up(f"{self._place}/{known.at}", known.sha256)
                await download_model_file(
                    file, target, progress, partial(check_gguf, called=target.name)
                )
        except LoopforgeError as error:
            self._troubles[name] = str(error)
        finally:
            del self._going[name]

    async def cancel(self, name: str) -> None:
        """End a fetch, if it runs; what came is kept."""
        if name in self._going:
            task = self._going[name][0]
            task.cancel()
            await asyncio.wait([task])

    async def close(self) -> None:
        """End all fetches."""
        for name in list(self._going):
            await self.cancel(name)

    def add(self, source: Path) -> str:
        """Take a file that somebody has; its name in the library. Raises InputError."""
        source = source.expanduser()
        check_gguf(source)
        with self._taking(source.name, source.stat().st_size) as out, source.open("rb") as file:
            shutil.copyfileobj(file, out)
        return source.name.removesuffix(SUFFIX)

    async def take(self, called: str, size: int, pieces: AsyncIterable[bytes]) -> str:
        """Take a file as it comes, of so many bytes (0: not told); its name in the library.

        Raises InputError; of what is wrong, or breaks off, nothing stays.
        """
        with self._taking(called, size) as out:
            checked = False
            async for piece in pieces:
                await asyncio.to_thread(out.write, piece)
                if not checked and out.tell() >= HEAD.size:
                    out.flush()
                    check_gguf(Path(out.name), called)
                    checked = True
        return called.removesuffix(SUFFIX)

    @contextmanager
    def _taking(self, called: str, size: int) -> Iterator[BinaryIO]:
        """What is written here stands in the library once it is whole, and a model's file."""
        name = called.removesuffix(SUFFIX)
        if (
            not name
            or Path(called).name != called
            or len(called) > LONGEST
            or not name.isprintable()
        ):
            raise InputError("The file's name cannot be used here; give it a short, plain one.")
        target = self.folder / f"{name}{SUFFIX}"
        if target.exists():
            raise InputError(
                f"{name} is here already; remove it first, or name the file otherwise."
            )
        part = target.with_name(f"{target.name}{TAKEN}")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            free = max(0, shutil.disk_usage(self.folder).free - SPARE)
            if free < size:
                raise InputError(
                    f"{called} takes {size / 1e9:.2f} GB, and the disk has room for "
                    f"{free / 1e9:.2f} GB. Make room, then try again."
                )
            with part.open("ab") as out:
                lock_download(out, target)
                try:
                    out.truncate(0)
                    yield out
                    out.flush()
                    os.fsync(out.fileno())
                    check_gguf(part, called)
                    part.replace(target)
                except BaseException:
                    part.unlink(missing_ok=True)
                    raise
        except OSError as error:
            raise InputError(f"{called} could not be taken: {error.strerror or error}.") from error

    def tidy(self) -> None:
        """Throw away what was being taken when a program ended in the midst of it."""
        for part in self.folder.glob(f"*{TAKEN}"):
            with suppress(OSError, ModelError), part.open("ab") as left:
                lock_download(left, part)
                part.unlink()

    def remove(self, name: str) -> None:
        """Delete a file of the library, and what came of a fetch of it. Raises Unknown."""
        named = f"{glob.escape(name)}{SUFFIX}.*.part"
        parts = list(self.folder.glob(named)) if Path(name).name == name else []
        if not parts or (self.folder / f"{name}{SUFFIX}").exists():
            self.path(name).unlink()
        for part in parts:
            part.unlink()
