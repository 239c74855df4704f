"""Drafts on Telegram stand where their lines will stand: never after them, never before others."""

import asyncio
from pathlib import Path

import pytest

from loopforge.core.delivery_states import Accepted
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import Heard, Said
from loopforge.core.text.erasable_text import Words
from loopforge.io.platforms.bot_tokens import BotAccount
from loopforge.io.platforms.platform_time import PlatformTime
from loopforge.io.platforms.surface_options import SurfaceOptions
from loopforge.io.platforms.typing_updates import LiveSpeech
from loopforge.io.session import Sessions
from loopforge.io.telegram.connection.polling import BotPolling
from loopforge.io.telegram.sending.draft_messages import REMEMBERED, GroupDraftKey, GroupDrafts
from loopforge.io.telegram.sending.message_delivery import TelegramDelivery
from loopforge.io.telegram.sending.typing_indicator import TelegramLiveUpdates
from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Outgoing
from tests.held_clock import HeldClock
from tests.telegram.city import City
from tests.telegram.homes import Home, hall, on_telegram
from tests.telegram.records import Bot, Chat, FaultKind

TEXT = "This is a long answer, which comes in pieces, and every piece of it counts."


async def nothing(*_: object) -> None:
    """Updates go to the home itself."""


async def answer(home: Home) -> tuple[str, Event]:
    """The only room, and what was said there."""
    (room,) = await home.rooms()
    (said,) = [event for event in await home.events(room) if isinstance(event.body, Said)]
    return room, said


def outgoing(said: Event, place: str) -> Outgoing:
    """The line, to be delivered there once more."""
    return Outgoing(
        delivery=said.id,
        stream=said.stream,
        place=place,
        what="line",
        event=said,
    )


async def test_a_draft_that_comes_late_is_not_posted(tmp_path: Path, city: City) -> None:
    """A draft that waits for its turn in a place behind the line itself is posted no more."""
    maya, ana, lab = await hall(city)
    still = SurfaceOptions(streams=False)
    async with on_telegram(tmp_path, maya, city.base, manners=still) as home:
        await city.say(ana, lab, "maya, tell me")
        await city.heard(lab, by=maya)
        room, said = await answer(home)
        front, clock, tasks = home.app.front, home.app.stamp.clock, BackgroundTasks()
        account = BotAccount(platform="telegram", token=maya.token, mates=("maya",))
        poll = BotPolling(account, clock, nothing, PlatformTime(clock), city.base)
        await poll.bot.initialize()
        sending = TelegramDelivery([poll], Sessions(front), front, home.app.artifacts, clock)
        stage, place = TelegramLiveUpdates(sending, Sessions(front), front), f"telegram:{lab.id}"
        assert isinstance(said.body, Said)
        speech = LiveSpeech(room, place, said.body.turn, "maya")
        async with sending.locks[place]:
            sent = tasks.spawn(sending.send(outgoing(said, place)), "the line")
            late = tasks.spawn(stage.draft(speech, "This is"), "its draft")
            await asyncio.sleep(0)
        await asyncio.gather(sent, late)
        await stage.withdraw(speech)
        await poll.close()
    assert [line.text for line in await city.lines(lab, by=maya)] == ["This is answer 1."] * 2


async def test_a_draft_waits_for_what_was_said_before(tmp_path: Path, city: City) -> None:
    """While an earlier line is still on its way to a place, no draft is posted there."""
    maya, ana, lab = await hall(city)
    slow = ScriptedAnswer(text=TEXT, pieces=8, pause=0.15)
    async with on_telegram(tmp_path, maya, city.base, script=lambda _: slow) as home:
        await city.say(ana, lab, "what a day")

        async def heard() -> list[Event]:
            rooms = await home.rooms()
            events = await home.events(rooms[0]) if rooms else []
            return [event for event in events if isinstance(event.body, Heard)]

        (line,) = await home.until(heard)
        assert isinstance(line.body, Heard)
        room, ana_herself = line.stream.removeprefix("room:"), line.body.person
        await city.fault("sendMessage", "flood", retry_after=1)
        await home.app.front.rooms.hear(
            room,
            Heard(person=ana_herself, text=Words("maya, tell me"), surface="terminal", source="1"),
        )
        lines = await city.heard(lab, by=maya, count=2)
    assert lines[0].text == "Ana (terminal): maya, tell me"
    assert lines[1].text.removesuffix(" ▌") in TEXT


