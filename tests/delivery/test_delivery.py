"""Two hundred lines through each platform, with trouble and five kills: nothing lost or doubled."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.delivery.drill import Plan
from tests.delivery.telegram import telegram

pytestmark = [pytest.mark.anyio, pytest.mark.crash]
SHORT = Plan(lines=200, places=8, kills=5, troubles=24)


async def test_telegram(tmp_path: Path) -> None:
    """Through Telegram."""
    found = await telegram(tmp_path, SHORT)
    assert found.troubles == ()
    assert found.lines == 200
