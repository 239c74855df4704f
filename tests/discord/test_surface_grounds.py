"""Where mates talk, and how much in a day: a home's model is not for everybody."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from loopforge.cli import main
from loopforge.core.room_vocabulary import Stopped, Told
from loopforge.io.platforms.place_allowlist import CLOSED, NOT_HERE
from tests.discord.lodging import Lodging, lodged
from tests.discord.twin import Twin
from tests.discord.words import Place


async def test_a_server_counts_once_somebody_known_speaks(city: Twin, tmp_path: Path) -> None:
    """Strangers alone ask no model: they are told once; who was let in opens the whole server."""
    maya, ben, ana = city.bot("Maya"), city.person("ben"), city.person("ana")
    plaza, alley = city.channel("plaza"), city.channel("alley")
    async with lodged(city, tmp_path, {maya: "maya"}, grounds="known") as home:
        await city.say(ben, plaza, "nobody is spoken to")
        await city.say(ben, plaza, f"{maya.mention} hello")
        await city.until(lambda: city.lines(plaza)[-1].by == "Maya")
        await city.say(ben, alley, f"{maya.mention} and here?")
        assert "Mates do not talk here yet" in city.lines(plaza)[-1].text
        answer = await city.slash(ben, plaza, maya, "mates")
        assert answer.text == NOT_HERE
        assert [await home.room(each) for each in (plaza, alley)] == ["", ""]
        await home.app.pairing.admit(f"discord:{ana.id}", "")
        await home.app.people.meet("discord", str(ana.id), "ana")
        await city.say(ana, plaza, f"{maya.mention} it is me")
        await home.hears(plaza, "@Maya it is me")
        await city.say(ben, alley, "maya, now?")
        await city.until(lambda: city.lines(alley)[-1].by == "Maya")
        await city.until(lambda: len(home.models.asked) == 2)
    async with lodged(city, tmp_path, {maya: "maya"}, grounds="known") as home:
        await city.say(ben, alley, "maya, still?")
        await home.hears(alley, "maya, now?", "maya, still?")


async def test_the_owner_admits_a_server(city: Twin, tmp_path: Path) -> None:
    """The id of the server itself admits it, as that of any of its channels does."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    admit = ["room", "admit", f"discord:{city.guild.id}"]
    async with lodged(city, tmp_path, {maya: "maya"}, grounds="known") as home:
        assert await asyncio.to_thread(main, ["--home", str(tmp_path), *admit]) == 0
        await home.tell(ben, plaza, "maya, hello")
        await city.until(lambda: city.lines(plaza)[-1].by == "Maya")


async def test_the_owner_admits_a_place(city: Twin, tmp_path: Path) -> None:
    """The notice says by which command the owner admits the place; then mates talk in its server."""
    maya, ben = city.bot("Maya"), city.person("ben")
    plaza, alley = city.channel("plaza"), city.channel("alley")
    async with lodged(city, tmp_path, {maya: "maya"}, grounds="known") as home:
        await city.say(ben, plaza, f"{maya.mention} hello")
        await city.until(lambda: city.lines(plaza)[-1].by == "Maya")
        admit = ["room", "admit", f"discord:{plaza.id}"]
        assert f"`loopforge {' '.join(admit)}`" in city.lines(plaza)[-1].text
        assert await asyncio.to_thread(main, ["--home", str(tmp_path), *admit]) == 0
        await home.tell(ben, alley, "maya, now?")
        await city.until(lambda: city.lines(alley)[-1].by == "Maya")
        await home.tell(ben, plaza, "maya, and here?")


@pytest.mark.parametrize("named", ["guild", "channel", "none"])
async def test_a_list_names_servers_and_channels(city: Twin, tmp_path: Path, named: str) -> None:
    """With a list mates talk where it says, whoever speaks, and nowhere else."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    ids = {"guild": city.guild.id, "channel": plaza.id, "none": 4711}
    async with lodged(city, tmp_path, {maya: "maya"}, grounds=f"1, {ids[named]}") as home:
        await city.say(ben, plaza, f"{maya.mention} hello")
        await city.until(lambda: city.lines(plaza)[-1].by == "Maya")
        assert (city.lines(plaza)[-1].text == CLOSED) is (named == "none")
        assert bool(home.models.asked) is (named != "none")


async def test_the_bots_maker_needs_no_paperwork(city: Twin, tmp_path: Path) -> None:
    """A server of whoever made the bot is served at once: its owner is the application's."""
    maya, plaza = city.bot("Maya"), city.channel("plaza")
    owner = city.person("olu")
    city.guild.owner_id = owner.id
    city.maker = owner.id
    async with lodged(city, tmp_path, {maya: "maya"}, grounds="known") as home:
        await city.say(city.person("ben"), plaza, "maya, hello")
        await home.hears(plaza, "maya, hello")


