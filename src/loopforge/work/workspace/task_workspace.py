"""The workspace of one task: files and commands in the sandbox, and checkpoints of all of it.

    place = workspaces.of(thread)                      # workspaces/<thread> of the home
    await place.take_in([ToolFile(...)])               # uploads, into in/
    ended = await place.run("pytest -q")               # confined; cancelled, all of it is ended
    before = await place.checkpoint("turn 3")          # to the archive
    await place.restore(before.number)                 # as it was; what is there is kept first
    answer = await place.sent("Here: <<out/a.csv>>")   # files that go along

One process at a time uses a workspace, and while it is put back nothing may run in it: whoever
holds the task's lease sees to both. Nothing that lies there is believed: it is a stranger's. Does
not know what the task is, nor who may see it.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from msgspec import structs

from loopforge.core.egress.egress_filter import SHORTEST, EgressFilter
from loopforge.core.mates.sandbox_profile import SandboxProfile
from loopforge.errors import ArtifactError, InputError, LoopforgeError, Unknown
from loopforge.runtime.ports import Clock, ToolFile
from loopforge.tools.sandbox.bubblewrap import Sandbox, make_workspace, refuse_link
from loopforge.tools.sandbox.call_workspace import FOLDER
from loopforge.tools.sandbox.confined_process import ProcessEnded, run_confined
from loopforge.tools.sandbox.sandbox_limits import SandboxLimits, narrow_limits
from loopforge.tools.sandbox.workspace_files import WorkspaceFiles, deduplicate_names
from loopforge.work.workspace.file_markers import named_files, without_marks
from loopforge.work.workspace.workspace_checkpoints import (
    CapturedTree,
    CheckpointArchive,
    TreeChange,
    WorkspaceCheckpoint,
    capture_tree,
    compare_trees,
    make_folders_and_links,
    name_first_few,
)

UPLOADS = "in"
"""The folder of what people gave."""
GIT = ".git"
MOST_SENT, LARGEST_SENT = 10, 25_000_000
"""Files that one answer sends, and bytes of one."""
LONGEST_TEXT = 1 << 20
"""Bytes of a text in which keys are looked for in other forms than their own."""
HELD = "holds a key or password of this home"
BEFORE = "before it was put back"
"""What a checkpoint is noted with that is made so that nothing is lost."""
LOST = (
    "No checkpoint can hold what has no readable name or is shut, so this would be lost: {}. "
    "Have it renamed or deleted first."
)
_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_SCRATCH = re.compile(r"[0-9a-f]{24}|mcp-.+")


class SentFiles(NamedTuple):
    """An answer as it is shown, the files that go with it, and which cannot, by path, and why."""

    text: str
    files: tuple[ToolFile, ...]
    refused: Mapping[str, str]


class WorkspaceRules(NamedTuple):
    """What all of them go by: limits, how many checkpoints are kept, what stays out of them.

    Where it is not `writable`, commands only read it.
    """

    limits: SandboxLimits
    keep: int
    secrets: Callable[[], Collection[str]]
    writable: bool = True


class TaskWorkspace:
    """One workspace. `name` is that of its folder, `place` what programs see as /workspace."""

    def __init__(
        self,
        name: str,
        place: Path,
        archive: CheckpointArchive,
        clock: Clock,
        rules: WorkspaceRules,
    ) -> None:
        self.name, self.place, self.limits = name, place, rules.limits
        self.files = WorkspaceFiles(place)
        self._archive, self._clock, self._rules = archive, clock, rules

    # ------------------------------------------------------------ files and commands

    async def take_in(self, files: Sequence[ToolFile]) -> list[str]:
        """Put in what people gave; the paths. One that came before by the same name is replaced.

        Raises InputError for one that holds a key of the home; then none is put in.
        """
        for file in files:
            if await asyncio.to_thread(self._holds_key, file):
                raise InputError(f"{upload_name(file.name)} {HELD}; it is not put in.")

        def put() -> list[str]:
            names = deduplicate_names([upload_name(file.name) for file in files])
            paths = [f"{UPLOADS}/{name}" for name in names]
            for path, file in zip(paths, files, strict=True):
                self.files.write(path, file.data, self.limits.disk)
            return paths

        return await asyncio.to_thread(put)

    async def run(
        self, command: str | Sequence[str], stdin: bytes = b"", seconds: float | None = None
    ) -> ProcessEnded:
        """Run a line of bash, or a program with its arguments, in the sandbox.

        Raises InputError, NotInstalled: then nothing ran. Cancelled, it ends all of it first.
        """
        line = ("bash", "-c", command) if isinstance(command, str) else command
        most = self.limits.seconds
        if seconds is not None and most is not None:
            most = min(most, seconds)
        limits = replace(self.limits, seconds=most)
        sandbox = Sandbox(self.place, limits=limits, writable=self._rules.writable)
        return await run_confined(sandbox, line, stdin)

    def confined(self, profile: SandboxProfile) -> TaskWorkspace:
        """The same, whose commands are held to this as well."""
        limits = narrow_limits(self.limits, profile)
        rules = self._rules._replace(limits=limits, writable=profile.writable)
        return TaskWorkspace(self.name, self.place, self._archive, self._clock, rules)

    async def sent(self, text: str) -> SentFiles:
        """The files that an answer names as `<<path>>`, and the answer with their plain names."""
        files, refused, shown = list[ToolFile](), dict[str, str](), dict[str, str]()
        for path in named_files(text):
            inner = path.removeprefix("/workspace/")
            try:
                if len(files) == MOST_SENT:
                    raise InputError(f"an answer sends {MOST_SENT} files at most")
                file = await asyncio.to_thread(self._to_send, inner)
            except LoopforgeError as error:
                refused[path] = str(error)
                continue
            files.append(file)
            shown[path] = file.name
        return SentFiles(without_marks(text, shown), tuple(files), refused)

    async def file(self, path: str) -> ToolFile:
        """One file, as an answer would send it. Raises Unknown, InputError."""
        return await asyncio.to_thread(self._to_send, path)

    def _to_send(self, path: str) -> ToolFile:
        entry = self.files.entry(path)
        if entry.kind != "file":
            raise Unknown(f"{path!r} is no file, so it is not sent.")
        if entry.size > LARGEST_SENT:
            raise InputError(f"{path!r} has {entry.size:,} bytes; {LARGEST_SENT:,} can be sent.")
        data = self.files.read(path, LARGEST_SENT)
        file = ToolFile(name=entry.shown.rpartition("/")[2], data=data)
        if self._holds_key(file):
            raise InputError(f"{path!r} {HELD}, so it is not sent.")
        return file

    def _holds_key(self, file: ToolFile) -> bool:
        """Whether a file holds a key of the home: as it is in any, in other forms in a text."""
        secrets = self._rules.secrets()
        if any(each.encode() in file.data for each in secrets if len(each) >= SHORTEST):
            return True
        if not secrets or b"\0" in file.data[:8000] or len(file.data) > LONGEST_TEXT:
            return False
        return bool(EgressFilter(secrets).leak([file.name, file.data.decode("utf-8", "replace")]))

    # ------------------------------------------------------------ checkpoints

    async def checkpoint(self, note: str = "") -> WorkspaceCheckpoint:
        """Keep the workspace as it is; where nothing changed since the last one, that one."""
        return await self._keep_checkpoint(await self._capture_files(), note)

    async def _keep_checkpoint(self, tree: CapturedTree, note: str) -> WorkspaceCheckpoint:
        latest = await self.latest()
        if latest is not None and latest.entries == tree.entries:
            return latest
        made = WorkspaceCheckpoint(
            number=latest.number + 1 if latest else 1,
            at=self._clock.now(),
            note=note,
            entries=tree.entries,
        )
        most = self.limits.disk
        await self._archive.save(self.name, made, lambda path: self.files.read(path, most))
        await self._archive.prune(self.name, self._rules.keep)
        return made

    async def latest(self) -> WorkspaceCheckpoint | None:
        """The last one; None where there is none yet."""
        numbers = await self._archive.numbers(self.name)
        return await self._archive.load(self.name, numbers[-1]) if numbers else None

    async def checkpoints(self) -> list[int]:
        """The numbers of those that are kept, the oldest first."""
        return await self._archive.numbers(self.name)

    async def restore(self, number: int, *, undoing: bool = False) -> TreeChange:
        """Put the workspace back to a checkpoint; what became of files by that. Raises Unknown.

        What is there now is kept as a checkpoint of its own first, so this can be put back, too.
        `undoing`: what is kept of it then says that this takes that one back.
        Raises InputError where something there cannot be kept.
        """
        wanted = await self._archive.load(self.name, number)
        tree = await self._capture_files()
        if tree.left_out:
            raise InputError(LOST.format(name_first_few(tree.left_out, 5)))
        aside = self.place.with_name(f".{self.name}.new")
        await asyncio.to_thread(WorkspaceFiles(aside).remove)
        await asyncio.to_thread(make_workspace, aside)
        fresh = WorkspaceFiles(aside)
        await asyncio.to_thread(make_folders_and_links, fresh, wanted.entries)
        for entry in wanted.entries:
            if entry.kind == "file":
                data = await self._archive.fetch(self.name, entry.hash)
                await asyncio.to_thread(
                    fresh.write, entry.path, data, len(data), executable=entry.executable
                )
        # Of one that cannot be put back, none; nor of one that is gone: it would be put back empty.
        is_there = await asyncio.to_thread(self.place.is_dir)
        there = (await self._keep_checkpoint(tree, BEFORE)) if is_there else await self.latest()
        assert there is not None, "there is the one that is put back"
        again = structs.replace(
            wanted,
            number=there.number + 1,
            at=self._clock.now(),
            again=wanted.place,
            undoes=there.number if undoing else 0,
        )
        await self._archive.save(self.name, again, _not_needed)
        await asyncio.to_thread(
            _exchange_folders, self.place, aside
        )  # last: broken off, all is as it was
        return compare_trees(there.entries, wanted.entries, GIT)

    async def undo(self) -> TreeChange:
        """Take back the last change of files; used again, the one before it, and so on.

        Raises Unknown where no checkpoint is older.
        """
        there = await self.checkpoint(BEFORE)
        for number in reversed(await self.checkpoints()):
            if number < there.place:
                earlier = await self._archive.load(self.name, number)
                if compare_trees(earlier.entries, there.entries, GIT):
                    return await self.restore(number, undoing=True)
        raise Unknown("There is nothing to take back: no file was changed since the oldest copy.")

    async def _capture_files(self) -> CapturedTree:
        limits = self.limits
        return await asyncio.to_thread(capture_tree, self.files, limits.files, limits.disk)


def _not_needed(path: str) -> bytes:
    raise ArtifactError(f"{path} is no longer kept.")


class Workspaces:
    """The workspaces of the tasks of a home.

    `put_back` are tasks whose folder was gone, with where in the course of the work the checkpoint
    stands that it was put back from, 0 for none; for whoever tells of it, and takes it out.
    """

    def __init__(
        self,
        home: Path,
        archive: CheckpointArchive,
        clock: Clock,
        limits: SandboxLimits,
        *,
        keep: int = 30,
        secrets: Callable[[], Collection[str]] = frozenset,
    ) -> None:
        self.put_back: dict[str, int] = {}
        self._places, self._recovering = home / FOLDER, asyncio.Lock()
        self._archive, self._clock = archive, clock
        self._rules = WorkspaceRules(limits, keep, secrets)

    def of(self, task: str) -> TaskWorkspace:
        """The workspace of a task; made if it is not there. Raises InputError."""
        found = self._workspace_of(task)
        self._places.mkdir(mode=0o711, exist_ok=True)
        _finish_exchange(found.place)
        make_workspace(found.place)
        return found

    def known(self, task: str) -> TaskWorkspace:
        """The same, where it was made before. Raises Unknown."""
        found = self._workspace_of(task)
        refuse_link(found.place)
        _finish_exchange(found.place)
        if not found.place.is_dir():
            raise Unknown(
                "There is no workspace here: no task began, or its folder was taken away."
            )
        return found

    async def recovered(self, task: str) -> TaskWorkspace:
        """The same, put back from its last checkpoint where the folder is gone.

        Raises ArtifactError where that cannot be read; then it stays gone, and is no empty folder.
        """
        found = self._workspace_of(task)
        async with self._recovering:
            _finish_exchange(found.place)
            if not found.place.is_dir():
                latest = await found.latest()
                if latest is not None:
                    self._places.mkdir(mode=0o711, exist_ok=True)
                    await found.restore(latest.number)
                self.put_back[task] = latest.place if latest else 0
            return self.of(task)

    async def forget(self, task: str) -> None:
        """Let go of a task's files and checkpoints; quiet where there are none."""
        found = self._workspace_of(task)
        for place in (found.place, *_paths_aside(found.place)):
            await asyncio.to_thread(WorkspaceFiles(place).remove)
        await self._archive.forget(found.name)

    def _workspace_of(self, task: str) -> TaskWorkspace:
        name = folder_name(task)
        return TaskWorkspace(name, self._places / name, self._archive, self._clock, self._rules)


