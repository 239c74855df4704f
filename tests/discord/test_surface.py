"""One mate with an account of its own, and people who talk to it, over real sockets."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.discord.lodging import lodged
from tests.discord.twin import Twin

pytestmark = pytest.mark.anyio


async def test_a_mate_that_is_mentioned_answers(city: Twin, tmp_path: Path) -> None:
    """Who mentions a mate's bot is answered in that channel, by that bot, once."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await city.say(ben, plaza, f"{maya.mention} are you there?")
        await city.until(lambda: len(city.lines(plaza)) == 2)
        assert await home.heard(plaza) == ["@Maya are you there?"]
    answer = city.lines(plaza)[-1]
    assert answer.by == "Maya"
    assert answer.nonce is not None
    assert "are you there" in answer.text
