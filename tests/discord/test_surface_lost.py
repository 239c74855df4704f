"""A line that Discord refuses for good: the people who wait for it are told, once."""

from pathlib import Path

import pytest

from loopforge.core.delivery_states import Failed, Queued
from loopforge.core.room_vocabulary import Told
from tests.discord.lodging import SEND, lodged
from tests.discord.twin import Twin

BLOCKED = "Message was blocked by automatic moderation"


@pytest.mark.parametrize("page", [0, 400, 403, 404])
async def test_the_place_that_lost_a_line_is_told(city: Twin, tmp_path: Path, page: int) -> None:
    """Where a line alone is refused, its place is told why; what is said next goes through.

    A page of what stands before Discord is not quoted there, and nothing is called gone.
    """
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        if page:
            city.faults.page(SEND, page)
        else:
            city.faults.refuse(SEND, 200000, 400, BLOCKED, times=1)
        await home.ask(ben, plaza, "maya, hello")
        await home.ask(ben, plaza, "maya, and now?")
        bodies = [event.body for event in await home.events(plaza)]
    gateway = f"a gateway or a proxy before Discord refuses it ({page})."
    why = gateway if page else f"Discord refuses it (400): {BLOCKED}"
    word = f"What Maya said did not reach #plaza: {why}"
    assert city.lines(plaza)[1].text == f"-# *{word}*"
    assert [line.by for line in city.lines(plaza)] == ["ben", "Maya", "ben", "Maya"]
    assert [str(body.text) for body in bodies if isinstance(body, Told)] == [word]


async def test_a_word_that_is_refused_too(city: Twin, tmp_path: Path) -> None:
    """Where the word about a lost line is refused as well, nothing is said about that."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        city.faults.refuse(SEND, 200000, 400, BLOCKED, times=2)
        await city.say(ben, plaza, "maya, hello")
        await home.eventually(plaza, Told)
        await home.delivered(plaza)
        bodies = [event.body for event in await home.events(plaza)]
    assert city.faults.left == []
    assert [len([b for b in bodies if isinstance(b, kind)]) for kind in (Told, Failed)] == [1, 2]
    queued = [b for b in bodies if isinstance(b, Queued) and b.surface == f"discord:{plaza.id}"]
    assert len(queued) == 2
    assert len(city.lines(plaza)) == 1


@pytest.mark.parametrize("wait", ["", "0.5", "Sat, 28 Nov 2026 07:00:00 GMT"])
async def test_a_page_that_asks_to_wait(city: Twin, tmp_path: Path, wait: str) -> None:
    """A page of Cloudflare's with 429 puts a line off, however it says for how long; once it is there."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        city.faults.page(SEND, 429, retry_after=wait)
        await home.ask(ben, plaza, "maya, hello")
    assert [line.by for line in city.lines(plaza)] == ["ben", "Maya"]
