"""A home whose host is killed with -9 again and again: nothing is lost, nothing is there twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crash.child import Options
from tests.crash.conftest import Printer
from tests.crash.drill import PHASES, Drill, Rolls


@pytest.mark.crash
@pytest.mark.parametrize("phase", PHASES)
async def test_nothing_is_lost_or_doubled(
    phase: str, tmp_path: Path, seed: int, figures: Printer, pytestconfig: pytest.Config
) -> None:
    """However often the host dies in this phase, each line is heard once and answered once."""
    home, kills = tmp_path / "home", int(pytestconfig.getoption("kills"))
    options = Options(home=str(home), deaf=3 if phase == "posting" else 0)
    drill = Drill(home, phase, Rolls(seed), options)
    tally = await drill.run(kills)
    figures(phase, drill.kills, tally)
    assert tally.troubles == ()
    assert (tally.lost, tally.duplicated) == (0, 0)
    assert tally.answers == tally.wanting == tally.lines >= drill.kills >= kills
