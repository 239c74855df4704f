"""The same with the embedded model: hosts killed while a real model reads, thinks and speaks."""

from itertools import cycle
from pathlib import Path

import pytest

from tests.crash.child import Options
from tests.crash.conftest import Printer
from tests.crash.drill import Drill, Rolls
from tests.crash.tally import by_turn

SUBJECTS = (
    "cats",
    "rain",
    "bread",
    "towers",
    "trains",
    "books",
    "tea",
    "snow",
    "clocks",
    "bridges",
)
PHASES = ("hearing", "asking", "streaming", "appending", "delivering")


@pytest.mark.sample(1)
@pytest.mark.crash
@pytest.mark.model
@pytest.mark.parametrize("phase", PHASES)
async def test_nothing_is_lost_or_doubled_on_a_real_model(
    phase: str, tmp_path: Path, seed: int, figures: Printer, pytestconfig: pytest.Config
) -> None:
    """However often the host dies in this phase, each line is heard once and answered once."""
    home, kills = tmp_path / "home", max(int(pytestconfig.getoption("kills")) // 5, 1)
    drill = Drill(
        home,
        phase,
        Rolls(seed),
        Options(home=str(home), embedded=True),
        find=by_turn,
        at_once=False,
        from_birth=0.85,
        questions=(f"Tell me something about {subject}." for subject in cycle(SUBJECTS)),
    )
    tally = await drill.run(kills)
    figures(f"{phase}, embedded", drill.kills, tally)
    assert tally.troubles == ()
    assert (tally.lost, tally.duplicated) == (0, 0)
    assert tally.answers == tally.wanting == tally.lines > 0
    assert drill.kills >= kills
