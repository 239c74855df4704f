"""Buttons under a reminder that rang on Telegram: to put it off, or to have it ring no more."""

from pathlib import Path

import pytest

from loopforge.io.platforms.line_buttons import GONE
from tests.rooms.conftest import write_mates
from tests.telegram.city import City
from tests.telegram.homes import hall, on_telegram, pair
from tests.telegram.records import Bot, Line
from tests.telegram.test_questions import labels

LABELS = [["In 10 minutes", "In an hour", "Tomorrow"], ["Cancel"]]


async def rung(city: City, maya: Bot) -> Line:
    """The message that tells of a reminder."""

    async def found() -> Line | None:
        lines = await city.lines(None, by=maya)
        return next((one for one in lines if one.markup and "⏰" in one.text), None)

    line = await city.until(found)
    assert line is not None
    return line


async def test_it_is_put_off_and_cancelled(tmp_path: Path, city: City) -> None:
    """By whose it is, also after a restart; who presses another's, or what is gone, is told so."""
    write_mates(tmp_path, ())
    maya, ana, lab = await hall(city)
    bob = await city.person("Bob", "bob")
    lab = await city.supergroup("Lab", [ana, bob, maya])
    async with on_telegram(tmp_path, maya, city.base) as home:
        await home.app.pairing.admit(f"telegram:{ana.id}", "")
        await city.say(ana, lab, "maya, remind me")
        await city.command(ana, lab, "remind", "in one second: tea", of=maya)
        line = await rung(city, maya)
        assert labels(line) == LABELS
        assert "somebody else's" in await city.press(bob, line, "Cancel")
        assert "in 10 minutes" in await city.press(ana, line, "In 10 minutes")
    async with on_telegram(tmp_path, maya, city.base) as home:
        (room,) = await home.rooms()
        assert "in 1 hour" in await city.press(ana, line, "In an hour")
        (one,) = await home.app.book.waiting(f"room:{room}")
        assert one.snoozed is not None
        assert await city.press(ana, line, "Cancel") == "Reminder 1 is cancelled."
        assert await city.press(ana, line, "Tomorrow") == GONE


@pytest.mark.parametrize("kind", ["after", "refuse"])
async def test_it_is_sent_once_or_told_of(tmp_path: Path, city: City, kind: str) -> None:
    """One whose answer was lost is found and not sent again; of one that is refused people read."""
    maya, ana = await pair(city)
    async with on_telegram(tmp_path, maya, city.base) as home:
        await home.app.pairing.admit(f"telegram:{ana.id}", "")
        chat = await city.private(ana, maya)
        await city.say(ana, maya, "hello")
        await city.heard(chat, by=maya)
        (room,) = await home.rooms()
        await home.app.front.rooms.settled(room)
        person = home.app.people.who("telegram", str(ana.id))
        assert person is not None
        await city.fault("sendMessage", kind, code=400, description="Bad Request: no")  # type: ignore[arg-type]
        await home.app.front.commands.act(room, person.id, "remind", "in one second: tea")
        (_, word) = await city.heard(chat, by=maya, count=2)
        if kind == "refuse":
            assert word.text.startswith("A reminder of Ana did not reach Ana: Telegram refuses")
            return
        await city.say(ana, maya, "thanks")
        lines = await city.heard(chat, by=maya, count=3)
    assert ["⏰" in line.text for line in lines] == [False, True, False]


async def test_the_numbers_of_what_waits(tmp_path: Path, city: City) -> None:
    """Each is listed with the number by which it is cancelled, whichever of them rings first."""
    maya, ana = await pair(city)
    async with on_telegram(tmp_path, maya, city.base) as home:
        await home.app.pairing.admit(f"telegram:{ana.id}", "")
        for count, when in enumerate(("in 3 hours: tea", "in 2 hours: rye", "in 4 hours: oats"), 1):
            await city.command(ana, maya, "remind", when)
            await city.heard(await city.private(ana, maya), by=maya, count=count)
        await city.command(ana, maya, "reminders")
        told = (await city.heard(await city.private(ana, maya), by=maya, count=4))[-1].text
    assert [row[:7] for row in told.splitlines()[:3]] == ["[2] rye", "[1] tea", "[3] oat"]
