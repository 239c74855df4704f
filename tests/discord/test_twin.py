"""The twin against unmodified discord.py and hikari: what is said reaches, and stands recorded."""

import io

import pytest

import discord
from tests.discord.clients import online
from tests.discord.twin import Twin

PICTURE = bytes.fromhex("89504e470d0a1a0a") + bytes(range(200))


async def test_a_privileged_intent_needs_the_portals_approval(city: Twin) -> None:
    """Asking for message content without approval closes the socket with 4014; a bad token fails."""
    bram = city.bot("Bram", approved=())
    client = discord.Client(intents=discord.Intents.all(), connector=city.connector())
    with pytest.raises(discord.PrivilegedIntentsRequired):
        await client.start(bram.token)
    await client.close()
    stranger = discord.Client(intents=discord.Intents.default(), connector=city.connector())
    with pytest.raises(discord.LoginFailure):
        await stranger.start(bram.token + "x")
    await stranger.close()


async def test_a_nonce_is_honoured_and_a_webhook_has_none(city: Twin) -> None:
    """The same nonce gives the message that exists; after its deletion it gives 10008."""
    aria, plaza = city.bot("Aria"), city.channel("plaza")
    async with online(city, aria) as client:
        channel = client.text(plaza)
        one = await channel.send("once", nonce="row-7")
        await city.until(lambda: client.said() == ["once"])
        assert client.latest("message").nonce == "row-7"
    async with online(city, aria) as client:  # a process that died and came back
        channel = client.text(plaza)
        assert (await channel.send("once", nonce="row-7")).id == one.id
        assert [line.nonce for line in city.lines(plaza)] == ["row-7"]
        assert city.doubled() == []
        await channel.get_partial_message(one.id).delete()
        with pytest.raises(discord.NotFound, match="10008"):
            await channel.send("once", nonce="row-7")
        route = discord.http.Route("POST", "/channels/{channel_id}/messages", channel_id=plaza.id)
        for _ in "12":
            await client.http.request(route, json={"content": "unenforced", "nonce": "row-8"})
        hook = await channel.create_webhook(name="Loopforge")
        await hook.send("twice", username="Cleo", wait=True)
        await hook.send("twice", username="Cleo", wait=True)
    doubled = [[line.text for line in group] for group in city.doubled(plaza)]
    assert doubled == [["unenforced"] * 2, ["twice"] * 2]


async def test_what_discord_refuses(city: Twin) -> None:
    """Emptiness, size, names, answers to what is gone, and archived threads: each with its code."""
    aria, ben, plaza = city.bot("Aria"), city.person("ben"), city.channel("plaza")
    async with online(city, aria) as client:
        channel = client.text(plaza)
        with pytest.raises(discord.HTTPException, match="50006"):
            await channel.send("")
        with pytest.raises(discord.HTTPException, match="50035"):
            await channel.send("x" * 2001)
        with pytest.raises(discord.HTTPException, match="40005") as caught:
            await channel.send(file=discord.File(io.BytesIO(bytes(11 << 20)), "large.bin"))
        assert caught.value.status == 413
        line = await city.say(ben, plaza, "hello")
        walk = await city.thread(ben, plaza, "a walk", on=line)
        with pytest.raises(discord.HTTPException, match="160004"):
            await channel.get_partial_message(line.id).create_thread(name="again")
        await city.delete(ben, line)
        gone = channel.get_partial_message(line.id)
        with pytest.raises(discord.HTTPException, match="50035"):
            await gone.reply("too late")
        await channel.send("not there", reference=gone.to_reference(fail_if_not_exists=False))
        assert city.lines(plaza)[-1].reply_to is None
        with pytest.raises(discord.HTTPException, match="50035"):
            await channel.create_webhook(name="My Discord hook")
        await city.archive(walk)
        thread = client.get_channel(walk.id)
        assert isinstance(thread, discord.Thread)
        await city.until(lambda: client.guilds[0].get_thread(walk.id) is None)
        await thread.send("awake")
        await city.until(lambda: client.guilds[0].get_thread(walk.id))
        await city.archive(walk, locked=True)
        with pytest.raises(discord.HTTPException, match="50083"):
            await thread.send("locked")


async def test_what_cannot_be_seen_is_not_heard(city: Twin) -> None:
    """A bot hears nothing of a channel it may not view, and all of it again when it may."""
    aria, bram = city.bot("Aria"), city.bot("Bram")
    ben, plaza = city.person("ben"), city.channel("plaza")
    async with online(city, aria) as first, online(city, bram) as second:
        await city.forbid(aria, plaza, "view_channel")
        await city.say(ben, plaza, "hidden")
        await city.allow(aria, plaza)
        await city.say(ben, plaza, "shown")
        await city.until(lambda: "shown" in first.said() and "shown" in second.said())
        assert (first.said(), second.said()) == (["shown"], ["hidden", "shown"])
    assert not city.online(aria)
