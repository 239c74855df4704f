"""A tour of what else a bot may call: served, and within Discord's schemas."""

from __future__ import annotations

import datetime as dt
import io

import discord
from discord import app_commands
from tests.discord.clients import online
from tests.discord.twin import Twin


async def test_messages_of_all_kinds(city: Twin) -> None:
    """Embeds, views, layouts, polls, pins, several reactions, forwards, and deletion in bulk."""
    aria, ben, plaza = city.bot("Aria"), city.person("ben"), city.channel("plaza")
    async with online(city, aria) as client:
        channel = client.text(plaza)
        embed = discord.Embed(title="A card", description="text", colour=7)
        embed.set_footer(text="foot").add_field(name="a", value="b").set_author(name="Aria")
        mentions = discord.AllowedMentions(
            everyone=False, roles=False, users=True, replied_user=False
        )
        card = await channel.send(embed=embed, allowed_mentions=mentions, silent=True)
        view = discord.ui.View()
        view.add_item(discord.ui.Button(label="Go", custom_id="go"))
        view.add_item(discord.ui.Button(label="See", url="https://example.com/"))
        view.add_item(
            discord.ui.Select(custom_id="pick", options=[discord.SelectOption(label="one")])
        )
        await channel.send("choose", view=view)
        layout = discord.ui.LayoutView()
        layout.add_item(discord.ui.Container(discord.ui.TextDisplay("in a box")))
        await channel.send(view=layout)
        poll = discord.Poll("Tea?", duration=dt.timedelta(hours=1))
        poll.add_answer(text="yes").add_answer(text="no")
        await channel.send(poll=poll)
        await card.pin()
        assert [one.id async for one in channel.pins()] == [card.id]
        await card.unpin()
        await card.forward(channel)
        line = await city.say(ben, plaza, "@everyone <@&1> hello", ping=False)
        message = await channel.fetch_message(line.id)
        await city.react(ben, line, "👍")
        await message.add_reaction("👍")
        fetched = await channel.fetch_message(line.id)
        assert {one.name async for one in fetched.reactions[0].users()} == {"ben", "Aria"}
        await message.clear_reaction("👍")
        await message.clear_reactions()
        await channel.send("bye", suppress_embeds=True)
        first, second = await channel.send("1"), await channel.send("2")
        await channel.delete_messages([first, second])
        await city.until(lambda: client.count("raw_bulk_message_delete"))


async def test_the_guild_its_members_channels_and_roles(city: Twin) -> None:
    """What a bot reads and changes in its guild."""
    aria, ben, plaza = city.bot("Aria"), city.person("ben"), city.channel("plaza", topic="talk")
    async with online(city, aria) as client:
        guild = await client.fetch_guild(city.guild.id)
        assert (guild.name, guild.approximate_member_count) == ("The City", 3)
        member = await guild.fetch_member(ben.id)
        assert member.name == "ben"
        here = client.guilds[0]
        assert [one.name for one in await here.fetch_channels()] == ["plaza"]
        fetched = await client.fetch_channel(plaza.id)
        assert isinstance(fetched, discord.TextChannel)
        assert fetched.topic == "talk"
        await here.me.edit(nick="Aria the Mate")
        await city.until(lambda: here.me.nick == "Aria the Mate")
        role = await here.create_role(name="mates")
        found = here.get_member(ben.id)
        assert found is not None
        await found.add_roles(role)
        await city.until(lambda: found.get_role(role.id))
        made = await here.create_text_channel("workshop", topic="work")
        await made.edit(topic="more work")
        await made.set_permissions(found, read_messages=False)
        permissions = client.text(plaza).permissions_for(here.me)
        assert (permissions.send_messages, permissions.manage_webhooks) == (True, True)
        await client.change_presence(activity=discord.Game("chess"), status=discord.Status.idle)
        await city.until(lambda: city.presences)
        await made.delete()
        assert [one.name async for one in client.fetch_guilds()] == ["The City"]
        await city.leave(ben)
        await city.until(lambda: here.get_member(ben.id) is None)
        dana = city.person("dana")
        await city.until(lambda: here.get_member(dana.id))
        await city.rename(plaza, "square")
        await city.until(lambda: client.text(plaza).name == "square")
        await here.leave()
        await city.until(lambda: client.count("guild_remove"))
        assert [one.name async for one in client.fetch_guilds()] == []


