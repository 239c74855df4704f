"""What goes wrong between us and Discord: nothing is lost, nothing said twice, nobody goes deaf."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from msgspec.structs import replace

from loopforge.chat.room.platform_channels import ChannelSpot
from loopforge.core.room_vocabulary import PlaceLeft, Said, Told
from tests.discord.lodging import PLAIN, lodged
from tests.discord.twin import Twin
from tests.discord.words import Bot

pytestmark = pytest.mark.anyio
SEND, HOOK = "POST /channels/*/messages", "POST /webhooks/*/*"


async def test_a_rate_limit_is_waited_out(city: Twin, tmp_path: Path) -> None:
    """A 429 delays an answer and loses none, also one that is given back without a retry."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        city.faults.rate_limit(SEND, retry_after=0.02)
        city.faults.rate_limit(SEND, retry_after=0.02, via=False)
        await city.say(ben, plaza, "maya, hello")
        await city.until(lambda: len(city.lines(plaza)) == 2)
        await home.delivered(plaza)
    assert city.faults.left == []
    assert city.doubled() == []


@pytest.mark.parametrize("carried", [False, True])
async def test_trouble_of_discords_own_doubles_nothing(
    city: Twin, tmp_path: Path, carried: bool
) -> None:
    """A 502 before or after an answer was taken leaves exactly one of it."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        city.faults.fail(SEND, 502, carried=carried)
        await city.say(ben, plaza, "maya, hello")
        await city.until(lambda: len(city.lines(plaza)) == 2)
        await home.delivered(plaza)
    assert city.faults.left == []
    assert [line.by for line in city.lines(plaza)] == ["ben", "Maya"]


@pytest.mark.parametrize("carried", [False, True])
@pytest.mark.parametrize("how", ["fail", "lose"])
async def test_a_webhooks_line_comes_once(
    city: Twin, tmp_path: Path, carried: bool, how: str
) -> None:
    """A webhook has no nonce: what may have been taken is looked for before it is sent again."""
    house, ben, plaza = city.bot("House"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {house: "*"}) as home:
        if how == "fail":
            city.faults.fail(HOOK, 502, carried=carried)
        else:
            city.faults.lose(HOOK, carried=carried)
        await city.say(ben, plaza, "maya, hello")
        await city.until(lambda: len(city.lines(plaza)) == 2)
        await home.delivered(plaza)
        said = next(e for e in await home.events(plaza) if isinstance(e.body, Said))
        posts = await home.reception.sessions.channels.posts(f"discord:{plaza.id}", said.id)
    assert city.faults.left == []
    assert [line.by for line in city.lines(plaza)] == ["ben", "Maya"]
    assert posts == [str(city.lines(plaza)[-1].id)]


async def test_an_answer_that_is_lost_is_found_again(city: Twin, tmp_path: Path) -> None:
    """The connection broke off after the second of three parts: only what is missing is sent."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    words = " ".join(f"word{n}" for n in range(450))
    async with lodged(city, tmp_path, {maya: "maya"}, lambda _: words) as home:
        city.faults.lose(SEND, carried=True)
        await city.say(ben, plaza, "maya, count")
        await city.until(lambda: len(city.lines(plaza)) == 3)
        await home.delivered(plaza)
    assert city.faults.left == []
    assert " ".join(line.text for line in city.lines(plaza)[1:]) == words


async def test_the_same_words_twice_are_two_lines(city: Twin, tmp_path: Path) -> None:
    """A line that reads like an earlier one is not taken for it when it is looked for."""
    maya, ben = city.bot("Maya"), city.person("ben")
    plaza, mall = city.channel("plaza"), city.channel("mall")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await city.say(ben, plaza, "yes")
        await home.hears(plaza, "yes")
        spot = ChannelSpot(f"discord:{mall.id}", "#mall", "group")
        await home.reception.sessions.join(spot, await home.room(plaza), ("maya",))
        await city.say(ben, plaza, "yes")
        await city.until(lambda: len(city.lines(mall)) == 1)
        await home.delivered(plaza)
        city.faults.fail(HOOK, 502, carried=False)
        await city.say(ben, plaza, "yes")
        await city.until(lambda: len(city.lines(mall)) == 2)
        await home.delivered(plaza)
    assert city.faults.left == []
    assert [(line.by, line.text) for line in city.lines(mall)] == [("ben (plaza)", "yes")] * 2


