"""What crash tests share: the seed, and how their figures are printed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.crash.tally import Tally

Printer = Callable[[str, int, Tally], None]
HEAD = f"{'phase':<22}{'kills':>7}{'lines':>7}{'answers':>9}{'lost':>6}{'duplicated':>12}"


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """The seed of this run: that of pytest-randomly (`-p randomly -p "randomly_seed=N"`), or 7."""
    return int(request.config.getoption("randomly_seed", 7))


@pytest.fixture
def figures(capsys: pytest.CaptureFixture[str], seed: int) -> Printer:
    """Print one line of the table, whatever pytest captures."""

    def show(phase: str, kills: int, tally: Tally) -> None:
        with capsys.disabled():
            print(f"\n{HEAD}   seed {seed}")
            print(
                f"{phase:<22}{kills:>7}{tally.lines:>7}{tally.answers:>9}"
                f"{tally.lost:>6}{tally.duplicated:>12}"
            )

    return show
