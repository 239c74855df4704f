"""A person's repository, and a home whose tasks may work on it."""

import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from loopforge.runtime.system_clock import SystemClock
from loopforge.tools.sandbox.sandbox_limits import SandboxLimits
from loopforge.work.git.merge_proposals import Proposal, ResultNote
from loopforge.work.git.task_repositories import TaskRepositories
from loopforge.work.workspace.task_workspace import TaskWorkspace, Workspaces
from loopforge.work.workspace.workspace_checkpoints import CheckpointArchive

TASK = "thread-1"
OWN = {
    "PATH": os.defpath,
    "HOME": "/nonexistent",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{role}_NAME": "Ana" for role in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{role}_EMAIL": "ana@example.org" for role in ("AUTHOR", "COMMITTER")},
}
FILES = {
    "a.py": "def f():\n    return 1\n",
    "b.py": "x = 1\n",
    ".gitattributes": "*.txt text\n",
    "docs/guide.md": "# Guide\n",
}


def git(folder: Path, *arguments: str, ok: bool = True) -> str:
    """What the person's own git says."""
    ended = subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, text=True, env=OWN, check=False
    )
    assert not ok or ended.returncode == 0, ended.stderr
    return ended.stdout.rstrip("\n")


def write(folder: Path, files: dict[str, str]) -> None:
    """Write files of a person."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@dataclass
class Bench:
    """A home with one registered repository, `project`."""

    place: Path
    secrets: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.home, self.project = self.place / "home", self.place / "project"
        (self.home / "data").mkdir(parents=True, mode=0o700)
        self.project.mkdir()
        git(self.project, "init", "-q", "-b", "main")
        write(self.project, FILES)
        git(self.project, "add", "-A")
        git(self.project, "commit", "-qm", "start")
        limits = SandboxLimits(processes=256)
        self.archive = CheckpointArchive(self.home / "data" / "checkpoints")
        self.workspaces = Workspaces(self.home, self.archive, SystemClock(), limits)
        self.git = self.another()

    def another(self) -> TaskRepositories:
        """What another process of the same home would have."""
        return TaskRepositories(
            self.home, self.workspaces, SystemClock(), lambda: frozenset(self.secrets)
        )

    @property
    def task(self) -> TaskWorkspace:
        """The workspace of the task."""
        return self.workspaces.of(TASK)

    async def begin(self) -> None:
        """The owner registers it, and a task begins."""
        await self.git.registered.register(self.project)
        await self.git.begin(TASK, "project", "Fix the parser")

    async def does(self, script: str) -> str:
        """The task runs something in its clone."""
        ended = await self.task.run(f"cd repo && {script}")
        assert ended.code == 0, ended
        return ended.output.decode()

    async def propose(self, summary: str = "Fix it") -> Proposal:
        """The task is done, and it is shown."""
        return await self.git.propose(TASK, ResultNote(summary, ["pytest -q: 3 passed"], "maya"))

    async def proposed(self, script: str) -> Proposal:
        """What is shown of a task that begins, and runs just this."""
        await self.begin()
        await self.does(script)
        return await self.propose()

    def commit(self, files: dict[str, str], message: str = "meanwhile") -> None:
        """The person commits something of their own."""
        write(self.project, files)
        git(self.project, "add", *files)
        git(self.project, "commit", "-qm", message)

    def file(self, name: str) -> str:
        """A file as the person has it."""
        return (self.project / name).read_text()


@pytest.fixture
def bench(place: Path) -> Bench:
    """One for a test."""
    return Bench(place)
