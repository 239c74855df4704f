"""The wheel: what somebody who does not clone gets."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_wheel_holds_every_file_of_the_package(tmp_path: Path) -> None:
    """Built offline, it has the code, prompts, mates, the ladder, migrations, and nothing else."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("loopforge_city-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
        points = next(name for name in inside if name.endswith("entry_points.txt"))
        assert "loopforge = loopforge.cli:main" in archive.read(points).decode()
    shipped = {name for name in inside if ".dist-info/" not in name}
    source = {
        str(path.relative_to(ROOT / "src"))
        for path in (ROOT / "src" / "loopforge").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert shipped == source
    assert any(name.endswith("licenses/LICENSE") for name in inside)
    for data in ("py.typed", "models/shipped_models.toml", "policies/prompts/base.md"):
        assert f"loopforge/{data}" in shipped
    assert sum(name.startswith("loopforge/mates/shipped/") for name in shipped) >= 3
