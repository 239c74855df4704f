"""A place for workspaces that programs can come to which do not run as root."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from loopforge.runtime.system_clock import SystemClock
from loopforge.tools.sandbox.sandbox_limits import SandboxLimits
from loopforge.tools.sandbox.workspace_files import WorkspaceFiles
from loopforge.work.workspace.checkpoint_archive import CheckpointArchive
from loopforge.work.workspace.task_workspace import Workspaces


@pytest.fixture
def open_place() -> Iterator[Path]:
    """A folder; pytest's own are closed to others."""
    place = Path(tempfile.mkdtemp(prefix="task-"))
    place.chmod(0o755)
    yield place
    WorkspaceFiles(place).remove()


@pytest.fixture
def workspaces(open_place: Path) -> Workspaces:
    """Those of a home, with its checkpoints in a folder."""
    archive = CheckpointArchive(open_place / "checkpoints")
    return Workspaces(open_place, archive, SystemClock(), SandboxLimits(), keep=20)
