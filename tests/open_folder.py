"""A folder that programs can come to which do not run as root; pytest's own are closed to them."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from loopforge.tools.sandbox.workspace_files import WorkspaceFiles


@contextmanager
def open_folder() -> Iterator[Path]:
    """One that is there until the block ends."""
    folder = Path(tempfile.mkdtemp(prefix="open-"))
    folder.chmod(0o755)
    yield folder
    WorkspaceFiles(folder).remove()


@pytest.fixture
def place() -> Iterator[Path]:
    """One for a test."""
    with open_folder() as folder:
        yield folder
