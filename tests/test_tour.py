"""The README and the tour do what they say: their commands are run, in order, in one home."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
TOUR = (ROOT / "docs" / "tour.md").read_text("utf-8")
SCRIPTED = "debounce_seconds = 0\n[tiers]\n" + "".join(f'{n} = ["scripted"]\n' for n in range(1, 5))

Run = Callable[[str], "subprocess.CompletedProcess[str]"]


def blocks(text: str, kind: str) -> list[str]:
    """The code blocks of that kind, in order."""
    return re.findall(rf"^```{kind}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def shell_lines() -> list[str]:
    """The commands of both; `make run` as what it does in the end, with a line to say."""
    lines = [line for block in blocks(README + TOUR, "sh") for line in block.splitlines()]
    run = "echo Hello, everybody! | .venv/bin/loopforge up"
    lines = [run if line.startswith("make run") else line for line in lines]
    return [line for line in lines if line and not line.startswith("make ")]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run one line of shell as in a checkout whose home is a fresh folder."""
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    program = tmp_path / ".venv" / "bin" / "loopforge"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m loopforge "$@"\n')
    program.chmod(0o755)

    def shell(line: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-o", "pipefail", "-c", line],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=300,
        )

    return shell


def last_said(run: Run) -> dict[str, str]:
    """The newest line that a mate said."""
    out = run(".venv/bin/loopforge ledger tail -n 200 --json")
    said = [json.loads(line) for line in out.stdout.splitlines()]
    found: dict[str, str] = [event for event in said if event["kind"] == "room.said"][-1]
    return found


def test_the_readme_begins_with_the_two_commands() -> None:
    """The first block says how to run it and how to test it."""
    first = [line.split("#")[0].strip() for line in blocks(README, "sh")[0].splitlines()]
    assert first == ["make run", "make test"]


@pytest.mark.xdist_group("tour")
def test_the_commands_of_the_readme_and_the_tour_run(run: Run, tmp_path: Path) -> None:
    """Each ends with 0, from the first line said to the last one forgotten."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "loopforge.toml").write_text(SCRIPTED)
    lines = shell_lines()
    assert len(lines) > 10
    for line in lines:
        if "EVENT_ID" in line:
            line = line.replace("EVENT_ID", last_said(run)["id"])
        out = run(line)
        assert out.returncode == 0, f"{line}\n{out.stdout}\n{out.stderr}"
        assert out.stdout or "-o" in line, line


def test_the_python_of_the_readme_runs() -> None:
    """Each Python block runs by itself, in a fresh interpreter."""
    for block in blocks(README, "python"):
        subprocess.run([sys.executable, "-c", block], check=True, cwd=os.sep)


@pytest.mark.patient
@pytest.mark.model
def test_the_first_answer_comes_from_the_model_that_comes_along(run: Run) -> None:
    """With no key and no setting, a line through the pipe is answered and every byte verifies."""
    out = run("env -u OPENAI_API_KEY -u ANTHROPIC_API_KEY -u GEMINI_API_KEY -u GOOGLE_API_KEY "
              'bash -c \'echo "Hello! Who are you?" | .venv/bin/loopforge chat --mate maya\'')  # fmt: skip
    assert out.returncode == 0, out.stderr
    assert out.stdout.strip()
    said = last_said(run)
    why = run(f".venv/bin/loopforge why {said['id']}")
    assert why.returncode == 0
    assert "Hello! Who are you?" in why.stdout
    assert run(".venv/bin/loopforge ledger verify").returncode == 0
