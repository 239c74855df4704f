"""The twin's faults against unmodified clients: each strikes where it was planned, and only there."""

import pytest

import discord
from tests.discord.clients import online
from tests.discord.twin import Twin

SEND = "POST /channels/*/messages"


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
