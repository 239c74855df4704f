"""Two hundred lines through each platform, with trouble and five kills: nothing lost or doubled."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.delivery.discord import discord
from tests.delivery.drill import Driver, Plan
from tests.delivery.telegram import telegram

pytestmark = [pytest.mark.anyio, pytest.mark.crash, pytest.mark.xdist_group("delivery")]
SHORT = Plan(lines=200, places=18, kills=5, troubles=24)


@pytest.mark.parametrize("driver", [telegram, discord], ids=["telegram", "discord"])
async def test_nothing_is_lost_or_doubled(driver: Driver, tmp_path: Path) -> None:
    """Each of 200 lines is answered once, in order, where it was said, whatever happens."""
    found = await driver(tmp_path, SHORT)
    assert found.score.troubles == ()
    assert (found.score.lines, found.score.kills) == (200, 5)
