"""A line that Telegram refuses for good: the people who wait for it are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopforge.core.room_vocabulary import Told
from tests.telegram.city import City
from tests.telegram.homes import on_telegram, pair
from tests.telegram.twin import Twin

pytestmark = pytest.mark.anyio


async def test_the_place_that_lost_a_line_is_told(tmp_path: Path, twin: Twin, city: City) -> None:
    """Where a line alone is refused, its chat is told why; of a word that is lost it is not."""
    maya, ana = await pair(city)
    why = "Bad Request: message can't be shown"
    async with on_telegram(tmp_path, maya, twin.base) as home:
        chat = await city.private(ana, maya)
        await city.fault("sendMessage", "refuse", code=400, description=why)
        await city.say(ana, maya, "hello")
        (word,) = await city.heard(chat, by=maya)
        assert word.text.startswith("What Maya said did not reach Ana: Telegram refuses it: ")
        await city.fault("sendMessage", "refuse", code=400, description=why, times=2)
        await city.say(ana, maya, "and now?")
        (room,) = await home.rooms()

        async def told() -> bool:
            events = await home.events(room)
            return len([e for e in events if isinstance(e.body, Told)]) == 2

        await home.until(told)
        await city.say(ana, maya, "still there?")
        lines = await city.heard(chat, by=maya, count=2)
    assert lines[1].text.startswith("This is answer")
