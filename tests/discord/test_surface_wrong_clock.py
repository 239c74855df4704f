"""A home whose clock is wrong by more than half a day, on Discord."""

from pathlib import Path

from tests.discord.lodging import ANSWER, lodged
from tests.discord.twin import Twin


async def test_a_clock_that_is_ahead(city: Twin, tmp_path: Path) -> None:
    """What people say, also what the home missed, is answered as by any clock."""
    city.town.clock.advance(-13 * 3600)
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.ask(ben, plaza, "maya, hello")
    await city.say(ben, plaza, "maya, are you there?")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await city.until(lambda: len(city.lines(plaza)) == 4)
        told = "this machine's clock is 13 hours ahead of Discord's"
        assert home.reception.time.amiss("Discord").startswith(told)


async def test_a_thread_by_a_clock_that_is_ahead(city: Twin, tmp_path: Path) -> None:
    """Whoever calls a mate gets a thread, and the answer in there."""
    city.town.clock.advance(-13 * 3600)
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}, options=ANSWER):
        line = await city.say(ben, plaza, "maya, hello")
        await city.until(lambda: city.deeds("thread") and city.lines(line.id)[-1].by == "Maya")
