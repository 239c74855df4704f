"""Runs and reports that several files look at.

Reports stay in one worker (`@reports`), which makes them once.
"""

from pathlib import Path

import pytest

from loopforge.lab.sweeps.sweep_runner import sweep
from tests.lab.leaves import WIDE, Report, played, reported
from tests.lab.shelf import made
from tests.lab.sweeps import laid


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two days under a Supervisor who blames, with everything in it; not to be harmed."""
    return made(tmp_path_factory.mktemp("runs") / "spun")


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """The report of a run of two days."""
    return reported(played(tmp_path_factory.mktemp("report") / "run"))


@pytest.fixture(scope="session")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """The report of a sweep that has all that a report can show."""
    folder = tmp_path_factory.mktemp("report") / "wide"
    sweep(laid(**WIDE), folder)
    return reported(folder)


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """The report of a sweep in which nothing varies and nothing was declared."""
    folder = tmp_path_factory.mktemp("report") / "bare"
    levels = {"policy": ["stub"], "perception": ["accurate"], "days": [1]}
    sweep(laid(factors=levels), folder)
    return reported(folder)
