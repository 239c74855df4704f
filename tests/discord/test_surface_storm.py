"""Many threads, a lost session and a restart: few calls, none refused, and live lines first."""

from pathlib import Path

import pytest

from loopforge.chat.room.platform_channels import ChannelSpot
from loopforge.io.platforms.incoming_lines import IncomingMessage
from tests.discord.lodging import Lodging, lodged
from tests.discord.twin import Twin
from tests.discord.words import Bot, Person, Place

THREADS = 100
"""Half of them closed. 2,000 were measured; what is asked does not grow with their number."""
MOST = 60


async def _settle(home: Lodging, ben: Person, maya: Bot, places: list[Place]) -> None:
    """Let every thread be known: somebody was heard there, and a mate of ours spoke last."""
    city, town = home.city, home.city.town
    for place in places:
        line = await city.say(ben, place, "hello")
        coming = IncomingMessage(
            spot=ChannelSpot(f"discord:{place.id}", place.name, "thread"),
            mates=("maya",),
            message=str(line.id),
            account=str(ben.id),
            name="ben",
            text="hello",
            at=town.clock.now(),
        )
        await home.reception.take(coming)
        town.create_message(place.id, maya.id, "I am here.")


async def _told(home: Lodging) -> list[str]:
    """What stands in the ledger of the platform as a whole."""
    return [event.kind for event in await home.app.ledger.read("platform:discord")]


async def _answered(city: Twin, ben: Person, place: Place, text: str) -> None:
    """Say a line, and wait until a mate has answered."""
    await city.say(ben, place, text)
    await city.until(lambda: city.lines(place, last=1)[0].by == "Maya")


@pytest.mark.patient
async def test_many_threads_are_not_asked_one_by_one(city: Twin, tmp_path: Path) -> None:
    """A lost session and a restart ask where something is new; live lines are answered before."""
    city.town.clock.advance(-4 * 3600)
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    threads = [await city.thread(ben, plaza, f"walk {n}") for n in range(THREADS)]
    opened, closed = threads[::2], threads[1::2]
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await _settle(home, ben, maya, threads)
        for thread in closed:
            await city.archive(thread)
        city.town.clock.advance(3600)
        await _answered(city, ben, plaza, "maya, one")
        await home.delivered(plaza)
        before = len(city.calls)
        await city.forget(maya)
        await city.cut(maya)
        await city.say(ben, opened[0], "while it was away")
        await city.until(lambda: len(city.identified) == 2)
        await _answered(city, ben, plaza, "maya, two")
        await home.hears(opened[0], "hello", "while it was away")
        made = city.calls[before:]

        assert len(made) < MOST
    await city.say(ben, opened[1], "in the night")
    await city.say(ben, closed[1], "in a closed one")
    await city.archive(closed[1])
    city.town.clock.advance(3 * 3600)
    before = len(city.calls)
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await _answered(city, ben, plaza, "maya, three")
        await home.hears(opened[1], "hello", "in the night")
        await home.hears(closed[1], "hello", "in a closed one")
        while (await _told(home))[-1:] != ["platform.caught_up"]:
            await home.app.stamp.clock.sleep(0.02)
        assert set(await _told(home)) == {"platform.fell_behind", "platform.caught_up"}
        assert (await _told(home))[-1] == "platform.caught_up"
        made = city.calls[before:]

        assert len(made) < MOST
    assert city.refused == []
