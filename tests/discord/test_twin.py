"""The twin against unmodified discord.py and hikari: what is said reaches, and stands recorded."""

from __future__ import annotations

import io

import pytest

import discord
from tests.discord.clients import online
from tests.discord.twin import Twin

PICTURE = bytes.fromhex("89504e470d0a1a0a") + bytes(range(200))


async def test_a_line_reaches_a_bot_and_its_answer_is_recorded(city: Twin) -> None:
    """A person's line is heard by discord.py over TLS, and what it sends stands in the records."""
    aria, ben, plaza = city.bot("Aria"), city.person("ben"), city.channel("plaza")
    async with online(city, aria) as client:
        line = await city.say(ben, plaza, "hello")
        await city.until(lambda: client.said() == ["hello"])
        heard = client.latest("message")
        assert (heard.id, heard.author.name, heard.author.bot) == (line.id, "ben", False)
        await heard.reply("hi, ben")
    answer = city.lines(plaza)[-1]
    assert (answer.by, answer.text, answer.reply_to) == ("Aria", "hi, ben", line.id)
    assert city.calls[-1].route == f"POST /channels/{plaza.id}/messages"


async def test_edits_deletions_reactions_and_typing_go_both_ways(city: Twin) -> None:
    """What changes after it was said is heard by the bot, and recorded in its order."""
    aria, ben, plaza = city.bot("Aria"), city.person("ben"), city.channel("plaza")
    async with online(city, aria) as client:
        line = await city.say(ben, plaza, "helo")
        await city.edit(ben, line, "hello")
        await city.react(ben, line, "👍")
        await city.unreact(ben, line, "👍")
        await city.typing(ben, plaza)
        await city.delete(ben, line)
        await city.until(lambda: client.count("message_delete"))
        assert client.said("message_edit") == ["hello"]
        for event in ("reaction_add", "reaction_remove", "typing"):
            assert client.count(event) == 1
        channel = client.text(plaza)
        async with channel.typing():
            sent = await channel.send("one")
        await sent.edit(content="two")
        await sent.add_reaction("🦊")
        assert city.line(sent.id).reactions == {"🦊": ("Aria",)}
        await sent.remove_reaction("🦊", client.user_itself)
        await sent.delete()
    kinds = "create edit react unreact typing delete"
    assert [deed.kind for deed in city.deeds()] == (
        kinds + " typing create edit react unreact delete"
    ).split()
    assert [line.text for line in city.lines(plaza, gone=True)] == ["hello", "two"]
    assert city.lines(plaza) == []


async def test_two_bots_hear_each_other_and_censoring_is_per_bot(city: Twin) -> None:
    """A bot without the message-content intent sees no text but where it is addressed."""
    aria, bram = city.bot("Aria"), city.bot("Bram", approved=())
    ben, plaza = city.person("ben"), city.channel("plaza")
    default = discord.Intents.default()
    async with online(city, aria) as first, online(city, bram, default) as second:
        await city.say(ben, plaza, "secret")
        await city.say(ben, plaza, f"for {bram.mention}")
        await first.text(plaza).send("from Aria")
        await city.until(lambda: len(first.said()) == len(second.said()) == 3)
        assert first.said() == ["secret", f"for {bram.mention}", "from Aria"]
        assert second.said() == ["", f"for {bram.mention}", ""]
        heard = second.latest("message")
        assert (heard.author.bot, heard.author.name) == (True, "Aria")


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


async def test_threads_and_forum_posts(city: Twin) -> None:
    """Threads on a message carry its id; a forum post's first message has the post's id."""
    aria, ben = city.bot("Aria"), city.person("ben")
    plaza, ideas = city.channel("plaza"), city.forum("ideas")
    async with online(city, aria) as client:
        line = await city.say(ben, plaza, "let us walk")
        walk = await city.thread(ben, plaza, "a walk", on=line)
        assert walk.id == line.id
        await city.say(ben, walk, "in the thread")
        post = await city.post(ben, ideas, "an idea", "what if", files=[("plan.txt", b"1. fly")])
        await city.until(lambda: "what if" in client.said())
        assert client.said() == ["let us walk", "", "in the thread", "what if"]
        heard = client.latest("message")
        assert heard.id == heard.channel.id == post.id
        assert heard.channel.parent.id == ideas.id
        assert await heard.attachments[0].read() == b"1. fly"
        thread = client.get_channel(walk.id)
        assert isinstance(thread, discord.Thread)
        await thread.send("me too")
        mine = await client.text(plaza).create_thread(
            name="mine", type=discord.ChannelType.public_thread
        )
        await mine.send("first")
        own = await (await client.text(plaza).send("root")).create_thread(name="rooted")
        forum = client.get_channel(ideas.id)
        assert isinstance(forum, discord.ForumChannel)
        made = await forum.create_thread(name="hers", content="body")
        assert made.message.id == made.thread.id
        await own.edit(archived=True)
        read = [one.content async for one in thread.history()]
        assert read == ["me too", "in the thread", ""]
    assert [line.by for line in city.lines(walk)] == ["ben", "ben", "Aria"]
    assert {deed.text for deed in city.deeds("thread")} == {
        "a walk",
        "an idea",
        "mine",
        "rooted",
        "hers",
    }


