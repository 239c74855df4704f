"""Nothing is tried twice: what fails once has failed."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PLANT = """
from pathlib import Path

def test_shaky():
    seen = Path(__file__).with_name("seen")
    fresh = not seen.exists()
    seen.touch()
    assert not fresh, "the planted failure"
"""


def test_what_fails_once_has_failed(tmp_path: Path) -> None:
    """A test that would pass when tried again is a failure of the run."""
    planted = tmp_path / "planted"
    planted.mkdir()
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copy(ROOT / "tests" / "conftest.py", planted)
    (planted / "test_plant.py").write_text(PLANT)
    config = ("-c", ROOT / "pyproject.toml", f"--rootdir={tmp_path}", "-p", "no:cacheprovider")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *config, planted],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "1 failed in" in done.stdout
    assert "AssertionError: the planted failure" in done.stdout
