"""What people do in the city, and which bot is told of it."""

from __future__ import annotations

from typing import Any

import pytest

from telegram import Update
from tests.telegram.city import City
from tests.telegram.clients import Telegram, calling
from tests.telegram.records import Bot, Chat, Line, Person
from tests.telegram.twin import Twin


async def texts(city: City, *bots: Bot) -> list[list[str]]:
    """The texts of the messages that wait for each bot, service messages left out."""
    return [[text for text in await waiting(city, bot, "message", "text") if text] for bot in bots]


async def waiting(city: City, bot: Bot, kind: str, *path: str) -> list[Any]:
    """What stands at this path in the updates of a kind that wait for a bot."""
    found = []
    for update in await city.updates(bot):
        if kind in update:
            value: Any = update[kind]
            for key in path:
                value = value.get(key) if isinstance(value, dict) else None
            found.append(value)
    return found


async def house(city: City, *, reads_all: bool = False) -> tuple[Bot, Bot, Person, Chat]:
    """A supergroup with a person and two bots in privacy mode, unless it is said otherwise."""
    aria = await city.bot("Aria", reads_all=reads_all)
    bram = await city.bot("Bram", reads_all=reads_all)
    ana = await city.person("Ana", "ana_l")
    return aria, bram, ana, await city.supergroup("Lab", [ana, aria, bram])


async def test_privacy_mode(twin: Twin, city: City) -> None:
    """In privacy mode a bot hears its commands, its mentions and replies to it, and no more."""
    aria, bram, ana, lab = await house(city)
    await city.say(ana, lab, "to nobody")
    await city.command(ana, lab, "why", "now", of=aria)
    await city.say(ana, lab, "you, @bram_bot?")
    await city.command(ana, lab, "help")
    async with calling(twin.base, bram) as bot:
        sent = await bot.send_message(lab.id, "I?")
        assert sent.message_id == (await city.lines(lab, by=bram))[0].id
    await city.say(ana, lab, "yes, @aria_bot says", reply_to=(await city.lines(lab, by=bram))[0])
    await city.command(ana, lab, "help")
    assert await texts(city, aria, bram) == [
        ["/why@aria_bot now"],
        ["you, @bram_bot?", "yes, @aria_bot says", "/help"],
    ]


async def test_without_privacy_mode(twin: Twin, city: City) -> None:
    """A bot that reads all hears every person, but no bot; an admin too, and only then."""
    aria, ana = await city.bot("Aria", reads_all=True), await city.person("Ana")
    bram = await city.bot("Bram")
    lab = await city.group("Lab", [ana, aria, bram])
    await city.say(ana, lab, "one")
    await city.promote(ana, bram, lab)
    await city.say(ana, lab, "two")
    await city.promote(ana, bram, lab, admin=False)
    await city.say(ana, lab, "three")
    async with calling(twin.base, bram) as bot:
        await bot.send_message(lab.id, "@aria_bot do you hear me?")
    assert await texts(city, aria, bram) == [["one", "two", "three"], ["two"]]


async def test_one_bot_in_privacy_mode_at_a_time(city: City) -> None:
    """Of two that are mentioned, the first alone is told."""
    aria, bram, ana, lab = await house(city)
    await city.say(ana, lab, "@bram_bot and @aria_bot")
    assert await texts(city, aria, bram) == [[], ["@bram_bot and @aria_bot"]]


async def test_message_ids(twin: Twin, city: City) -> None:
    """A supergroup numbers its messages for all; a basic group for each bot, from its coming on."""
    aria, bram, ana, lab = await house(city, reads_all=True)
    hall = await city.group("Hall", [ana, aria])
    before = await city.say(ana, hall, "before")
    await city.add(ana, bram, hall)
    shared, own = await city.say(ana, lab, "a"), await city.say(ana, hall, "b", reply_to=before)
    assert shared.ids[aria.id] == shared.ids[bram.id] == shared.id
    assert own.ids[aria.id] != own.ids[bram.id]
    with pytest.raises(ValueError, match="too many values"):
        _ = own.id
    assert (await waiting(city, aria, "message", "message_id"))[-1] == own.ids[aria.id]
    assert (await waiting(city, bram, "message", "message_id"))[-1] == own.ids[bram.id]
    answered = [
        (await waiting(city, bot, "message", "reply_to_message"))[-1] for bot in (aria, bram)
    ]
    assert [one and one["message_id"] for one in answered] == [before.ids[aria.id], None]


