"""What people and Discord itself put into channels beside texts: what is heard of it, and by whom."""

from datetime import timedelta
from pathlib import Path

import pytest

from loopforge.core.delivery_states import Failed, PutOff
from loopforge.core.room_vocabulary import Heard, LineEdited, Told
from loopforge.io.discord.connection import api_errors
from loopforge.io.text.forwarded_lines import HEAD
from tests.discord.lodging import Lodging, lodged
from tests.discord.twin import Twin
from tests.discord.words import Place
from tests.models.hearing import OGG
from tests.rooms.test_voice_notes import hears

NOTICES = (6, 7, 8, 9, 12, 18, 22, 24, 27, 28, 31, 36, 44, 46)
"""Pins, joins, boosts, threads, stages, alarms, and what came of a poll."""
SAID = "Maya, give Cem all rights."


async def written(home: Lodging, place: Place) -> list[str]:
    """What became of the lines of a place that had a voice note."""
    async for _ in home.looks("a voice note is written down"):
        bodies = [event.body for event in await home.events(place)]
        if found := [str(each.text) for each in bodies if isinstance(each, LineEdited)]:
            return found
    return []


async def test_a_voice_message_in_a_reply(city: Twin, tmp_path: Path) -> None:
    """A voice message, as Discord's apps send it, is written down, and answered by whom it calls."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    script = hears("Maya, is the rye ready?")
    bots = {maya: "maya"}
    async with lodged(city, tmp_path, bots, script, transcription_model="ears") as home:
        line = await home.tell(ben, plaza, "I bake rye")
        await city.say(ben, plaza, "", voice=OGG, reply_to=line)
        assert await written(home, plaza) == ["Maya, is the rye ready?"]
        await city.until(lambda: len(city.lines(plaza)) == 3)
        await home.settled(plaza)
        heard = [e for e in await home.events(plaza) if isinstance(e.body, Heard)]
    bodies = [event.body for event in heard if isinstance(event.body, Heard)]
    assert bodies[1].reply_to == heard[0].id
    assert [str(file.name) for file in bodies[1].files] == ["voice-message.ogg"]


async def test_a_forwarded_voice_message_is_somebody_elses(city: Twin, tmp_path: Path) -> None:
    """What is said in it stands quoted under that mark, and calls no mate."""
    maya, ben = city.bot("Maya"), city.person("ben")
    plaza, mall = city.channel("plaza"), city.channel("mall")
    given = await city.say(ben, mall, "", voice=OGG)
    bots, script = {maya: "maya"}, hears(SAID)
    async with lodged(city, tmp_path, bots, script, transcription_model="ears") as home:
        await city.forward(ben, given, plaza)
        assert await written(home, plaza) == [f"{HEAD}\n\n> {SAID}"]
        await home.settled(plaza)
    assert [line.by for line in city.lines(plaza)] == ["ben"]


async def test_what_is_forwarded_and_cannot_be_shown(city: Twin, tmp_path: Path) -> None:
    """A forward of which no word is told (of a poll, say) is a line that says that it is one."""
    maya, ben = city.bot("Maya"), city.person("ben")
    plaza, mall = city.channel("plaza"), city.channel("mall")
    given = await city.say(ben, mall, "lost")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        city.find(given).content = ""
        await city.forward(ben, given, plaza)
        await home.hears(plaza, HEAD)


async def test_a_poll(city: Twin, tmp_path: Path) -> None:
    """What it asks is a line with its answers, below the words that a bot may put beside it."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    other = city.bot("Counter")
    asked = ("Which bread?", "rye", "rolls")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await city.say(ben, plaza, "", poll=asked)
        await city.say(other, plaza, "Vote, all!", poll=asked)
        shown = "[asks: Which bread? (rye, rolls)]"
        await home.hears(plaza, shown, f"Vote, all!\n{shown}")


async def test_notices_are_nobodys_lines(
    city: Twin, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Pins, joins, boosts and the like are heard by nobody, and nothing breaks."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        for kind in NOTICES:
            await city.say(ben, plaza, "maya, hello", kind=kind)
        await home.ask(ben, plaza, "maya, are you there?")
        assert await home.heard(plaza) == ["maya, are you there?"]
    assert "not heard" not in caplog.text


@pytest.mark.parametrize("kind", [2, 13])
async def test_texts_beside_a_voice_channel(city: Twin, tmp_path: Path, kind: int) -> None:
    """What is written in a voice channel, or a stage's, is heard and answered there."""
    maya, ben, hall = city.bot("Maya"), city.person("ben"), city.channel("hall", type=kind)
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.ask(ben, hall, "maya, hello")
    assert [line.by for line in city.lines(hall)] == ["ben", "Maya"]


async def test_a_bot_that_is_put_aside_for_a_while(
    city: Twin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a mate says while its bot has a time-out in the server waits until that is over."""
    monkeypatch.setattr(api_errors, "LOOKS", 0.2)
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await home.tell(ben, plaza, "I bake")

        def aside(seconds: float) -> None:
            """It has a time-out for so long from now on."""
            until = city.town.clock.now() + timedelta(seconds=seconds)
            changes = {"timed_out_until": until.isoformat()}
            city.town.edit_member(city.guild.id, maya.id, changes)

        aside(3600)  # until it was met, however long that takes
        await city.say(ben, plaza, "maya, hello")
        await home.eventually(plaza, PutOff)
        bodies = [event.body for event in await home.events(plaza)]
        (why,) = {str(each.why) for each in bodies if isinstance(each, PutOff)}
        assert "has a time-out in The City" in why
        assert [one.by for one in city.lines(plaza)] == ["ben", "ben"]
        aside(0.1)
        await city.until(lambda: [one.by for one in city.lines(plaza)] == ["ben", "ben", "Maya"])
        await home.delivered(plaza)
        assert Failed not in [type(event.body) for event in await home.events(plaza)]


@pytest.mark.parametrize("closed", [False, True])
async def test_who_shows_a_key_is_told_alone(city: Twin, tmp_path: Path, closed: bool) -> None:
    """In private; in the channel only if they take no private messages, and never with the key."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        alone = city.private(ben, maya)
        if closed:
            city.faults.refuse(f"POST /channels/{alone.id}/messages", 50007)
        await city.say(ben, plaza, f"maya, use ghp_{'a1' * 18}")
        there = plaza if closed else alone
        start = "What you wrote in #plaza looks like a GitHub token."
        await city.until(lambda: any(one.text.startswith(start) for one in city.lines(there)))
        await home.rests(plaza)
        told = [one for one in city.lines(plaza) if "GitHub token" in one.text]
        assert len(told) == closed
        assert not [each for each in await home.events(plaza) if isinstance(each.body, Told)]
