"""The twin against hikari, unmodified: a second client, stricter than the first, is the judge."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import hikari
import pytest

from tests.discord.twin import Twin
from tests.discord.words import Bot


@asynccontextmanager
async def online(
    city: Twin, bot: Bot
) -> AsyncIterator[tuple[hikari.GatewayBot, list[hikari.Event]]]:
    """A hikari bot, started; and all it heard."""
    made = hikari.GatewayBot(
        bot.token,
        rest_url=city.rest,
        intents=hikari.Intents.ALL,
        banner=None,
        logs=None,
        suppress_optimization_warning=True,
    )
    heard: list[hikari.Event] = []

    async def keep(event: hikari.Event) -> None:
        heard.append(event)

    made.subscribe(hikari.MessageEvent, keep)
    made.subscribe(hikari.ReactionEvent, keep)
    made.subscribe(hikari.GuildAvailableEvent, keep)
    await made.start(check_for_updates=False)
    try:
        await city.until(lambda: heard)
        yield made, heard
    finally:
        await made.close()


async def test_hikari_talks(city: Twin) -> None:
    """Lines, replies, edits, reactions, files, threads, history and webhooks, by hikari's parsers."""
    aria, ben, plaza = city.bot("Aria"), city.person("ben"), city.channel("plaza")
    async with online(city, aria) as (bot, heard):
        line = await city.say(ben, plaza, "hello", files=[("a.txt", b"words")])
        await city.until(lambda: isinstance(heard[-1], hikari.GuildMessageCreateEvent))
        event = heard[-1]
        assert isinstance(event, hikari.GuildMessageCreateEvent)
        assert (event.content, event.message_id, event.is_human) == ("hello", line.id, True)
        assert await event.message.attachments[0].read() == b"words"
        sent = await event.message.respond(
            "hi", reply=True, attachment=hikari.Bytes(b"xyz", "b.txt")
        )
        assert await sent.attachments[0].read() == b"xyz"
        await sent.edit("hi!")
        await sent.add_reaction("🦊")
        assert city.line(sent.id).reactions == {"🦊": ("Aria",)}
        thread = await bot.rest.create_message_thread(plaza.id, line.id, "a walk")
        await thread.send("inside")
        hook = await bot.rest.create_webhook(plaza.id, "Loopforge")
        await hook.execute("I am Cleo", username="Cleo")
        read = [one.content async for one in bot.rest.fetch_messages(plaza.id)]
        assert read == ["I am Cleo", "hi!", "hello"]
        await city.dm(ben, aria, "psst")
        await city.until(lambda: isinstance(heard[-1], hikari.DMMessageCreateEvent))
    await city.until(lambda: not city.sessions)  # it said goodbye: nothing is left to resume
    assert [one.by for one in city.lines(plaza)] == ["ben", "Aria", "Cleo"]
    assert city.lines(plaza)[1].reply_to == line.id


async def test_hikari_meets_faults(city: Twin) -> None:
    """A rate limit is waited out, a refusal raised, and a cut socket resumed with what was missed."""
    aria, ben, plaza = city.bot("Aria"), city.person("ben"), city.channel("plaza")
    async with online(city, aria) as (bot, heard):
        city.faults.rate_limit("POST /channels/*/messages", retry_after=0.02)
        await bot.rest.create_message(plaza.id, "hello")
        with pytest.raises(hikari.BadRequestError):
            await bot.rest.create_message(plaza.id, "x" * 2001)
        await city.cut(aria, 4000)
        await city.say(ben, plaza, "missed")
        async with asyncio.timeout(120):
            await city.until(lambda: city.resumed == ["Aria"])
        await city.until(lambda: getattr(heard[-1], "content", "") == "missed")
    assert [line.text for line in city.lines(plaza)] == ["hello", "missed"]
