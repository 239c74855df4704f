"""A host that is frozen in the middle of a call (SIGSTOP) and wakes later does nothing twice.

While it is frozen it holds its home: whoever would take over is refused.
"""

import asyncio
from pathlib import Path

import pytest

from loopforge.errors import HostTaken
from loopforge.host_lock import lock_home
from tests.crash.child import Options
from tests.crash.conftest import Printer
from tests.crash.drill import PHASES, Drill, Rolls
from tests.crash.test_crash import check_calls

SAMPLE = ("append.commit effect.running", "tool.before", "tool.after")
POINTS = [
    pytest.param(point, marks=[] if point in SAMPLE else [pytest.mark.patient])
    for point in PHASES["calling"]
    if point != "look.begin"
]
FROZEN = 2.0
"""Seconds that it is frozen for in a drill that takes its time; a turn waits for five."""


@pytest.mark.crash
@pytest.mark.parametrize("point", POINTS)
async def test_a_host_that_wakes_does_nothing_twice(
    point: str, database: str, tmp_path: Path, figures: Printer, pytestconfig: pytest.Config
) -> None:
    """The button is pressed once, the line is answered once, and nobody else was let in."""
    patient = pytestconfig.getoption("--patient")
    home = tmp_path / "home"
    options = Options(home=str(home), tools=True)

    async def taking_over() -> None:
        with pytest.raises(HostTaken, match="runs the home"), lock_home(home):
            pass  # as the next host would
        if patient:
            await asyncio.sleep(FROZEN)

    drill = Drill(home, "calling", Rolls(7), options, at_once=False, database=database)
    tally = await drill.frozen(point, taking_over)
    figures(f"frozen, {point.split()[-1]}", 0, tally)
    assert (tally.troubles, tally.lost, tally.duplicated) == ((), 0, 0)
    assert tally.answers == tally.lines == 1
    await check_calls(home)