async def test_files_go_both_ways_by_signed_addresses(city: Twin) -> None:
    """What a person attached is read by the bot, and what the bot attached comes back whole."""
    aria, ben, plaza = city.bot("Aria"), city.person("ben"), city.channel("plaza")
    async with online(city, aria) as client:
        await city.say(ben, plaza, "look", files=[("a.png", PICTURE), ("b.txt", b"words")])
        await city.until(lambda: client.said())
        heard = client.latest("message")
        assert [one.filename for one in heard.attachments] == ["a.png", "b.txt"]
        assert await heard.attachments[0].read() == PICTURE
        assert "&hm=" in heard.attachments[0].url
        file = discord.File(io.BytesIO(PICTURE), "back.png", description="a picture")
        sent = await client.text(plaza).send("here", file=file)
        assert await sent.attachments[0].read() == PICTURE
        assert sent.attachments[0].description == "a picture"
        with pytest.raises(discord.NotFound):
            await client.http.get_from_cdn(sent.attachments[0].url.partition("?")[0])
        city.faults.fail("GET /attachments/**", 503)
        with pytest.raises(discord.HTTPException):
            await sent.attachments[0].read()
        assert await sent.attachments[0].read() == PICTURE
    line = city.lines(plaza)[-1]
    assert (line.files, city.file(line, "back.png")) == (("back.png",), PICTURE)


async def test_dms_go_both_ways_and_may_be_closed(city: Twin) -> None:
    """Only the bot that is written to hears a DM; a closed one is refused with 50007."""
    aria, bram, ben = city.bot("Aria"), city.bot("Bram"), city.person("ben")
    async with online(city, aria) as first, online(city, bram) as second:
        await city.dm(ben, aria, "psst")
        await city.until(lambda: first.said() == ["psst"])
        await first.latest("message").channel.send("yes?")
        user = await second.fetch_user(ben.id)
        await user.send("hello from me")
        await city.until(lambda: second.said() == ["hello from me"])
        await city.close_dm(ben)
        with pytest.raises(discord.Forbidden, match="50007"):
            await user.send("again")
    assert [line.text for line in city.lines(city.private(ben, aria))] == ["psst", "yes?"]


async def test_webhooks_speak_under_names_and_belong_to_an_application(city: Twin) -> None:
    """A webhook speaks as anybody, in threads too; another application does not see its token."""
    aria, bram = city.bot("Aria"), city.bot("Bram")
    ben, plaza = city.person("ben"), city.channel("plaza")
    async with online(city, aria) as first, online(city, bram) as second:
        hook = await first.text(plaza).create_webhook(name="Loopforge")
        assert [one.token for one in await first.text(plaza).webhooks()] == [hook.token]
        assert [one.token for one in await second.text(plaza).webhooks()] == [None]
        sent = await hook.send(
            "I am Cleo", username="Cleo", avatar_url="https://x.invalid/c.png", wait=True
        )
        await city.until(lambda: first.said() == ["I am Cleo"])
        heard = first.latest("message")
        assert (heard.author.name, heard.webhook_id, heard.application_id) == (
            "Cleo",
            hook.id,
            aria.application,
        )
        await sent.edit(content="I am still Cleo")
        walk = await city.thread(ben, plaza, "a walk")
        await hook.send("in there", username="Cleo", thread=discord.Object(walk.id))
        assert [(one.by, one.text) for one in city.lines(walk)] == [("Cleo", "in there")]
        shown = city.line(sent.id)
        assert (shown.by, shown.text, shown.avatar) == (
            "Cleo",
            "I am still Cleo",
            "https://x.invalid/c.png",
        )
        await sent.delete()
        await hook.edit(name="Other")
        await hook.delete()
        with pytest.raises(discord.NotFound, match="10015"):
            await hook.send("gone")


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


async def test_an_application_knows_itself(city: Twin) -> None:
    """The portal's flags say which privileged intents are granted; name and picture are changed."""
    aria = city.bot("Aria", approved=("message_content",))
    async with online(city, aria, discord.Intents(guilds=True, message_content=True)) as client:
        told = await client.application_info()
        assert told.id == aria.application
        assert told.flags.gateway_message_content_limited
        assert not told.flags.gateway_guild_members_limited
        changed = await client.user_itself.edit(username="Aria II", avatar=PICTURE)
        assert changed.name == "Aria II"
        assert changed.avatar is not None
        await city.until(lambda: client.user_itself.name == "Aria II")


async def test_limits_and_members(city: Twin) -> None:
    """2001 characters are refused with 50035; the member list comes in chunks."""
    aria, plaza = city.bot("Aria"), city.channel("plaza")
    for name in ("ben", "cora"):
        city.person(name)
    async with online(city, aria) as client:
        guild = client.guilds[0]
        assert {member.name for member in guild.members} >= {"Aria", "ben", "cora"}
        assert [one.name for one in await guild.query_members("co")] == ["cora"]
        with pytest.raises(discord.HTTPException, match="50035"):
            await client.text(plaza).send("x" * 2001)


async def test_what_discord_refuses(city: Twin) -> None:
    """Emptiness, size, names, answers to what is gone, and archived threads: each with its code."""
    aria, ben, plaza = city.bot("Aria"), city.person("ben"), city.channel("plaza")
    async with online(city, aria) as client:
        channel = client.text(plaza)
        with pytest.raises(discord.HTTPException, match="50006"):
            await channel.send("")
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
