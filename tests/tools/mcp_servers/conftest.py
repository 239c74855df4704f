"""A place where the odd server lies."""

import shutil
from pathlib import Path

import pytest

ODD = Path(__file__).with_name("odd_server.py")


@pytest.fixture
def place(place: Path) -> Path:
    """The folder, with the server in it."""
    (place / "srv").mkdir(mode=0o755)
    shutil.copy(ODD, place / "srv")
    (place / "srv" / ODD.name).chmod(0o644)
    return place
