"""Checkpoints of workspaces: taken of the files, kept, compared, and a workspace built from one.

    <task>/checkpoints/<number>.json   which paths there are; written last, so that it is whole
    <task>/files/<2>/<hash>            bytes under the SHA-256 of themselves

They lie in a folder or a bucket. Each task has what is its own, so that deleting it leaves nothing.
What is read is compared with its name. One process at a time writes a task.

A workspace is looked at from outside: no link is followed, no time stamp believed; every file is
read and hashed. That blocks: call it in a thread. Knows nothing of what files mean.
"""

import asyncio
import hashlib
import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal, NamedTuple, NoReturn

import msgspec
from msgspec import Struct

from loopforge.artifacts.object_storage import ObjectStorage
from loopforge.errors import ArtifactError, InputError, Unknown
from loopforge.tools.sandbox.workspace_files import WorkspaceEntry, WorkspaceFiles

log = logging.getLogger(__name__)
CHECKPOINT_TURNS = 5
"""A workspace is kept every so many turns of its task."""
AT_ONCE = 8
"""Files that are put or fetched side by side."""
TRIES, PATIENCE = 2, timedelta(seconds=10)
"""How a bucket that does not answer is tried again: so often, and in so much time."""


class CheckpointEntry(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One path of a checkpoint. `hash` is of a file's bytes; `target` is where a link leads."""

    path: str
    kind: Literal["file", "folder", "link"]
    hash: str = ""
    size: int = 0
    executable: bool = False
    target: str = ""


class WorkspaceCheckpoint(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A workspace as it was. `number` counts those of a task; `note` says what for it was made.

    `again`: it was put back to that one, and so is the same; 0 where it was not. `undoes`: that one
    was taken back by this; 0 where it was put back for another reason.
    """

    number: int
    at: datetime
    note: str
    entries: tuple[CheckpointEntry, ...]
    again: int = 0
    undoes: int = 0

    @property
    def place(self) -> int:
        """Where in the course of the work it stands: putting back goes back in that, too."""
        return self.again or self.number

    @property
    def size(self) -> int:
        """Bytes of all its files."""
        return sum(entry.size for entry in self.entries)

    @property
    def hashes(self) -> frozenset[str]:
        """The files that it needs."""
        return frozenset(entry.hash for entry in self.entries if entry.hash)


class CheckpointArchive:
    """The checkpoints at a place: a folder, or a URL that obstore knows."""

    def __init__(self, where: Path | str) -> None:
        self._where = where
        retries = {"max_retries": TRIES, "retry_timeout": PATIENCE}
        self._objects = ObjectStorage(where, self._fault, retry_config=retries)

    async def numbers(self, task: str) -> list[int]:
        """Those that a task has, the oldest first."""
        paths = await self._objects.paths(f"{task}/checkpoints")
        stems = [path.rpartition("/")[2].removesuffix(".json") for path in paths]
        return sorted(int(stem) for stem in stems if stem.isdigit())

    async def load(self, task: str, number: int) -> WorkspaceCheckpoint:
        """One of them. Raises Unknown, and ArtifactError where it cannot be read."""
        try:
            data = await self._objects.get(_manifest(task, number))
            return msgspec.json.decode(data, type=WorkspaceCheckpoint)
        except FileNotFoundError:
            raise Unknown(f"There is no checkpoint {number} of this work.") from None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ArtifactError(f"The checkpoint {number} is damaged: {error}.") from error

    async def save(
        self, task: str, made: WorkspaceCheckpoint, read: Callable[[str], bytes]
    ) -> None:
        """Keep it, with the files it needs and that are not kept yet; `read` gives their bytes.

        One of another size was broken off, as by a power cut, and is put there anew.
        """
        there = await self._sizes(task)
        missing = {
            entry.hash: entry.path
            for entry in made.entries
            if entry.hash and there.get(entry.hash) != entry.size
        }
        await self._put_all(task, missing, read)
        await self._objects.put(_manifest(task, made.number), msgspec.json.encode(made))

    async def fetch(self, task: str, hash: str) -> bytes:
        """The bytes of a file. Raises ArtifactError where they are gone, or are no longer those."""
        try:
            data = await self._objects.get(_file(task, hash))
        except FileNotFoundError:
            raise ArtifactError(f"The file {hash[:12]} of a checkpoint is gone.") from None
        if await asyncio.to_thread(_hashed, data) != hash:
            raise ArtifactError(f"The file {hash[:12]} of a checkpoint is damaged.")
        return data

    async def hashes(self, task: str) -> frozenset[str]:
        """The files of a task that are kept."""
        return frozenset(await self._sizes(task))

    async def _sizes(self, task: str) -> dict[str, int]:
        found = await self._objects.sizes(f"{task}/files")
        return {path.rpartition("/")[2]: size for path, size in found.items()}

    async def prune(self, task: str, keep: int) -> None:
        """Let the oldest go, but for so many, and the files that none of the others needs."""
        numbers = await self.numbers(task)
        going = numbers[: max(0, len(numbers) - keep)]
        if not going:
            return
        kept = [await self.load(task, number) for number in numbers[len(going) :]]
        for number in going:
            await self._objects.drop(_manifest(task, number))
        needed = frozenset[str]().union(*(each.hashes for each in kept))
        for hash in await self.hashes(task) - needed:
            await self._objects.drop(_file(task, hash))

    async def forget(self, task: str) -> None:
        """Let all go that is kept of a task; quiet where there is nothing."""
        paths = await self._objects.paths(task)
        for path in sorted(paths, key=lambda path: "/checkpoints/" not in path):
            await self._objects.drop(path)
        if isinstance(self._where, Path):
            await asyncio.to_thread(_tidy, self._where / task)

    async def tasks(self) -> Collection[str]:
        """The tasks of which something is kept."""
        return sorted({path.partition("/")[0] for path in await self._objects.paths()})

    async def _put_all(
        self, task: str, missing: Mapping[str, str], read: Callable[[str], bytes]
    ) -> None:
        turns = asyncio.Semaphore(AT_ONCE)

        async def put(hash: str, path: str) -> None:
            async with turns:
                data = await asyncio.to_thread(read, path)
                if _hashed(data) != hash:
                    raise ArtifactError(f"{path} was changed while a checkpoint was made.")
                await self._objects.put(_file(task, hash), data)

        ended = await asyncio.gather(
            *(put(hash, path) for hash, path in missing.items()), return_exceptions=True
        )
        for error in ended:
            if isinstance(error, BaseException):
                raise error

    def _fault(self, error: Exception, _done: str) -> NoReturn:
        said = str(error).partition("\n")[0].rstrip(".")
        if isinstance(self._where, Path):  # rooms are not told where the home lies
            log.warning("the checkpoints in %s cannot be reached: %s", self._where, said)
            raise ArtifactError(
                "The checkpoints of this home cannot be reached; the log says why. Check the "
                "disk, and try again."
            ) from error
        raise ArtifactError(
            f"The checkpoints in {self._where} cannot be reached: {said}. Check the disk or "
            "the bucket, and try again."
        ) from error


def _hashed(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _manifest(task: str, number: int) -> str:
    return f"{task}/checkpoints/{number:08}.json"


def _file(task: str, hash: str) -> str:
    return f"{task}/files/{hash[:2]}/{hash}"


def _tidy(folder: Path) -> None:
    """Take empty folders away, which a store of objects does not know."""
    with suppress(FileNotFoundError):  # somebody else does so at once, too
        for path in sorted(folder.rglob("*"), reverse=True):
            if path.is_dir():
                path.rmdir()
        folder.rmdir()


# ---------------------------------------------------------------- workspace snapshot


class CapturedTree(NamedTuple):
    """What was found, and which files and links cannot be kept (names that are no text)."""

    entries: tuple[CheckpointEntry, ...]
    left_out: tuple[str, ...]


class TreeChange(NamedTuple):
    """Paths of files and links that differ between two checkpoints."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]

    def __bool__(self) -> bool:
        """Whether there is any."""
        return any(self)

    def told(self, most: int = 20) -> str:
        """The same in words, at most so many paths of a kind."""
        kinds = (("new", self.added), ("changed", self.changed), ("gone", self.removed))
        return "; ".join(f"{kind}: {name_first_few(paths, most)}" for kind, paths in kinds if paths)


def name_first_few(paths: tuple[str, ...], most: int) -> str:
    """The first of them, and how many more there are."""
    more = len(paths) - most
    return ", ".join(paths[:most]) + (f" and {more:,} more" if more > 0 else "")


def capture_tree(files: WorkspaceFiles, most: int, largest: int) -> CapturedTree:
    """The tree as it is: at most so many paths, and files of so many bytes at most."""
    entries, left_out = list[CheckpointEntry](), list[str]()
    found = files.listing(most + 1)
    if len(found) > most:
        raise InputError(f"There are more than {most:,} files in it, too many for a checkpoint.")
    for each in found:
        entry = _entry(files, each, largest)
        if entry is not None:
            entries.append(entry)
        elif each.kind in ("file", "link"):  # pipes and sockets hold nothing
            left_out.append(each.shown)
    return CapturedTree(tuple(entries), tuple(left_out))


def _entry(files: WorkspaceFiles, seen: WorkspaceEntry, largest: int) -> CheckpointEntry | None:
    if not _is_text(seen.path):
        return None
    try:
        if seen.kind == "folder":
            return CheckpointEntry(path=seen.path, kind="folder")
        if seen.kind == "link":
            target = files.link(seen.path)
            return (
                CheckpointEntry(path=seen.path, kind="link", target=target)
                if _is_text(target)
                else None
            )
        if seen.kind != "file" or seen.size > largest:
            return None
        data = files.read(seen.path, largest)
    except (InputError, OSError):
        return None  # it is gone, or shut even to us
    return CheckpointEntry(
        path=seen.path,
        kind="file",
        hash=hashlib.sha256(data).hexdigest(),
        size=len(data),
        executable=seen.executable,
    )


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def compare_trees(
    before: Iterable[CheckpointEntry], after: Iterable[CheckpointEntry], aside: str = ""
) -> TreeChange:
    """What became new, other and gone, without what lies within folders called `aside`."""
    old, new = _leaves(before, aside), _leaves(after, aside)
    return TreeChange(
        added=tuple(sorted(new.keys() - old.keys())),
        changed=tuple(sorted(p for p in new.keys() & old.keys() if new[p] != old[p])),
        removed=tuple(sorted(old.keys() - new.keys())),
    )


def _leaves(entries: Iterable[CheckpointEntry], aside: str) -> dict[str, CheckpointEntry]:
    return {
        entry.path: entry
        for entry in entries
        if entry.kind != "folder" and aside not in entry.path.split("/")
    }


def make_folders_and_links(files: WorkspaceFiles, entries: Iterable[CheckpointEntry]) -> None:
    """Make the folders and links of a checkpoint in an empty workspace."""
    for entry in entries:
        if entry.kind == "folder":
            files.folder(entry.path)
        elif entry.kind == "link":
            files.make_link(entry.path, entry.target)
