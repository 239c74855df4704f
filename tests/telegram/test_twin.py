"""python-telegram-bot and aiogram, as they are, against Telegram's twin: what bots may do."""

import asyncio
from collections.abc import Awaitable
from typing import Any

import pytest
from telegram.error import Conflict, InvalidToken, TelegramError

from telegram import BotCommand, MessageEntity, Update
from tests.telegram.city import City
from tests.telegram.clients import calling
from tests.telegram.records import Bot, Chat, Person
from tests.telegram.twin import Twin


async def refused(work: Awaitable[Any]) -> str:
    """What the client raises, in words; the test fails if it raises nothing."""
    with pytest.raises(TelegramError) as caught:
        await work
    return f"{type(caught.value).__name__}: {caught.value.message}"


async def pair(city: City) -> tuple[Bot, Person, Chat]:
    """A bot and a person who has started it."""
    aria, ana = await city.bot("Aria"), await city.person("Ana", "ana_l")
    return aria, ana, await city.private(ana, aria)


@pytest.fixture(autouse=True)
def hurried(twin: Twin) -> None:
    """Everything is done at once here, with no limits."""
    twin.town.floods.on = False


async def test_what_is_refused(city: City) -> None:
    """What Telegram would not take, the twin does not take either, in Telegram's words."""
    aria, ana, chat = await pair(city)
    line, lab = await city.say(ana, aria, "mine"), await city.group("Lab", [ana, aria])
    forum = await city.supergroup("Plans", [ana, aria], forum=True)
    number, unheard = line.ids[aria.id], (await city.say(ana, forum, "it rains")).id
    async with calling(city.base, aria) as bot:
        one = (await bot.send_message(chat.id, "🙂" * 2048)).message_id
        gone = (await bot.send_message(chat.id, "gone")).message_id
        assert await bot.delete_message(chat.id, gone)
        beyond = [MessageEntity(MessageEntity.BOLD, 0, 9)]
        for words, work in (
            ("Message is too long", bot.send_message(chat.id, "🙂" * 2048 + "x")),
            ("Message text is empty", bot.send_message(chat.id, "  ")),
            ("Message caption is too long", bot.send_document(chat.id, b"x", caption="x" * 1025)),
            ("ends after the end of the text", bot.send_message(chat.id, "x", entities=beyond)),
            (
                "Message to be replied not found",
                bot.send_message(chat.id, "x", reply_to_message_id=999),
            ),
            ("Message thread not found", bot.send_message(forum.id, "x", message_thread_id=99)),
            ("is not modified", bot.edit_message_text("🙂" * 2048, chat.id, one)),
            ("Message_too_long", bot.edit_message_text("x" * 4097, chat.id, one)),
            ("Message can't be edited", bot.edit_message_text("x", chat.id, number)),
            ("Message to edit not found", bot.edit_message_text("x", chat.id, gone)),
            ("stop not found", bot.stop_message_live_location(forum.id, unheard)),
            ("Message to delete not found", bot.delete_message(chat.id, gone)),
            ("Reaction_invalid", bot.set_message_reaction(chat.id, number, "🐌")),
            ("Reactions_too_many", bot.set_message_reaction(chat.id, number, ["👍", "🔥"])),
            ("Textdraft_peer_invalid", bot.send_message_draft(lab.id, 7, "Let me")),
            ("Bot_command_invalid", bot.set_my_commands([BotCommand("Why", "Ask for reasons")])),
            ("Invalid file_id", bot.get_file("none")),
        ):
            assert words in await refused(work)
    assert [line.text for line in await city.lines(chat, by=aria)] == ["🙂" * 2048, "gone"]


async def test_who_is_here(city: City) -> None:
    """getChatMember says how everybody stands; who never spoke to a bot cannot be written to."""
    aria, ana, _ = await pair(city)
    bob, eve = await city.person("Bob"), await city.person("Eve")
    lab = await city.supergroup("Lab", [ana, bob, aria], admins=[aria])
    async with calling(city.base, aria) as bot:
        stands = [(await bot.get_chat_member(lab.id, one.id)).status for one in (ana, bob, eve)]
        assert stands == ["creator", "member", "left"]
        assert "initiate conversation" in await refused(bot.send_message(bob.id, "hi"))
        assert await refused(bot.send_message(eve.id, "hi")) == "BadRequest: Chat not found"
        assert (await refused(bot.send_message(aria.id, "hi"))).startswith("Forbidden")


async def test_two_pollers(city: City) -> None:
    """Of two who poll for one bot, the first is told Conflict, and no update is lost."""
    aria, ana, _ = await pair(city)
    async with calling(city.base, aria) as one, calling(city.base, aria) as two:
        waiting = asyncio.gather(one.get_updates(timeout=30), return_exceptions=True)
        await city.until(lambda: city.calls("getUpdates"))
        second = asyncio.gather(two.get_updates(timeout=30))
        (conflict,) = await waiting
        assert isinstance(conflict, Conflict)
        await city.say(ana, aria, "hello")
        ((got,),) = await second
        assert [update.update_id for update in await one.get_updates()] == [got.update_id]
        assert await one.get_updates(offset=got.update_id + 1) == ()


async def test_who_is_not_known(city: City) -> None:
    """A wrong token is refused; what the twin does not know gets 404, and is on record."""
    aria, _, chat = await pair(city)
    stranger = Bot(1, "No", "no_bot", "1:AAno")
    with pytest.raises(InvalidToken):
        async with calling(city.base, stranger):
            pass
    async with calling(city.base, aria) as bot:
        assert "not know" in await refused(bot.send_dice(chat.id))
        with pytest.raises(TelegramError, match="not found in Bot API"):
            await bot.do_api_request("sendTelepathy", {"chat_id": chat.id})
        await bot.send_message(chat.id, "x", api_kwargs={"colour": "red"})
        odd = bot.send_message(chat.id, "x", message_thread_id="first")  # type: ignore[arg-type]
        assert "Message_thread_id" in await refused(odd)
    told = {(one.where, one.what) for one in await city.forgive()}
    assert {where for where, _ in told} == {"sendDice", "sendTelepathy", "sendMessage"}
    assert ("sendMessage", "there is no parameter colour") in told
    assert len(await city.lines(chat)) == 1


async def test_what_is_wanted_by_name(city: City) -> None:
    """allowed_updates holds from then on, and stays when it is not given again."""
    aria, ana = await city.bot("Aria"), await city.person("Ana")
    line = await city.say(ana, aria, "one")
    await city.react(ana, line, "👍")
    async with calling(city.base, aria) as bot:
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


async def test_doubled(city: City) -> None:
    """The same words twice by one author in one place are told; elsewhere or deleted they are not."""
    aria, ana, bob = await city.bot("Aria"), await city.person("Ana"), await city.person("Bob")
    lab = await city.group("Lab", [ana, bob, aria])
    lines = [
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
