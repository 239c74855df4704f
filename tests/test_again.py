"""Second tries: what fails once is tried again and named; a crash test never is."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PLANT = """
from pathlib import Path
import pytest

HERE = Path(__file__).parent

def first(name):
    fresh = not (HERE / name).exists()
    (HERE / name).touch()
    return fresh

@pytest.fixture(scope="module")
def shared():
    assert first("shared"), "made anew for a second try"
    return 1

@pytest.fixture
async def own(shared):
    yield first("own")

async def test_shaky(shared, own):
    assert not own, "the planted failure"

@pytest.mark.crash
def test_crash(shared):
    assert not first("crash")
"""


@pytest.mark.parametrize("spread", [(), ("-n", "1", "--dist", "loadgroup")], ids=["alone", "xdist"])
def test_a_second_try_is_given_and_told(tmp_path: Path, spread: tuple[str, ...]) -> None:
    """A failure is tried once more, named and shown; that of a crash test is a failure."""
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path)
    (tmp_path / "test_plant.py").write_text(PLANT)
    config = ("-c", ROOT / "pyproject.toml", f"--rootdir={tmp_path}", "-p", "no:cacheprovider")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *config, *spread, tmp_path],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 failed, 1 passed, 1 rerun" in done.stdout
    again = [line for line in done.stdout.splitlines() if line.startswith("SECOND TRY")]
    assert again == ["SECOND TRY test_plant.py::test_shaky (passed then, failed before)"]
    assert "AssertionError: the planted failure" in done.stdout.partition("second try !!")[2]
    assert "FAILED test_plant.py::test_crash" in done.stdout
