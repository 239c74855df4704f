"""Buttons under a reminder that rang on Discord: to put it off, or to have it ring no more."""

import re
from pathlib import Path

from loopforge.core.schedule.reminder_events import ReminderCancelled, ReminderMoved
from loopforge.io.platforms.line_buttons import GONE, NO_REMINDER
from tests.discord.lodging import lodged
from tests.discord.test_surface_questions import buttons
from tests.discord.twin import Twin
from tests.discord.words import Line, Place
from tests.rooms.conftest import write_mates

LABELS = ["In 10 minutes", "In an hour", "Tomorrow", "Cancel"]
OTHERS = "This is somebody else's reminder."


async def rung(city: Twin, place: Place) -> Line:
    """The message that tells of a reminder."""

    def found() -> list[Line]:
        return [one for one in city.lines(place) if "⏰" in one.text and one.components]

    await city.until(found)
    return found()[0]


async def test_it_is_put_off_and_cancelled(city: Twin, tmp_path: Path) -> None:
    """By whose it is, also after a restart; who presses another's, or what is gone, is told so."""
    write_mates(tmp_path)
    maya, plaza = city.bot("Maya"), city.channel("plaza")
    ben, eve = city.person("ben"), city.person("eve")
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        await city.say(ben, plaza, "hello")
        await home.hears(plaza, "hello")
        await home.settled(plaza)
        room = await home.room(plaza)
        person = home.app.people.who("discord", str(ben.id))
        assert person is not None
        await home.app.front.commands.act(room, person.id, "remind", "in one second: tea")
        line = await rung(city, plaza)
        assert [*buttons(line)] == LABELS
        await home.delivered(plaza)
        for label in LABELS:
            told = await city.press(eve, line, label)
            assert (told.ephemeral, told.text) == (True, OTHERS)
        assert (await city.press(ben, line, id="ring:2w")).text.startswith("This is no")
        town = city.as_bot(maya)
        made = town.create_message(plaza.id, maya.id, "Tea", components=list(line.components))
        assert (await city.press(ben, made.id, "Cancel")).text == NO_REMINDER
        assert not {"reminder.moved", "reminder.cancelled"} & {
            event.kind for event in await home.events(plaza)
        }
        assert "in 10 minutes" in (await city.press(ben, line, "In 10 minutes")).text
        await home.delivered(plaza)
    async with lodged(city, tmp_path, {maya: "maya"}) as home:
        assert re.search("in (1 day|23 hours)", (await city.press(ben, line, "Tomorrow")).text)
        (one,) = await home.app.book.waiting(f"room:{await home.room(plaza)}")
        assert one.snoozed is not None
        assert (await city.press(ben, line, "Cancel")).text == "Reminder 1 is cancelled."
        assert (await city.press(ben, line, "In an hour")).text == GONE
        bodies = [event.body for event in await home.events(plaza)]
        assert sum(isinstance(body, ReminderMoved) for body in bodies) == 2
        assert sum(isinstance(body, ReminderCancelled) for body in bodies) == 1
