"""Threads that mates open: one for a line that calls them, named, answered in, and found again."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.discord.lodging import PLAIN, lodged
from tests.discord.twin import Twin
from tests.discord.words import Line

pytestmark = pytest.mark.anyio
ANSWER = replace(PLAIN, threads="answer")
OPEN = "POST /channels/*/messages/*/threads"


def opened(city: Twin) -> list[tuple[str, str]]:
    """Who opened which threads."""
    return [(deed.by, deed.text) for deed in city.deeds("thread")]


def within(city: Twin, line: Line) -> list[str]:
    """Who spoke in the thread on a line."""
    return [each.by for each in city.lines(line.id) if each.kind != 21]


async def test_a_call_is_answered_in_a_thread(city: Twin, tmp_path: Path) -> None:
    """Who calls a mate is answered in a thread on that line, and from then on without calling."""
    maya, merlin = city.bot("Maya"), city.bot("Merlin")
    ben, plaza = city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya", merlin: "merlin"}, options=ANSWER) as home:
        await city.say(ben, plaza, "what a day")
        await home.hears(plaza, "what a day")
        line = await city.say(ben, plaza, f"{maya.mention} **how** do slugs sleep?")
        await city.until(lambda: within(city, line) == ["Maya"])
        await home.delivered(line.id)
        await city.say(ben, line.id, "and when?")
        await city.until(lambda: within(city, line) == ["Maya", "ben", "Maya"])
        await home.settled(line.id)
        await home.delivered(line.id)
        await city.say(ben, line.id, "merlin, do you know?")
        await city.until(lambda: within(city, line)[3:] == ["ben", "Merlin"])
        await home.settled(line.id)
        assert await home.heard(plaza) == ["what a day"]
        texts = ["@Maya **how** do slugs sleep?", "and when?", "merlin, do you know?"]
        assert await home.heard(line.id) == texts
        room = await home.app.front.settings_of(await home.room(line.id))
    assert opened(city) == [("Maya", "@Maya how do slugs sleep?")]
    assert [each.by for each in city.lines(plaza)] == ["ben", "ben"]
    assert list(room.mates) == ["maya", "merlin"]
