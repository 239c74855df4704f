"""Mates on Telegram: private chats, groups, topics, and nothing said twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopforge.core.room import Heard, LineEdited, PlaceLeft, Said
from tests.telegram.city import City
from tests.telegram.homes import on_telegram
from tests.telegram.twin import Twin

pytestmark = pytest.mark.anyio


async def test_a_private_talk(tmp_path: Path, twin: Twin, city: City) -> None:
    """Who writes to a mate's bot in private is answered there, once."""
    maya = await city.bot("Maya", "maya_bot")
    ana = await city.person("Ana", "ana")
    async with on_telegram(tmp_path, {"TELEGRAM_TOKEN_MAYA": maya.token}, twin.base):
        await city.say(ana, maya, "hello there")
        chat = await city.private(ana, maya)
        (answer,) = await city.heard(chat, by=maya)
        assert answer.text == "This is answer 1."
    assert await city.doubled() == []


async def test_a_group_listens_until_called(tmp_path: Path, twin: Twin, city: City) -> None:
    """In a group a mate is silent until it is named, mentioned or replied to."""
    maya = await city.bot("Maya", "maya_bot", reads_all=True)
    ana = await city.person("Ana", "ana")
    lab = await city.supergroup("Lab", [ana, maya])
    async with on_telegram(tmp_path, {"TELEGRAM_TOKEN_MAYA": maya.token}, twin.base) as home:
        await city.say(ana, lab, "what a day")
        await city.say(ana, lab, "@maya_bot how are you?")
        (first,) = await city.heard(lab, by=maya)
        assert first.text == "This is answer 1."
        await city.say(ana, lab, "and now?", reply_to=first)
        assert len(await city.heard(lab, by=maya, count=2)) == 2
        (room,) = await home.rooms()
        heard = [e.body for e in await home.events(room) if isinstance(e.body, Heard)]
        assert [str(body.text) for body in heard] == [
            "what a day",
            "@Maya how are you?",
            "and now?",
        ]
        assert heard[2].reply_to


async def test_two_bots_one_line(tmp_path: Path, twin: Twin, city: City) -> None:
    """A line that two of our bots receive is heard once, and each mate speaks by its own bot."""
    maya = await city.bot("Maya", "maya_bot", reads_all=True)
    merlin = await city.bot("Merlin", "merlin_bot", reads_all=True)
    ana = await city.person("Ana", "ana")
    lab = await city.supergroup("Lab", [ana, maya, merlin])
    tokens = {"TELEGRAM_TOKEN_MAYA": maya.token, "TELEGRAM_TOKEN_MERLIN": merlin.token}
    async with on_telegram(tmp_path, tokens, twin.base) as home:
        await city.say(ana, lab, "maya and merlin, hello")
        await city.heard(lab, by=maya)
        await city.heard(lab, by=merlin)
        (room,) = await home.rooms()
        events = await home.events(room)
        assert sum(isinstance(e.body, Heard) for e in events) == 1
        assert sorted(e.body.mate for e in events if isinstance(e.body, Said)) == ["maya", "merlin"]


async def test_topics_are_conversations(tmp_path: Path, twin: Twin, city: City) -> None:
    """A topic is a conversation of its own, and is answered in the topic."""
    maya = await city.bot("Maya", "maya_bot", reads_all=True)
    ana = await city.person("Ana", "ana")
    lab = await city.supergroup("Lab", [ana, maya], forum=True)
    plans = await city.topic(ana, lab, "Plans")
    async with on_telegram(tmp_path, {"TELEGRAM_TOKEN_MAYA": maya.token}, twin.base) as home:
        await city.say(ana, lab, "maya, here?", topic=plans)
        (answer,) = await city.heard(lab, by=maya)
        assert answer.topic == plans
        await city.say(ana, lab, "maya, and here?")
        await city.heard(lab, by=maya, count=2)
        assert len(await home.rooms()) == 2


