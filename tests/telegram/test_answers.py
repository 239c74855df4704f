"""Answers to commands on Telegram: a long one is a message and a file; what met one is said."""

from pathlib import Path

import pytest

from loopforge.core.delivery_states import Uncertain
from loopforge.core.room_vocabulary import Heard
from loopforge.core.text.erasable_text import Words
from loopforge.io.telegram.sending.command_replies import MANY
from tests.drawing_mate import MAYA, PICTURE, attaching, with_draw
from tests.rooms.conftest import write_mates
from tests.telegram.city import City
from tests.telegram.homes import hall, on_telegram, pair
from tests.telegram.records import FaultKind, Kind
from tests.telegram.test_limits import MINUTE, lab


async def test_why_is_one_message_and_a_file(tmp_path: Path, city: City) -> None:
    """However long the record of a line is, it comes as its beginning and a file with all of it."""
    maya, ana = await pair(city)
    async with on_telegram(tmp_path, maya, city.base):
        chat = await city.private(ana, maya)
        await city.say(ana, maya, "hello " * 600)
        await city.heard(chat, by=maya)
        await city.command(ana, maya, "why")
        _, words, upload = await city.heard(chat, by=maya, count=3)
        assert words.text.endswith("…")
        assert upload.paper is not None
        assert upload.paper.size > len(words.text)
        assert len(await city.lines(chat, by=maya)) == 3


async def test_what_an_answer_met_is_said(tmp_path: Path, city: City) -> None:
    """In a group it is said why an answer for one person alone did not get to them."""
    maya, ana, lab = await hall(city)
    async with on_telegram(tmp_path, maya, city.base):
        chat = await city.private(ana, maya)
        await city.say(ana, lab, "maya, hello")
        await city.heard(lab, by=maya)
        await city.fault("sendMessage", "flood", retry_after=300, chat=chat)
        await city.command(ana, lab, "why")
        said = (await city.heard(lab, by=maya, count=2))[1].text
        assert said.startswith("The answer could not be sent to you: Telegram asks for 5 minutes")


async def test_what_a_mate_attached_comes_after_its_words(tmp_path: Path, city: City) -> None:
    """A picture of a tool is sent after what is said with it, once."""
    maya, ana = await pair(city)
    write_mates(tmp_path, (), maya=MAYA)
    async with on_telegram(tmp_path, maya, city.base, script=attaching()) as home:
        with_draw(home.app)
        chat = await city.private(ana, maya)
        await city.say(ana, maya, "draw the slugs")
        words, upload = await city.heard(chat, by=maya, count=2)
        assert words.text == "So many."
        assert upload.paper is not None
        assert upload.paper.size == len(PICTURE)
        assert len(await city.lines(chat, by=maya)) == 2


@pytest.mark.sample(4)
@pytest.mark.parametrize("kind", ["supergroup", "group", "private"])
@pytest.mark.parametrize("fault", ["flood", "drop", "before", "after", "cut"])
async def test_an_answer_that_met_something_comes(
    tmp_path: Path, fault: FaultKind, kind: Kind
) -> None:
    """What a command comes to stands once, after a flood or a short outage, as soon as it may."""
    async with lab(tmp_path, kind) as there:
        city, chat = there.city, there.chat
        once = fault in ("after", "cut") or (kind == "group" and fault != "flood")
        await city.fault("sendMessage", fault, retry_after=20, times=2 - once, chat=chat)
        await city.command(there.ana, chat, "energy")
        await there.heard(2)
        assert len(await city.lines(chat, by=there.maya)) == 2
        await there.clock.advance(300)
        assert len(await city.lines(chat, by=there.maya)) == 2


async def test_what_an_answer_met_in_its_own_chat_is_said(tmp_path: Path) -> None:
    """An answer that waited too long is followed by one word that says so; others go on at once."""
    async with lab(tmp_path) as there:
        city, chat = there.city, there.chat
        own = await city.private(there.ana, there.maya)
        await city.fault("sendMessage", "flood", retry_after=300, chat=chat)
        await city.command(there.ana, chat, "energy")
        await city.command(there.ana, there.maya, "help")
        while not await city.lines(own, by=there.maya):
            await there.clock.advance(0.5)
            assert there.clock.ticks() < MINUTE, [c.method for c in await city.calls()][-5:]
        assert len(await there.stands()) == 1
        await there.heard(2)
        assert (await there.stands())[1].startswith(
            "The answer to this could not be sent in time: Telegram asks for 5 minutes of patience."
        )


async def test_more_commands_than_a_group_takes_answers(tmp_path: Path) -> None:
    """Some are answered, one word says that others are not, and a mate is soon heard again."""
    async with lab(tmp_path) as there:
        for _ in range(60):
            await there.city.command(there.ben, there.chat, "energy")
        await there.clock.advance(5)
        await there.city.say(there.ana, there.chat, "@maya_bot one")
        await there.until(2)
        await there.clock.advance(5 * MINUTE)
        answers = [each for each in await there.stands() if not each.startswith("This is answer")]
        assert answers.count(MANY) == 1
        assert len(answers) < 30
        await there.city.command(there.ben, there.chat, "energy")
        await there.heard(len(answers) + 3)
        assert (await there.stands())[-1] == answers[0]


async def test_an_answer_of_which_nobody_knows(tmp_path: Path) -> None:
    """Where too much was said since to find out whether it arrived, that is said; it is not sent."""
    async with lab(tmp_path, reads_all=False) as there:
        await there.city.fault("sendMessage", "drop", chat=there.chat)
        await there.city.command(there.ana, there.chat, "energy")
        for n in range(40):
            await there.city.say(there.ben, there.chat, f"it rains, {n}")
        await there.heard(2)
        assert (await there.stands())[1].startswith("Nobody can tell whether the answer to this")


async def test_an_answer_from_before_a_restart(tmp_path: Path, city: City) -> None:
    """It is not taken for a line whose sending broke off since: where that went stays uncertain."""
    maya, ana = await pair(city)
    chat = await city.private(ana, maya)
    async with on_telegram(tmp_path, maya, city.base) as home:
        await city.say(ana, maya, "hello")
        await city.heard(chat, by=maya)
        await city.command(ana, chat, "nonsense")
        before = await city.heard(chat, by=maya, count=2)
        (room,) = await home.rooms()
    await city.fault("sendMessage", "cut")
    async with on_telegram(tmp_path, maya, city.base) as home:
        olu = await home.app.people.meet("web", "olu", "olu")
        await home.app.front.rooms.arrive(room, olu.id, "olu", "web")
        said = Heard(person=olu.id, text=Words("it rains"), surface="web")
        await home.app.front.rooms.hear(room, said)

        async def open_ended() -> bool:
            return any(isinstance(e.body, Uncertain) for e in await home.events(room))

        await home.until(open_ended)
        lines = await city.lines(chat, by=maya)
    assert [line.text for line in lines[:2]] == [line.text for line in before]
    assert [line.text for line in lines].count("olu (web): it rains") == 1
