"""Topics in a private chat: talks that somebody has with one bot, each for itself."""

from pathlib import Path

from loopforge.core.room_vocabulary import Heard
from loopforge.models.scripted_model import ScriptedAnswer
from tests.held_clock import HeldClock
from tests.telegram.city import City
from tests.telegram.homes import Home, on_telegram, pair


async def heard_in_rooms(home: Home) -> list[list[str]]:
    """What people said, room by room."""
    rooms = [await home.events(room) for room in await home.rooms()]
    said = [[each.body for each in events if isinstance(each.body, Heard)] for events in rooms]
    return sorted([str(body.text) for body in bodies] for bodies in said)


async def test_a_talk_of_its_own(tmp_path: Path, city: City) -> None:
    """What is said in a topic is heard in a room of its own, and answered in there."""
    maya, ana = await pair(city)
    chat = await city.private(ana, maya, topics=True)
    async with on_telegram(tmp_path, maya, city.base) as home:
        bread, tea = [await city.topic(ana, chat, name) for name in ("Bread", "Tea")]
        await city.say(ana, chat, "which flour?", topic=bread)
        await city.say(ana, chat, "green or black?", topic=tea)
        await city.say(ana, chat, "hello")
        answers = await city.heard(chat, by=maya, count=3)
        assert {answer.topic for answer in answers} == {bread, tea, None}
        assert await heard_in_rooms(home) == [["green or black?"], ["hello"], ["which flour?"]]


async def test_a_draft_in_a_topic(tmp_path: Path, city: City) -> None:
    """While it is written it is shown in the topic, where the line comes, too."""
    maya, ana = await pair(city)
    chat, held = await city.private(ana, maya, topics=True), HeldClock()
    slow = ScriptedAnswer(text="This one comes in many small pieces.", pieces=8, pause=0.3)
    async with on_telegram(tmp_path, maya, city.base, script=lambda _: slow, pace=held):
        bread = await city.topic(ana, chat, "Bread")
        await city.say(ana, chat, "which flour?", topic=bread)
        await city.until(city.drafts)
        held.let_go()
        (line,) = await city.heard(chat, by=maya)
        assert {line.topic, *(draft.topic for draft in await city.drafts())} == {bread}