async def test_edits(tmp_path: Path, twin: Twin, city: City) -> None:
    """A line that is edited on Telegram is edited in the room."""
    maya = await city.bot("Maya", "maya_bot", reads_all=True)
    ana = await city.person("Ana", "ana")
    lab = await city.supergroup("Lab", [ana, maya])
    async with on_telegram(tmp_path, {"TELEGRAM_TOKEN_MAYA": maya.token}, twin.base) as home:
        line = await city.say(ana, lab, "one")
        await city.edit(ana, line, "two")

        async def edited() -> list[str]:
            rooms = await home.rooms()
            events = await home.events(rooms[0]) if rooms else []
            return [str(e.body.text) for e in events if isinstance(e.body, LineEdited)]

        assert await home.until(edited) == ["two"]


async def test_accepted_but_unanswered(tmp_path: Path, twin: Twin, city: City) -> None:
    """A message that Telegram took without saying so is found, and not sent twice."""
    maya = await city.bot("Maya", "maya_bot")
    ana = await city.person("Ana", "ana")
    await city.fault("sendMessage", "after")
    async with on_telegram(tmp_path, {"TELEGRAM_TOKEN_MAYA": maya.token}, twin.base) as home:
        await city.say(ana, maya, "hello there")
        chat = await city.private(ana, maya)

        async def accepted() -> bool:
            (room,) = await home.rooms()
            kinds = [event.kind for event in await home.events(room)]
            return "delivery.put_off" in kinds and kinds.count("delivery.accepted") == 1

        await city.heard(chat, by=maya)
        await home.until(accepted)
        assert len(await city.lines(chat, by=maya)) == 1


async def test_long_answers(tmp_path: Path, twin: Twin, city: City) -> None:
    """A long answer comes whole, in parts."""
    text = "\n\n".join(f"Paragraph {n}. " + "word " * 60 for n in range(14))
    maya = await city.bot("Maya", "maya_bot")
    ana = await city.person("Ana", "ana")
    token = {"TELEGRAM_TOKEN_MAYA": maya.token}
    async with on_telegram(tmp_path, token, twin.base, script=lambda _: text, say_limit=20_000):
        await city.say(ana, maya, "tell me all")
        chat = await city.private(ana, maya)
        parts = await city.heard(chat, by=maya, count=2)
        assert "Paragraph 0." in parts[0].text
        assert "Paragraph 13." in parts[-1].text


async def test_sent_away(tmp_path: Path, twin: Twin, city: City) -> None:
    """A group that the bot was sent away from is part of the room no longer."""
    maya = await city.bot("Maya", "maya_bot", reads_all=True)
    ana = await city.person("Ana", "ana")
    lab = await city.supergroup("Lab", [ana, maya])
    async with on_telegram(tmp_path, {"TELEGRAM_TOKEN_MAYA": maya.token}, twin.base) as home:
        await city.say(ana, lab, "maya?")
        await city.heard(lab, by=maya)
        await city.kick(ana, maya, lab)
        (room,) = await home.rooms()

        async def left() -> bool:
            return any(isinstance(e.body, PlaceLeft) for e in await home.events(room))

        await home.until(left)


async def test_strangers(tmp_path: Path, twin: Twin, city: City) -> None:
    """A stranger in private is shown a code once, no model is asked; admitted, they are answered."""
    maya = await city.bot("Maya", "maya_bot")
    ana = await city.person("Ana", "ana")
    token = {"TELEGRAM_TOKEN_MAYA": maya.token}
    async with on_telegram(tmp_path, token, twin.base, telegram_dm="pairing") as home:
        chat = await city.private(ana, maya)
        await city.say(ana, maya, "hello?")
        (told,) = await city.heard(chat, by=maya)
        assert told.text.startswith("I do not know you yet.")
        assert await home.rooms() == []
        await home.app.pairing.admit(f"telegram:{ana.id}", "")
        await city.say(ana, maya, "and now?")
        found = await city.heard(chat, by=maya, count=2)
        assert found[1].text == "This is answer 1."


async def test_commands(tmp_path: Path, twin: Twin, city: City) -> None:
    """A command is answered, and is no line of the room."""
    maya = await city.bot("Maya", "maya_bot")
    ana = await city.person("Ana", "ana")
    async with on_telegram(tmp_path, {"TELEGRAM_TOKEN_MAYA": maya.token}, twin.base) as home:
        await city.command(ana, maya, "stop")
        chat = await city.private(ana, maya)
        (answer,) = await city.heard(chat, by=maya)
        assert answer.text.startswith("Stopped.")
        (room,) = await home.rooms()
        assert not any(isinstance(e.body, Heard) for e in await home.events(room))