def folder_name(task: str) -> str:
    """The folder of a task: its id where that is plain, else one made of it."""
    if _PLAIN.fullmatch(task) and not _SCRATCH.fullmatch(task):
        return task
    plain = re.sub(r"[^a-z0-9]+", "-", task.casefold()).strip("-")[:40] or "task"
    plain = f"task-{plain}" if plain.startswith("mcp-") else plain
    return f"{plain}-{hashlib.sha256(task.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def upload_name(name: str) -> str:
    """A name that a file can have in a folder: without folders, nor what would be hidden."""
    plain = re.sub(r"[\x00-\x1f\x7f/\\]+", "_", name).strip().lstrip(".-")
    stem = plain.encode("utf-8", "replace")[:200].decode("utf-8", "ignore")
    return stem or "file"


def _paths_aside(place: Path) -> tuple[Path, Path]:
    return place.with_name(f".{place.name}.old"), place.with_name(f".{place.name}.new")


def _exchange_folders(place: Path, fresh: Path) -> None:
    """Put `fresh` where `place` is. Broken off in between, the next one to look finishes it."""
    old, _ = _paths_aside(place)
    WorkspaceFiles(old).remove()
    if place.exists():
        place.rename(old)
    fresh.rename(place)
    WorkspaceFiles(old).remove()


def _finish_exchange(place: Path) -> None:
    """Where a restore died between its two renames, the older folder is the workspace again."""
    old, _ = _paths_aside(place)
    if old.is_dir() and not place.exists():
        old.rename(place)
