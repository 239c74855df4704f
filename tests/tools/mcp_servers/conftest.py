"""A place where the odd server lies."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from loopforge.tools.sandbox.workspace_files import WorkspaceFiles

ODD = Path(__file__).with_name("odd_server.py")


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that programs can come to which do not run as root, with the server in it."""
    place = Path(tempfile.mkdtemp(prefix="mcp-"))
    place.chmod(0o755)
    (place / "srv").mkdir(mode=0o755)
    shutil.copy(ODD, place / "srv")
    (place / "srv" / ODD.name).chmod(0o644)
    yield place
    WorkspaceFiles(place).remove()
