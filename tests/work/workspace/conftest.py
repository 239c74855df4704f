"""A place for workspaces that programs can come to which do not run as root."""

from pathlib import Path

import pytest

from loopforge.runtime.system_clock import SystemClock
from loopforge.tools.sandbox.sandbox_limits import SandboxLimits
from loopforge.work.workspace.task_workspace import Workspaces
from loopforge.work.workspace.workspace_checkpoints import CheckpointArchive


@pytest.fixture
def open_place(place: Path) -> Path:
    """The same, where `place` is one in a workspace."""
    return place


@pytest.fixture
def workspaces(place: Path) -> Workspaces:
    """Those of a home, with its checkpoints in a folder."""
    archive = CheckpointArchive(place / "checkpoints")
    return Workspaces(place, archive, SystemClock(), SandboxLimits(), keep=20)
