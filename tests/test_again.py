"""Nothing is tried twice, and nothing waited for without end."""

import shutil
import subprocess
from pathlib import Path

from tests.child_process import run_python

ROOT = Path(__file__).parent.parent
SHAKY = """
from pathlib import Path

def test_shaky():
    seen = Path(__file__).with_name("seen")
    fresh = not seen.exists()
    seen.touch()
    assert not fresh, "the planted failure"
"""
HANGING = """
from contextlib import suppress
from threading import Event
import pytest

@pytest.fixture
def stubborn():
    yield
    while True:
        with suppress(BaseException):
            Event().wait()

@pytest.mark.timeout(1)
def test_of_the_stubborn(stubborn):
    assert not "the planted failure"
"""


def run(text: str, place: Path) -> subprocess.CompletedProcess[str]:
    """Run tests that were planted, as ours are run."""
    planted = place / "planted"
    planted.mkdir()
    shutil.copy(ROOT / "pyproject.toml", place)
    shutil.copy(ROOT / "tests" / "conftest.py", planted)
    (planted / "test_plant.py").write_text(text)
    config = ("-c", ROOT / "pyproject.toml", f"--rootdir={place}", "-p", "no:cacheprovider")
    return run_python("-m", "pytest", *config, planted, cwd=place)


def test_what_fails_once_has_failed(tmp_path: Path) -> None:
    """A test that would pass when tried again is a failure of the run."""
    done = run(SHAKY, tmp_path)
    assert done.returncode == 1
    assert "1 failed in" in done.stdout
    assert "AssertionError: the planted failure" in done.stdout


def test_what_hangs_as_it_puts_things_away_ends_its_process(tmp_path: Path) -> None:
    """So does a failed test's fixture that nothing else stops, and says where; pytest-xdist goes on."""
    done = run(HANGING, tmp_path)
    assert done.returncode == 1
    assert 'test_plant.py", line 11 in stubborn' in done.stderr