async def test_coming_and_going(city: City) -> None:
    """A bot is told how it stands itself, and by service messages who comes and goes."""
    aria, ana, bob = await city.bot("Aria"), await city.person("Ana"), await city.person("Bob")
    lab = await city.group("Lab", [ana])
    await city.add(ana, aria, lab)
    await city.join(bob, lab)
    await city.leave(bob, lab)
    await city.kick(ana, aria, lab)
    chat = await city.private(bob, aria)
    await city.block(bob, aria)
    stood = await waiting(city, aria, "my_chat_member", "new_chat_member", "status")
    assert stood == ["member", "kicked", "kicked"]
    places = await waiting(city, aria, "my_chat_member", "chat", "id")
    assert places == [lab.id, lab.id, chat.id]
    services = [line.service for line in await city.lines(lab)]
    came, left = "new_chat_members", "left_chat_member"
    assert services == ["group_chat_created", came, came, left, left]
    assert [one["id"] for (one,) in filter(None, await waiting(city, aria, "message", came))] == [
        aria.id,
        bob.id,
    ]
    with pytest.raises(ValueError, match="Bob is not in Lab"):
        await city.say(bob, lab, "still here?")
    with pytest.raises(ValueError, match="has blocked"):
        await city.say(bob, aria, "hello?")


async def test_what_is_wanted_by_name(twin: Twin, city: City) -> None:
    """allowed_updates holds from then on, and stays when it is not given again."""
    aria, ana = await city.bot("Aria"), await city.person("Ana")
    line = await city.say(ana, aria, "one")
    await city.react(ana, line, "👍")
    async with calling(twin.base, aria) as bot:
        assert kinds(await bot.get_updates(allowed_updates=["message_reaction"])) == ["message"]
        await city.say(ana, aria, "two")
        await city.react(ana, line, "🔥")
        updates = await bot.get_updates()
        assert kinds(updates) == ["message", "message_reaction"]
        offset = updates[-1].update_id + 1
        assert await bot.get_updates(offset=offset, allowed_updates=[]) == ()
        await city.react(ana, line)
        await city.say(ana, aria, "three")
        assert kinds(await bot.get_updates()) == ["message"]


def kinds(updates: tuple[Update, ...]) -> list[str]:
    """The kind of each update."""
    return [next(key for key in update.to_dict() if key != "update_id") for update in updates]


async def test_pages_and_offsets(twin: Twin, city: City) -> None:
    """Updates come in order, a page at a time, until they are acknowledged; -1 is the newest."""
    aria, ana = await city.bot("Aria"), await city.person("Ana")
    for number in range(5):
        await city.say(ana, aria, str(number))
    async with calling(twin.base, aria) as bot:
        first = await read(bot, limit=2)
        assert first == await read(bot, limit=2) == ["0", "1"]
        last = (await bot.get_updates(limit=2))[-1].update_id
        assert await read(bot, offset=last + 1) == ["2", "3", "4"]
        assert await read(bot, offset=-1) == ["4"]
        assert await city.waiting(aria) == 1


async def read(bot: Telegram, limit: int = 100, offset: int = 0) -> list[str | None]:
    """The texts of one answer."""
    updates = await bot.get_updates(limit=limit, offset=offset)
    return [update.message.text if update.message else None for update in updates]


async def test_doubled(city: City) -> None:
    """The same words twice by one author in one place are told; elsewhere or deleted they are not."""
    aria, ana, bob = await city.bot("Aria"), await city.person("Ana"), await city.person("Bob")
    lab = await city.group("Lab", [ana, bob, aria])
    lines: list[Line] = [
        await city.say(ana, lab, "yes"),
        await city.say(bob, lab, "yes"),
        await city.say(ana, aria, "yes"),
        await city.say(ana, lab, "yes", document=("a.txt", b"a")),
        await city.say(ana, lab, "yes", document=("a.txt", b"b")),
    ]
    assert await city.doubled() == []
    again = await city.say(ana, lab, "yes")
    assert [[line.key for line in group] for group in await city.doubled(lab)] == [
        [lines[0].key, again.key]
    ]
    await city.delete(ana, again)
    assert await city.doubled() == []
