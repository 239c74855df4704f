"""Packages of others that tests use as they are: fetched from where their makers put them."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

PYTHON = "/usr/bin/python3"
"""The system's: programs in the sandbox do not see the one that tests run by."""
NPM = ("install", "--no-save", "--no-audit", "--no-fund", "--fetch-retries=1", "--prefix")


def fetch_npm(folder: Path, packages: Sequence[str]) -> Path:
    """Where node's packages lie then. Where they cannot be had, the test is skipped, loudly."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("PACKAGES OF OTHERS ARE NOT TRIED: npm is missing (apt-get install npm)")
    _run([npm, *NPM, str(folder), *packages])
    return folder / "node_modules"


def fetch_pypi(folder: Path, packages: Sequence[str]) -> None:
    """Put packages for the system's Python into a folder. Skips as above."""
    if not Path(PYTHON).exists():
        pytest.skip(f"PACKAGES OF OTHERS ARE NOT TRIED: {PYTHON} is missing")
    uv = [sys.executable, "-m", "uv", "pip", "install", "-q", "--python", PYTHON]
    _run([*uv, "--target", str(folder), *packages])


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        last = " ".join(done.stderr.split())[-200:]
        pytest.skip(f"PACKAGES OF OTHERS ARE NOT TRIED: they cannot be fetched ({last})")
