"""Trouble on order: what each fault does to python-telegram-bot, and what the records say."""

import asyncio
from datetime import timedelta

import pytest
from telegram.error import BadRequest, ChatMigrated, Forbidden, NetworkError, RetryAfter

from tests.telegram.city import City
from tests.telegram.clients import calling
from tests.telegram.records import FaultKind


async def test_a_flood_says_how_long_to_wait(city: City) -> None:
    """429 carries retry_after, nothing is said; the next call is let through."""
    aria, ana = await city.bot("Aria"), await city.person("Ana")
    chat = await city.private(ana, aria)
    await city.fault("sendMessage", "flood", retry_after=7)
    async with calling(city.base, aria) as bot:
        with pytest.raises(RetryAfter) as caught:
            await bot.send_message(chat.id, "hello")
        assert caught.value.retry_after == timedelta(seconds=7)
        assert await city.lines(chat) == []
        await bot.send_message(chat.id, "hello")
    assert [line.text for line in await city.lines(chat)] == ["hello"]
    calls = await city.calls("sendMessage")
    assert [(call.code, call.done, call.fault) for call in calls] == [
        (429, False, "flood"),
        (200, True, ""),
    ]


@pytest.mark.parametrize(
    ("kind", "done", "code"),
    [("before", False, 502), ("after", True, 502), ("cut", True, 0), ("drop", False, 0)],
)
async def test_a_client_that_does_not_know(
    city: City, kind: FaultKind, done: bool, code: int
) -> None:
    """NetworkError all four times; in two of them the message stands, and a blind retry doubles."""
    aria, ana = await city.bot("Aria"), await city.person("Ana")
    chat = await city.private(ana, aria)
    await city.fault("sendMessage", kind)
    async with calling(city.base, aria) as bot:
        with pytest.raises(NetworkError):
            await bot.send_message(chat.id, "hello")
        assert len(await city.lines(chat)) == int(done)
        (call,) = await city.calls("sendMessage")
        assert (call.done, call.code, call.fault) == (done, code, kind)
        await bot.send_message(chat.id, "hello")
    doubled = await city.doubled(chat)
    assert [[line.text for line in group] for group in doubled] == [["hello", "hello"]] * done


async def test_an_answer_that_is_held(city: City) -> None:
    """A client that does not wait long enough gives up on what has been done; others wait."""
    aria, ana = await city.bot("Aria"), await city.person("Ana")
    chat = await city.private(ana, aria)
    await city.fault("sendMessage", "hold", times=2)
    async with calling(city.base, aria) as bot:
        hasty = asyncio.gather(bot.send_message(chat.id, "one"))
        await city.heard(chat, by=aria)
        hasty.cancel()
        with pytest.raises(asyncio.CancelledError):
            await hasty
        patient = asyncio.gather(bot.send_message(chat.id, "two"))
        await city.heard(chat, by=aria, count=2)
        await city.release()
        (sent,) = await patient
        assert sent.text == "two"
    assert [call.done for call in await city.calls("sendMessage")] == [True, True]


async def test_refusals(city: City) -> None:
    """Any error of Telegram's can be ordered: 403, 400, to one chat, after some calls."""
    aria, ana, bob = await city.bot("Aria"), await city.person("Ana"), await city.person("Bob")
    one, two = await city.private(ana, aria), await city.private(bob, aria)
    await city.fault("sendMessage", "refuse", chat=two, skip=1)
    gone = "Bad Request: chat not found"
    await city.fault("*", "refuse", bot=aria, chat=one, code=400, description=gone)
    async with calling(city.base, aria) as bot:
        with pytest.raises(BadRequest, match="Chat not found"):
            await bot.send_chat_action(one.id, "typing")
        await bot.send_message(one.id, "a")
        await bot.send_message(two.id, "b")
        with pytest.raises(Forbidden, match="blocked by the user"):
            await bot.send_message(two.id, "c")
        await bot.send_message(two.id, "d")
    assert [line.text for line in await city.lines(by=aria)] == ["a", "b", "d"]


async def test_blocked_kicked_and_moved(city: City) -> None:
    """What people do is refused in Telegram's words: blocked, kicked, gone to a supergroup."""
    aria, ana = await city.bot("Aria"), await city.person("Ana")
    chat, lab = await city.private(ana, aria), await city.group("Lab", [ana, aria])
    async with calling(city.base, aria) as bot:
        await city.block(ana, aria)
        with pytest.raises(Forbidden, match="bot was blocked by the user"):
            await bot.send_message(chat.id, "hello")
        await city.unblock(ana, aria)
        await bot.send_message(chat.id, "hello")
        await city.kick(ana, aria, lab)
        with pytest.raises(Forbidden, match="bot was kicked from the group chat"):
            await bot.send_message(lab.id, "hello")
        await city.add(ana, aria, lab)
        moved = await city.upgrade(lab)
        with pytest.raises(ChatMigrated) as caught:
            await bot.send_message(lab.id, "hello")
        assert caught.value.new_chat_id == moved.id
        await bot.send_message(moved.id, "hello")
    assert [line.chat for line in await city.lines(by=aria)] == [chat, moved]