async def test_a_payload_that_is_not_understood(city: Twin, tmp_path: Path) -> None:
    """A malformed event ends discord.py's connection; the account is back, and heard everything."""
    maya, merlin = city.bot("Maya"), city.bot("Merlin")
    ben, plaza = city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya", merlin: "merlin"}) as home:
        await city.say(ben, plaza, "one")
        await home.hears(plaza, "one")
        city.faults.spoil("MESSAGE_CREATE", "channel_id", bot="Maya")
        city.faults.spoil("MESSAGE_CREATE", "channel_id", bot="Merlin")
        await city.say(ben, plaza, "two")
        await home.hears(plaza, "one", "two")
        await city.until(lambda: city.identified.count("Maya") == 2)
        await city.say(ben, plaza, "maya, three")
        await city.until(lambda: city.lines(plaza)[-1].by == "Maya")
        assert await home.heard(plaza) == ["one", "two", "maya, three"]


async def test_the_first_connection_fails(city: Twin, tmp_path: Path) -> None:
    """An account that cannot connect at first does so later, and others are not disturbed."""
    maya, merlin = city.bot("Maya"), city.bot("Merlin")
    ben, plaza = city.person("ben"), city.channel("plaza")
    city.faults.fail("GET /users/@me", 503, bot="Maya", times=2)
    async with lodged(city, tmp_path, {maya: "maya", merlin: "merlin"}, wait=False) as home:
        await city.until(lambda: home.states()[1].startswith("connected"))
        await city.say(ben, plaza, "merlin, hello")
        await city.until(lambda: len(city.lines(plaza)) == 2)
        await home.connected()
        assert home.states()[0].startswith("connected as Maya")


