"""What Telegram tells again, since the program ended before it was acknowledged, is done once."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from loopforge.chat.commands.command_request import CommandRequest
from loopforge.chat.room.platform_cursors import UNKNOWN
from tests.telegram.city import City
from tests.telegram.homes import Home, on_telegram, pair
from tests.telegram.records import Bot, Person
from tests.telegram.test_reminder_presses import rung


async def unacknowledged(city: City) -> None:
    """The next question that comes after an answer acknowledges nothing, nor do some after it."""
    await city.fault("getUpdates", "before", times=2, skip=1)


async def settled(home: Home, city: City, ana: Person, maya: Bot) -> None:
    """Everything that was told before is taken in."""
    chat = await city.private(ana, maya)
    asked = await city.command(ana, maya, "mates")

    async def told() -> bool:
        lines = await city.lines(chat, by=maya)
        return any("Merlin" in line.text and line.key > asked.key for line in lines)

    await city.until(told)
    await home.app.front.rooms.settled((await home.rooms())[0])


async def test_a_command_is_done_once(tmp_path: Path, city: City) -> None:
    """One reminder is set, and one answer given, also after the next start."""
    maya, ana = await pair(city)
    chat = await city.private(ana, maya)
    await city.command(ana, maya, "remind", "in five hours: tea")
    await unacknowledged(city)
    async with on_telegram(tmp_path, maya, city.base):
        await city.heard(chat, by=maya)
    async with on_telegram(tmp_path, maya, city.base) as home:
        await settled(home, city, ana, maya)
        (room,) = await home.rooms()
        assert len(await home.app.book.waiting(f"room:{room}")) == 1
        answers = [line.text for line in await city.lines(chat, by=maya)]
        assert len([one for one in answers if "Reminder" in one]) == 1


async def test_of_one_that_was_cut_off_it_is_said(
    tmp_path: Path, city: City, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program ended while it did it: it is not done again, and whoever asked is told."""
    maya, ana = await pair(city)
    chat = await city.private(ana, maya)
    await city.command(ana, maya, "remind", "in five hours: tea")
    await unacknowledged(city)
    async with on_telegram(tmp_path, maya, city.base) as home:
        begun = asyncio.Event()

        async def stuck(*_: Any, **__: Any) -> str:
            begun.set()
            await asyncio.Event().wait()
            return ""

        monkeypatch.setattr(home.app.front.commands, "carry_out", stuck)
        await asyncio.wait_for(begun.wait(), 30)
    async with on_telegram(tmp_path, maya, city.base):
        (told,) = await city.heard(chat, by=maya)
        assert told.text == UNKNOWN


async def test_a_press_is_done_once(
    tmp_path: Path, city: City, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A button that put a reminder off gives no second order after the next start."""
    maya, ana = await pair(city)
    async with on_telegram(tmp_path, maya, city.base) as home:
        await city.command(ana, maya, "remind", "in one second: tea")
        line = await rung(city, maya)
        await settled(home, city, ana, maya)
        (room,) = await home.rooms()
    assert await city.pressing(ana, line, "In 10 minutes")
    await unacknowledged(city)
    async with on_telegram(tmp_path, maya, city.base) as home:

        async def put_off() -> bool:
            waiting = await home.app.book.waiting(f"room:{room}")
            return bool(waiting and waiting[0].snoozed)

        await home.until(put_off)
    async with on_telegram(tmp_path, maya, city.base) as home:
        carry_out, done = home.app.front.commands.carry_out, list[str]()

        async def counted(name: str, asked: CommandRequest) -> str:
            done.append(name)
            return await carry_out(name, asked)

        monkeypatch.setattr(home.app.front.commands, "carry_out", counted)
        await settled(home, city, ana, maya)
        await settled(home, city, ana, maya)  # presses wait for no command
        assert done == ["mates", "mates"]
