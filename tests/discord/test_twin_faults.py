"""The twin's faults against unmodified clients: each strikes where it was planned, and only there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

import discord
from loopforge.runtime.background_tasks import Tasks
from tests.discord.clients import Ears, online
from tests.discord.twin import Twin

SEND = "POST /channels/*/messages"


@asynccontextmanager
async def _spawned() -> AsyncIterator[Tasks]:
    tasks = Tasks()
    try:
        yield tasks
    finally:
        await tasks.close()


async def test_a_rate_limit_is_waited_out(city: Twin) -> None:
    """429 with a Via header is tried again by discord.py itself; one of a whole bot likewise."""
    aria, plaza = city.bot("Aria"), city.channel("plaza")
    async with online(city, aria) as client:
        city.faults.rate_limit(SEND, retry_after=0.02)
        city.faults.rate_limit(SEND, retry_after=0.02, everywhere=True)
        await client.text(plaza).send("hello")
        sent = [call for call in city.calls if call.path.endswith("/messages")]
        assert [(call.status, call.carried) for call in sent] == [
            (429, False),
            (429, False),
            (200, True),
        ]
        city.faults.rate_limit(SEND, via=False)
        with pytest.raises(discord.HTTPException) as caught:
            await client.text(plaza).send("banned by Cloudflare")
        assert caught.value.status == 429
    assert [line.text for line in city.lines(plaza)] == ["hello"]
    assert city.faults.left == []


async def test_502_before_and_after(city: Twin) -> None:
    """discord.py sends again after a 502; its nonce keeps that from doubling, a webhook has none."""
    aria, plaza = city.bot("Aria"), city.channel("plaza")
    async with online(city, aria) as client:
        channel = client.text(plaza)
        city.faults.fail(SEND, 502, carried=False)
        await channel.send("before")
        assert city.doubled() == []
        city.faults.fail(SEND, 502, carried=True)
        await channel.send("after")
        assert city.doubled() == []
        hook = await channel.create_webhook(name="Loopforge")
        city.faults.fail("POST /webhooks/*/*", 502, carried=True)
        await hook.send("hooked", username="Cleo", wait=True)
        assert [len(group) for group in city.doubled()] == [2]
    assert [line.text for line in city.lines(plaza)] == ["before", "after", "hooked", "hooked"]
    carried = [
        (call.status, call.carried) for call in city.calls if call.path.endswith("/messages")
    ]
    assert carried == [(502, False), (200, True), (502, True), (200, True)]


async def test_an_answer_that_never_comes(city: Twin) -> None:
    """The connection is cut in place of an answer: the message stands, the client knows nothing."""
    aria, plaza = city.bot("Aria"), city.channel("plaza")
    async with online(city, aria) as client:
        city.faults.lose(SEND, carried=True)
        with pytest.raises(Exception, match="disconnected"):
            await client.text(plaza).send("hello")
        gate = city.faults.hold("PATCH /channels/*/messages/*")
        async with _spawned() as tasks:
            line = city.lines(plaza)[0]
            editing = tasks.spawn(
                client.text(plaza).get_partial_message(line.id).edit(content="x"), "edit"
            )
            await gate.reached.wait()
            assert city.lines(plaza)[0].text == "hello"
            gate.release()
            await editing
    assert [line.text for line in city.lines(plaza)] == ["x"]


async def test_resume_replays_what_was_missed(city: Twin) -> None:
    """A socket cut with 4000 is resumed; lines said meanwhile are replayed, once, in order."""
    aria, ben, plaza = city.bot("Aria"), city.person("ben"), city.channel("plaza")
    async with online(city, aria) as client:
        await city.say(ben, plaza, "one")
        await city.until(lambda: client.said() == ["one"])
        await city.cut(aria, 4000)
        await city.say(ben, plaza, "two")
        await city.say(ben, plaza, "three")
        await city.until(lambda: client.count("resumed"))
        await city.until(lambda: len(client.said()) == 3)
        assert client.said() == ["one", "two", "three"]
        assert (city.identified, city.resumed) == (["Aria"], ["Aria"])


async def test_a_bot_is_asked_to_reconnect(city: Twin) -> None:
    """Discord's request to reconnect is followed, and nothing is lost."""
    aria, ben, plaza = city.bot("Aria"), city.person("ben"), city.channel("plaza")
    async with online(city, aria) as client:
        await city.reconnect(aria)
        await city.until(lambda: city.resumed == ["Aria"])
        await city.say(ben, plaza, "one")
        await city.until(lambda: client.said() == ["one"])


