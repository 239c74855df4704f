"""What crash tests share: the seed, and how their figures are printed."""

from collections.abc import Callable

import pytest

from tests.crash.tally import Tally

Printer = Callable[[str, int, Tally], None]


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """The seed of this run: that of pytest-randomly (`-p randomly -p "randomly_seed=N"`), or 7."""
    return int(request.config.getoption("randomly_seed", 7))


@pytest.fixture
def figures(record_property: Callable[[str, object], None], seed: int) -> Printer:
    """Hand one line of the table to the end of the run, where tests/conftest.py prints them all."""

    def show(phase: str, kills: int, tally: Tally) -> None:
        line = (
            f"{phase:<22}{kills:>7}{tally.lines:>7}{tally.answers:>9}"
            f"{tally.lost:>6}{tally.duplicated:>12}"
        )
        record_property("crash", f"{line}   seed {seed}")

    return show


@pytest.fixture
def database(request: pytest.FixtureRequest) -> str:
    """Where hosts that are killed keep their ledger, by `--ledger`; "" for the file of the home."""
    if request.config.getoption("--ledger") == "sqlite":
        return ""
    return str(request.getfixturevalue("postgres_url"))