async def test_a_drafted_answer_is_a_reply(tmp_path: Path, city: City) -> None:
    """Where others spoke after the line that called, the draft replies to it, and so the line."""
    maya = await city.bot("Maya", "maya_bot", reads_all=True)
    ana, ben = await city.person("Ana", "ana"), await city.person("Ben", "ben")
    lab = await city.supergroup("Lab", [ana, ben, maya])
    slow, held = ScriptedAnswer(text=TEXT, wait=1, pieces=2, pause=1), HeldClock()
    async with on_telegram(tmp_path, maya, city.base, debounce_seconds=3600) as home:
        line = await city.say(ana, lab, "maya, tell me")
        await city.say(ben, lab, "Ana, it rains")
        await home.until(lambda: _heard(home, 2))
    before = len(await city.calls("getUpdates"))

    async def there() -> bool:
        return len(await city.calls("getUpdates")) > before

    async with on_telegram(tmp_path, maya, city.base, script=lambda _: slow, pace=held):
        await city.until(there)  # rooms are watched before that; what was drafted earlier is gone
        held.let_go(1)
        await city.heard(lab, by=maya)
        held.let_go()
        await city.until(lambda: ends(city, maya, lab))
    (said,) = await city.lines(lab, by=maya)
    assert (said.reply, bool(said.edits)) == (line.key, True)


@pytest.mark.parametrize("fault", ["after", "drop"])
async def test_a_draft_whose_posting_broke_off(
    tmp_path: Path, city: City, fault: FaultKind
) -> None:
    """A draft that was posted, or was not, when its call broke off ends as one whole message."""
    maya, ana, lab = await hall(city)
    slow = ScriptedAnswer(text=TEXT, pieces=8, pause=0.15)
    async with on_telegram(tmp_path, maya, city.base, script=lambda _: slow) as home:
        await city.fault("sendMessage", fault)
        await city.say(ana, lab, "maya, tell me")
        await city.until(lambda: ends(city, maya, lab))
        (room,) = await home.rooms()

        async def accepted() -> bool:
            return any(isinstance(each.body, Accepted) for each in await home.events(room))

        await home.until(accepted)
    assert [line.text for line in await city.lines(lab, by=maya)] == [TEXT]
    assert next(call.fault for call in await city.calls("sendMessage")) == fault


async def _heard(home: Home, count: int) -> bool:
    events = [event for room in await home.rooms() for event in await home.events(room)]
    return sum(isinstance(each.body, Heard) for each in events) == count


async def ends(city: City, maya: Bot, lab: Chat) -> bool:
    """Whether the whole answer is there."""
    return TEXT in [line.text for line in await city.lines(lab, by=maya)]


def test_only_so_much_is_remembered() -> None:
    """Of turns and drafts only the newest are remembered, and what is over stays over."""
    drafts = GroupDrafts()
    for n in range(REMEMBERED + 2):
        drafts[GroupDraftKey("telegram:-1", str(n))].message = n + 1
    old, new = GroupDraftKey("telegram:-1", "1"), GroupDraftKey("telegram:-1", "2")
    assert (old in drafts, drafts[new].message) == (False, 3)
    assert drafts[new].end() == 3
    assert (drafts[new].message, drafts[new].over, old in drafts) == (0, True, False)
    for n in range(REMEMBERED):
        drafts[GroupDraftKey("telegram:-2", str(n))].end()
    assert new not in drafts