async def test_threads_their_members_and_their_lists(city: Twin) -> None:
    """Joining, adding, listing, renaming, private threads, tags of a forum."""
    aria, ben, plaza = city.bot("Aria"), city.person("ben"), city.channel("plaza")
    forum = city.forum("ideas")
    async with online(city, aria) as client:
        channel, guild = client.text(plaza), client.guilds[0]
        walk = await city.thread(ben, plaza, "a walk")
        await city.until(lambda: guild.get_thread(walk.id))
        thread = guild.get_thread(walk.id)
        assert thread is not None
        await thread.join()
        await thread.add_user(discord.Object(ben.id))
        assert {one.id for one in await thread.fetch_members()} == {ben.id, aria.id}
        assert [one.name for one in await guild.active_threads()] == ["a walk"]
        await thread.edit(name="a long walk")
        await thread.remove_user(discord.Object(ben.id))
        await thread.leave()
        hidden = await channel.create_thread(name="hidden")
        assert hidden.is_private()
        await thread.edit(archived=True, locked=True)
        assert [one.name async for one in channel.archived_threads()] == ["a long walk"]
        await hidden.delete()
        ideas = client.get_channel(forum.id)
        assert isinstance(ideas, discord.ForumChannel)
        tag = await ideas.create_tag(name="bold")
        made = await ideas.create_thread(name="fly", content="how", applied_tags=[tag])
        assert [one.id for one in made.thread.applied_tags] == [tag.id]


async def test_commands_are_read_changed_and_answered_at_length(city: Twin) -> None:
    """Commands of a guild, what is registered, follow-ups edited and deleted, files in answers."""
    aria, ben, plaza = city.bot("Aria"), city.person("ben"), city.channel("plaza")
    async with online(city, aria) as client:
        guild = discord.Object(city.guild.id)

        @client.tree.command(description="Long", guild=guild, nsfw=False)
        @app_commands.default_permissions(send_messages=True)
        @app_commands.choices(kind=[app_commands.Choice(name="One", value=1)])
        async def long(asked: discord.Interaction, kind: int, where: discord.TextChannel) -> None:
            await asked.response.defer(ephemeral=True, thinking=True)
            await asked.edit_original_response(content=f"{kind} {where.name}")
            first = await asked.original_response()
            more = await asked.followup.send("more", wait=True, embed=discord.Embed(title="x"))
            await more.edit(content=f"more than {first.content}")
            gone = await asked.followup.send("gone", wait=True)
            await gone.delete()
            file = discord.File(io.BytesIO(b"words"), "source.txt")
            await asked.followup.send("with a file", file=file, ephemeral=True)
            await asked.delete_original_response()

        await client.tree.sync(guild=guild)
        assert [one.name for one in await client.tree.fetch_commands(guild=guild)] == ["long"]
        await client.tree.sync()
        answer = await city.slash(ben, plaza, aria, "long", {"kind": 1, "where": plaza})
        await city.until(lambda: len(answer.followups) == 2 and answer.line is None)
        assert [one.text for one in answer.followups] == ["more than 1 plaza", "with a file"]
        assert answer.followups[1].files == ("source.txt",)


async def test_webhooks_are_read_and_changed(city: Twin) -> None:
    """By token and by id; their messages fetched; files sent; in a guild's list."""
    aria, plaza = city.bot("Aria"), city.channel("plaza")
    async with online(city, aria) as client:
        channel = client.text(plaza)
        hook = await channel.create_webhook(name="Loopforge", avatar=b"\x89PNG\r\n\x1a\n")
        assert [one.id for one in await client.guilds[0].webhooks()] == [hook.id]
        assert (await client.fetch_webhook(hook.id)).token == hook.token
        by_token = await discord.Webhook.from_url(hook.url, client=client).fetch()
        assert by_token.name == "Loopforge"
        file = discord.File(io.BytesIO(b"words"), "source.txt")
        sent = await by_token.send("x", username="Cleo", file=file, wait=True, silent=True)
        await by_token.send(embeds=[discord.Embed(title="x")], username="Cleo")
        assert (await by_token.fetch_message(sent.id)).content == "x"
        await by_token.edit_message(sent.id, content="y")
        await by_token.delete_message(sent.id)
        reply = channel.get_partial_message((await channel.send("me")).id)
        await reply.reply("and me")
        history = [(one.author.name, one.webhook_id == hook.id) async for one in channel.history()]
        assert history == [("Aria", False), ("Aria", False), ("Cleo", True)]


async def test_dms_have_typing_edits_and_reactions(city: Twin) -> None:
    """In a DM too."""
    aria, ben = city.bot("Aria"), city.person("ben")
    async with online(city, aria) as client:
        line = await city.dm(ben, aria, "psst", files=[("a.txt", b"x")])
        await city.until(lambda: client.said())
        heard = client.latest("message")
        async with heard.channel.typing():
            sent = await heard.reply("yes?")
        await sent.edit(content="yes!")
        await heard.add_reaction("👍")
        await city.edit(ben, line, "psst!")
        await city.react(ben, sent.id, "👍")
        await city.typing(ben, city.private(ben, aria))
        await city.until(lambda: client.count("typing") and client.count("reaction_add"))
        await sent.delete()
        assert [one.content async for one in heard.channel.history()] == ["psst!"]
