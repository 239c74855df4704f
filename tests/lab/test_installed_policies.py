"""The mind of docs/factory-writing.md, installed as the page says, thinks for robots wherever one is named."""

import json
import subprocess
from pathlib import Path

import pytest

from loopforge.app import selectable_minds
from loopforge.lab.run.run_log import began_of
from tests.child_process import run_python
from tests.lab.shelf import decided

PAGE = (Path(__file__).parents[2] / "docs" / "factory-writing.md").read_text("utf-8")
CODE = next(code for code in PAGE.split("```python\n")[1:] if code.startswith('"""braves.py"""'))
SWEEP = """
name = "bravery"
question = "Is it any good?"
scenarios = ["first_shift"]
seeds = 2
[factors]
policy = ["brave", "context"]
days = [1]
steps_per_day = [2]
"""


@pytest.fixture
def there(tmp_path: Path) -> Path:
    """A folder with the package of the page beside it."""
    about = tmp_path / "packages" / "braves-1.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: braves\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[loopforge.policies]\nbrave = braves:MIND\n")
    (about.parent / "braves.py").write_text(CODE.partition("```")[0])
    (tmp_path / "bravery.toml").write_text(SWEEP)
    return tmp_path


def asked(there: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command of the lab, with the package on the import path."""
    return run_python(
        "-m",
        "loopforge",
        "lab",
        *words,
        cwd=there,
        env={"PYTHONPATH": str(there / "packages"), "HOME": str(there)},
        timeout=120,
    )


def lab(there: Path, *words: str) -> str:
    """What it prints."""
    done = asked(there, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_installed_mind_is_run_forked_verified_and_audited(there: Path) -> None:
    """Its version stands in each row; a fork may set it, and all of that is played again."""
    short = ("--days", "1", "--steps-per-day", "4")
    lab(there, "run", "first_shift", "--policy", "brave", *short, "--out", "run")
    lab(there, "run", "first_shift", *short, "--out", "plain")
    lab(there, "fork", "plain", "--at", "2", "--set", "policy.Mordant=brave", "--out", "fork")
    assert began_of(there / "run").policies["Mordant"] == "brave/1"
    mordant = [row.minded.policy for row in decided(there / "fork") if row.who == "Mordant"]
    assert mordant == ["stub/1", "stub/1", "brave/1", "brave/1"]
    for name in ("run", "fork"):
        assert json.loads(lab(there, "verify", name))["passed"]
    audited = json.loads(lab(there, "audit", "run", "--json"))["by_policy"]["brave"]
    assert audited["weighed"]["some"] == audited["weighed"]["of"] == audited["decisions"] == 20


def test_an_installed_mind_is_a_level_of_a_sweep(there: Path) -> None:
    """In each worker, and in the manifest by its version."""
    lab(there, "sweep", "bravery.toml", "--workers", "2", "--out", "swept")
    manifest = json.loads((there / "swept" / "manifest.json").read_text())
    assert manifest["policies"] == {
        "brave": "brave/1",
        "context": "context/1",
        "overseer": "overseer/1",
    }
    assert manifest["state"]["done"] == 4


def test_minds_of_rooms_are_none_of_robots_and_the_other_way_round(
    there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A policy that ships for rooms is not there for robots; rooms are offered no hidden one."""
    monkeypatch.syspath_prepend(str(there / "packages"))
    assert "talk" in selectable_minds()
    assert "brave" not in selectable_minds()
    done = asked(there, "run", "first_shift", "--policy", "talk")
    assert done.returncode == 2
    assert "there are stub, guardrail, context, llm, chain, brave, mate:NAME" in done.stderr
