"""What the commands of the lab are tried in: an empty folder, and a home."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from loopforge.cli import main
from loopforge.home import make_home

Lab = Callable[..., tuple[int, str, str]]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is the current one, with nothing set."""
    monkeypatch.chdir(tmp_path)
    for name in ("ACTION_LOG_PATH", "LOOPFORGE_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def lab(here: Path, capsys: pytest.CaptureFixture[str]) -> Lab:
    """Run `loopforge lab ...` there: exit code, standard output, standard error."""

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(["lab", *arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return run


@pytest.fixture
def home(here: Path) -> Path:
    """A home in the current folder, whose models are scripted."""
    make_home(here)
    tiers = "\n".join(f'{tier} = ["scripted"]' for tier in range(1, 5))
    (here / "loopforge.toml").write_text(f"[tiers]\n{tiers}\n")
    return here