async def _notices(home: Lodging, place: Place) -> list[str]:
    events = await home.events(place)
    return [str(event.body.text) for event in events if isinstance(event.body, Told)]


async def test_a_person_has_so_many_answers_a_day(city: Twin, tmp_path: Path) -> None:
    """Beyond the day's count a person is told once and not answered, after a restart neither."""
    maya, ben, ana = city.bot("Maya"), city.person("ben"), city.person("ana")
    plaza = city.channel("plaza")
    few: dict[str, Any] = {"answers_per_person_a_day": 2}
    async with lodged(city, tmp_path, {maya: "maya"}, **few) as home:
        for n in range(4):
            await city.say(ben, plaza, f"maya, {n}")
            while len(await home.heard(plaza)) <= n:
                await home.app.stamp.clock.sleep(0.02)
            await home.rests(plaza)
        assert await home.said(plaza) == ["maya", "maya"]
        assert [each[:22] for each in await _notices(home, plaza)] == ["ben had 2 answers toda"]
        await city.say(ana, plaza, "maya, and me?")
        await city.until(lambda: "and me?" in city.lines(plaza)[-1].text)
        await home.rests(plaza)
    async with lodged(city, tmp_path, {maya: "maya"}, **few) as home:
        await city.say(ben, plaza, "maya, again")
        while len(await home.heard(plaza)) < 6:
            await home.app.stamp.clock.sleep(0.02)
        await home.settled(plaza)
        assert await home.said(plaza) == ["maya"] * 3


async def test_each_room_says_that_a_person_had_them(city: Twin, tmp_path: Path) -> None:
    """Whoever had all answers of the day is told so where they speak next, once in each room."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    private = city.private(ben, maya)
    async with lodged(city, tmp_path, {maya: "maya"}, answers_per_person_a_day=1) as home:
        await home.ask(ben, plaza, "maya, one")
        for place in (plaza, private):
            for text in ("maya, two", "maya, three"):
                await city.say(ben, place, text)
                while (await home.heard(place))[-1:] != [text]:
                    await home.app.stamp.clock.sleep(0.02)
                await home.settled(place)
            told = [each[:21] for each in await _notices(home, place)]
            assert told == ["ben had 1 answer toda"]


async def test_a_stop_does_not_use_up_the_word(city: Twin, tmp_path: Path) -> None:
    """Who had all answers of the day and says stop is told of it when they speak next."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}, answers_per_person_a_day=1) as home:
        await home.ask(ben, plaza, "maya, one")
        await city.say(ben, plaza, "stop")
        await home.eventually(plaza, Stopped)
        await city.say(ben, plaza, "maya, two")
        while (await home.heard(plaza))[-1:] != ["maya, two"]:
            await home.app.stamp.clock.sleep(0.02)
        await home.settled(plaza)
        assert (await _notices(home, plaza))[-1].startswith("ben had 1 answer today")


async def test_a_place_has_so_many_answers_a_day(city: Twin, tmp_path: Path) -> None:
    """Beyond the day's count nobody is answered in a place; elsewhere they are."""
    maya, ben, ana = city.bot("Maya"), city.person("ben"), city.person("ana")
    plaza, alley = city.channel("plaza"), city.channel("alley")
    async with lodged(city, tmp_path, {maya: "maya"}, answers_per_place_a_day=1) as home:
        await city.say(ben, plaza, "maya, one")
        await city.until(lambda: city.lines(plaza)[-1].by == "Maya")
        await city.say(ana, plaza, "maya, two")
        await city.until(lambda: "This place had 1 answer today" in city.lines(plaza)[-1].text)
        await city.say(ana, alley, "maya, three")
        await city.until(lambda: city.lines(alley)[-1].by == "Maya")
        assert await home.said(plaza) == ["maya"]


async def test_a_code_is_spent_also_where_no_mate_talks(city: Twin, tmp_path: Path) -> None:
    """A code for linking that is said in a place that is not served links nothing any more."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}, grounds="known") as home:
        ana = await home.app.people.meet("web", "ana", "ana")
        code = await home.app.linking.offer_code(ana.id)
        await city.say(ben, plaza, f"is it {code}?")
        await city.until(lambda: "links nothing any more" in city.lines(plaza)[-1].text)
