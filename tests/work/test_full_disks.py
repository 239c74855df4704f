"""A disk that takes no more, where tasks work: what is said of it, and to whom."""

from dataclasses import replace
from pathlib import Path

import pytest

from loopforge.errors import RepositoryError
from loopforge.runtime.system_clock import SystemClock
from loopforge.tools.sandbox.sandbox_limits import SandboxLimits
from loopforge.tools.shell import command_result_lines
from loopforge.work.git.task_repositories import TaskRepositories
from loopforge.work.workspace.task_workspace import Workspaces
from loopforge.work.workspace.workspace_checkpoints import CheckpointArchive
from tests.work.test_task_results import project

__all__ = ["project"]
FULL = replace(SandboxLimits(processes=256), reserve=1 << 60)
"""Limits of a home on a disk of which less is left than stays free for others."""


async def test_whoever_works_on_a_full_disk_is_not_told_to_delete(
    place: Path, project: Path
) -> None:
    """Not its workspace is too large, but the machine's disk full: a mate took away its own work."""
    archive = CheckpointArchive(place / "data" / "checkpoints")
    spaces = Workspaces(place, archive, SystemClock(), FULL)
    ended = await spaces.of("task").run("sleep 50")
    told = "\n".join(command_result_lines(ended, FULL))
    assert "more than the disk of this machine has room for" in told
    assert "do not take files away: a person has to make room" in told
    git = TaskRepositories(place, spaces, SystemClock())
    await git.registered.register(project)
    with pytest.raises(RepositoryError, match="more than the disk of this machine has room for"):
        await git.begin("task", "project")
