"""Lines through each platform, with trouble and kills: nothing lost or doubled."""

from pathlib import Path

import pytest

from tests.delivery.discord import discord
from tests.delivery.drill import Driver, Plan
from tests.delivery.telegram import telegram

pytestmark = [
    pytest.mark.crash,
    pytest.mark.xdist_group("delivery"),
    pytest.mark.timeout(1800),  # `make patient` kills thirty times
]


@pytest.mark.sample(1)
@pytest.mark.parametrize("driver", [telegram, discord], ids=["telegram", "discord"])
async def test_nothing_is_lost_or_doubled(
    driver: Driver, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """Each line is answered once, in order, where it was said, whatever happens."""
    kills = int(pytestconfig.getoption("kills"))
    plan = Plan(lines=24 * kills, places=12, kills=kills, troubles=5 * kills)
    found = await driver(tmp_path, plan)
    assert found.score.troubles == ()
    assert (found.score.lines, found.score.kills) == (plan.lines, kills)