async def test_a_bad_token_is_said_once_and_never_shown(
    city: Twin, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A token that Discord does not know is refused, with what to do, and others go on."""
    maya, merlin = city.bot("Maya"), city.bot("Merlin")
    ben, plaza = city.person("ben"), city.channel("plaza")
    bad = f"{maya.token}x"
    wrong = Bot(maya.name, bad, maya.id, maya.application, maya.role, maya.approved)
    with caplog.at_level(logging.DEBUG):
        async with lodged(city, tmp_path, {wrong: "maya", merlin: "merlin"}, wait=False) as home:
            await city.until(
                lambda: (
                    "Make a new one" in home.states()[0]
                    and home.states()[1].startswith("connected")
                )
            )
            tries = [call for call in city.calls if call.status == 401]
            await city.until(lambda: len([c for c in city.calls if c.status == 401]) > len(tries))
            await city.say(ben, plaza, "merlin, hello")
            await city.until(lambda: len(city.lines(plaza)) == 2)
    told = [record for record in caplog.records if "is not connected" in record.message]
    assert len(told) == 1
    assert bad not in caplog.text
    assert merlin.token not in caplog.text


async def test_an_intent_that_is_off(city: Twin, tmp_path: Path) -> None:
    """Without the message-content intent the account is refused, with what to switch on."""
    maya = city.bot("Maya", approved=())
    async with lodged(city, tmp_path, {maya: "maya"}, wait=False) as home:
        await city.until(lambda: "Message Content Intent" in home.states()[0])


async def test_a_cut_connection_resumes(city: Twin, tmp_path: Path) -> None:
    """A socket that is cut resumes: what was said meanwhile is heard, once, in order."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await city.say(ben, plaza, "one")
        await home.hears(plaza, "one")
        await city.cut(maya, 4000)
        await city.say(ben, plaza, "two")
        await city.say(ben, plaza, "three")
        await home.hears(plaza, "one", "two", "three")
    assert (city.identified, city.resumed) == (["Maya"], ["Maya"])


async def test_what_was_missed_is_read(city: Twin, tmp_path: Path) -> None:
    """After a lost session, what was said in channels and in private is read, oldest first."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await city.say(ben, plaza, "one")
        private = await city.dm(ben, maya, "psst")
        await home.hears(plaza, "one")
        await home.hears(private.channel, "psst")
        await city.forget(maya)
        await city.cut(maya, 4000)
        for text in ("two", "three", "four"):
            await city.say(ben, plaza, text)
        await city.dm(ben, maya, "still there?")
        await home.hears(plaza, "one", "two", "three", "four")
        await home.hears(private.channel, "psst", "still there?")
    assert city.identified == ["Maya", "Maya"]


async def test_what_was_said_while_the_home_was_away(city: Twin, tmp_path: Path) -> None:
    """After a restart, what was missed comes before what is said by then, each once."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await city.say(ben, plaza, "one")
        await home.hears(plaza, "one")
    await city.say(ben, plaza, "two")
    await city.say(ben, plaza, "maya, three?")
    gate = city.faults.hold("GET /channels/*/messages")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await gate.reached.wait()
        await city.say(ben, plaza, "four")
        gate.release()
        await home.hears(plaza, "one", "two", "maya, three?", "four")
        await city.until(lambda: city.lines(plaza)[-1].by == "Maya")


async def test_what_is_said_before_the_servers_are_known(city: Twin, tmp_path: Path) -> None:
    """A line that comes while an account is still getting ready waits for what was missed."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await city.say(ben, plaza, "one")
        await home.hears(plaza, "one")
    await city.say(ben, plaza, "two")
    late = replace(PLAIN, guilds=1.0)
    async with lodged(city, tmp_path, {maya: "maya"}, options=late, wait=False) as home:
        await city.until(lambda: city.identified == ["Maya", "Maya"])
        await city.say(ben, plaza, "three")
        await home.hears(plaza, "one", "two", "three")


async def test_reading_what_was_missed_fails_at_first(city: Twin, tmp_path: Path) -> None:
    """Where what was missed cannot be read at once, it is tried again, and later words wait."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await city.say(ben, plaza, "one")
        await home.hears(plaza, "one")
    await city.say(ben, plaza, "two")
    city.faults.lose("GET /channels/*/messages", carried=False, times=3)
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await city.say(ben, plaza, "three")
        await home.hears(plaza, "one", "two", "three")
    assert city.faults.left == []


async def test_a_bot_that_was_sent_away(city: Twin, tmp_path: Path) -> None:
    """Where the bot was kicked, the place leaves the room, and people elsewhere are told why."""
    maya, merlin = city.bot("Maya"), city.bot("Merlin")
    ben, plaza, mall = city.person("ben"), city.channel("plaza"), city.channel("mall")
    await city.forbid(merlin, plaza, "view_channel")
    async with lodged(city, tmp_path, {maya: "maya", merlin: "merlin"}) as home:
        await city.say(ben, plaza, "I bake")
        await home.hears(plaza, "I bake")
        room = await home.room(plaza)
        spot = ChannelSpot(f"discord:{mall.id}", "#mall", "group")
        await home.reception.sessions.join(spot, room, ("maya", "merlin"))
        await city.kick(maya)
        await city.say(ben, mall, "anybody?")
        await home.eventually(mall, PlaceLeft)
        bodies = [event.body for event in await home.events(mall)]
        assert await home.reception.sessions.channels.all("discord") == {f"discord:{mall.id}": room}
    told = [str(body.text) for body in bodies if isinstance(body, Told)]
    assert told[0].startswith("What ben said did not reach #plaza: none of the bots")


async def test_a_right_that_is_missing(city: Twin, tmp_path: Path) -> None:
    """Where the bot may not write, that is a failure with what to do; the place stays."""
    maya, ben, plaza = city.bot("Maya"), city.person("ben"), city.channel("plaza")
    await city.forbid(maya, plaza, "send_messages")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await city.say(ben, plaza, "maya, hello")
        await home.eventually(plaza, Told)
        told = [e.body for e in await home.events(plaza) if isinstance(e.body, Told)]
        assert await home.room(plaza)
    assert "give it the permissions Send Messages" in str(told[0].text)
    assert "#plaza" in str(told[0].text)