async def test_a_forgotten_session_must_identify_again(city: Twin) -> None:
    """RESUME of a session that is gone is refused; the client identifies anew, and missed lines."""
    aria, ben, plaza = city.bot("Aria"), city.person("ben"), city.channel("plaza")
    async with online(city, aria) as client:
        await city.forget(aria)
        await city.cut(aria, 4000)
        await city.say(ben, plaza, "missed")
        await city.until(lambda: city.identified == ["Aria", "Aria"])
        await city.until(lambda: client.count("ready") == 2)
        await city.say(ben, plaza, "heard")
        await city.until(lambda: client.said())
        assert client.said() == ["heard"]
        missed = [one.content async for one in client.text(plaza).history()]
        assert missed == ["heard", "missed"]


async def test_events_twice_swapped_or_lost(city: Twin) -> None:
    """Events come doubled, in another order, or not at all, for the bot that was named."""
    aria, bram = city.bot("Aria"), city.bot("Bram")
    ben, plaza = city.person("ben"), city.channel("plaza")
    async with online(city, aria) as first, online(city, bram) as second:
        city.faults.double("MESSAGE_CREATE", bot="Bram")
        await city.say(ben, plaza, "one")
        city.faults.swap("MESSAGE_CREATE", bot="Bram")
        await city.say(ben, plaza, "two")
        await city.say(ben, plaza, "three")
        city.faults.drop("MESSAGE_CREATE", bot="Bram")
        await city.say(ben, plaza, "four")
        await city.say(ben, plaza, "five")
        await city.until(lambda: len(second.said()) == len(first.said()) == 5)
        assert second.said() == ["one", "one", "three", "two", "five"]
        assert first.said() == ["one", "two", "three", "four", "five"]


async def test_a_malformed_payload_ends_discord_pys_connection(city: Twin) -> None:
    """A key that is missing raises in discord.py's parser and ends `connect`: the bot is deaf."""
    aria, ben, plaza = city.bot("Aria"), city.person("ben"), city.channel("plaza")
    client = Ears(intents=discord.Intents.all(), connector=city.connector())
    async with _spawned() as tasks, client:
        await client.login(aria.token)
        connecting = tasks.spawn(client.connect(), "connect")
        await city.until(lambda: client.count("ready"))
        city.faults.spoil("MESSAGE_CREATE", "channel_id")
        await city.say(ben, plaza, "hello")
        with pytest.raises(KeyError):
            await connecting
        assert client.said() == []


async def test_what_is_lost_for_good(city: Twin) -> None:
    """A permission, a channel and the guild itself are taken away: 50013, 10003, 50001."""
    aria, plaza, park = city.bot("Aria"), city.channel("plaza"), city.channel("park")
    async with online(city, aria) as client:
        first, second = client.text(plaza), client.text(park)
        await city.forbid(aria, plaza, "send_messages")
        with pytest.raises(discord.Forbidden, match="50013"):
            await first.send("hello")
        await city.allow(aria, plaza)
        await first.send("hello")
        await city.delete_channel(park)
        with pytest.raises(discord.NotFound, match="10003"):
            await second.send("hello")
        await city.until(lambda: client.count("guild_channel_delete"))
        await city.kick(aria)
        await city.until(lambda: client.count("guild_remove"))
        with pytest.raises(discord.Forbidden, match="50001"):
            await first.send("hello")
        await city.invite(aria)
        await city.until(lambda: client.count("guild_join"))
        await client.text(plaza).send("back")
        city.faults.refuse(SEND, 50001, 403, "Missing Access")
        with pytest.raises(discord.Forbidden, match="50001"):
            await client.text(plaza).send("refused")


async def test_a_deviation_is_noticed() -> None:
    """What Discord's schemas do not allow is told; the fixture would fail the test."""
    async with Twin() as city:
        aria, plaza = city.bot("Aria"), city.channel("plaza")
        async with online(city, aria) as client:
            await client.http.request(discord.http.Route("GET", "/gateway"))
            assert city.deviations == []
            wrong = discord.http.Route(
                "POST", "/channels/{channel_id}/messages", channel_id=plaza.id
            )
            with pytest.raises(discord.HTTPException):
                await client.http.request(wrong, json={"content": 7, "unknown": True})
            city.to_bot(aria, "TYPING_START", {"channel_id": 5})
    told = "\n".join(city.deviations)
    assert "request at /content: 7 is not of type 'string'" in told
    assert "does not implement the field(s) [unknown]" in told
    assert "TYPING_START at /: 'user_id' is a required property" in told
