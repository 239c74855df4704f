"""Within Telegram's limits: a sending that broke off holds up a chat for less than a minute."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from loopforge.artifacts.file_intake import FileLimits, ingest_file
from loopforge.core.delivery_states import Accepted, Uncertain
from loopforge.core.room_vocabulary import Heard
from loopforge.core.text.erasable_text import Words
from loopforge.io.platforms.surface_options import SurfaceOptions
from loopforge.models.scripted_model import Script
from tests.sim_clock import SimClock
from tests.telegram.city import City
from tests.telegram.homes import Home, on_telegram
from tests.telegram.records import Bot, Chat, FaultKind, Kind, Person
from tests.telegram.twin import Twin, serving

START = datetime(2026, 11, 22, 9, 0, tzinfo=UTC)
MINUTE = 60.0
LOOKING = 25.0
"""Seconds: fewer than there are numbers to look at where nothing else says how far."""
STILL = SurfaceOptions(streams=False)


class Lab:
    """A group with Ana, Ben and a mate, in simulated time."""

    def __init__(self, clock: SimClock, twin: Twin, home: Home, maya: Bot, chat: Chat) -> None:
        self.clock, self.twin, self.city, self.home = clock, twin, twin.city, home
        self.maya, self.chat = maya, chat
        self.ana, self.ben = Person(0, ""), Person(0, "")

    async def until(self, count: int) -> float:
        """Wait until so many deliveries ended; the seconds that this took."""
        began = self.clock.ticks()
        while len(await self.ended()) < count:
            await self.clock.advance(1)
            assert self.clock.ticks() - began < 5 * MINUTE, await self.ended()
        return self.clock.ticks() - began

    async def heard(self, count: int) -> float:
        """Wait until the mate's bot said so much there; the seconds that this took."""
        began = self.clock.ticks()
        while len(await self.stands()) < count:
            await self.clock.advance(1)
            assert self.clock.ticks() - began < 10 * MINUTE, await self.stands()
        return self.clock.ticks() - began

    async def ended(self) -> list[str]:
        """How deliveries ended, in order."""
        events = [await self.home.events(room) for room in await self.home.rooms()]
        ends = [
            each for room in events for each in room if isinstance(each.body, Accepted | Uncertain)
        ]
        return [event.kind.removeprefix("delivery.") for event in ends]

    async def stands(self) -> list[str]:
        """What the mate said there."""
        return [line.text for line in await self.city.lines(self.chat, by=self.maya)]


@asynccontextmanager
async def lab(
    path: Path,
    kind: Kind = "supergroup",
    *,
    reads_all: bool = True,
    keeps: bool = False,
    script: Script | None = None,
    manners: SurfaceOptions = STILL,
) -> AsyncIterator[Lab]:
    """A group where the mate has answered once; its bot `keeps` it, or is a member."""
    clock = SimClock(START)
    async with serving(clock) as twin:
        city: City = twin.city
        maya = await city.bot("Maya", "maya_bot", reads_all=reads_all)
        ana, ben = await city.person("Ana", "ana"), await city.person("Ben", "ben")
        if kind == "supergroup":
            chat = await city.supergroup("Lab", [ana, ben, maya], [maya] if keeps else [])
        elif kind == "group":
            chat = await city.group("Lab", [ana, ben, maya])
        else:
            chat = await city.private(ana, maya)
        async with on_telegram(
            path, maya, twin.base, script=script, manners=manners, clock=clock
        ) as home:
            there = Lab(clock, twin, home, maya, chat)
            there.ana, there.ben = ana, ben
            await city.say(ana, chat, "@maya_bot hello")
            await there.until(1)
            yield there
        assert twin.town.floods.impatient == 0
        assert await city.deviations() == []


ALL = [("supergroup", True), ("group", True), ("private", True), ("private", False)]
SOME = [("supergroup", False), ("group", False)]
"""Chats, and whether a bot reads all: of all of it, and of some, it is told there."""


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("fault", "kind", "reads_all"),
    [("drop", *each) for each in ALL]
    + [(fault, *each) for fault in ("after", "cut") for each in ALL + SOME],
)
async def test_a_sending_that_broke_off(
    tmp_path: Path, kind: Kind, fault: FaultKind, reads_all: bool
) -> None:
    """It ends as found or sent within a minute, the next line too, and each stands once."""
    async with lab(tmp_path, kind, reads_all=reads_all) as there:
        await there.city.fault("sendMessage", fault)
        await there.city.say(there.ana, there.chat, "@maya_bot one")
        await there.city.until(lambda: there.city.calls("sendMessage"))
        assert await there.until(2) < MINUTE
        await there.city.say(there.ana, there.chat, "@maya_bot two")
        assert await there.until(3) < MINUTE
        assert await there.ended() == ["accepted"] * 3
        assert len(set(await there.stands())) == len(await there.stands()) == 3


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", ["supergroup", "group"])
@pytest.mark.parametrize(
    ("fault", "lines", "end"),
    [("after", 6, "accepted"), ("after", 20, "uncertain"), ("drop", 0, "uncertain")],
)
async def test_a_group_in_privacy_mode(
    tmp_path: Path, kind: Kind, fault: FaultKind, lines: int, end: str
) -> None:
    """A line above others that the bot is not told of is found, or uncertain, and not sent again."""
    async with lab(tmp_path, kind, reads_all=False) as there:
        await there.city.fault("sendMessage", fault)
        await there.city.say(there.ana, there.chat, "@maya_bot one")
        for n in range(lines):
            await there.city.say(there.ben, there.chat, f"it rains, {n}")
        assert await there.until(2) < MINUTE
        assert (await there.ended())[:2] == ["accepted", end]
        told = [] if end == "accepted" else ["What Maya said did not reach Lab: it was cut off"]
        await there.city.say(there.ana, there.chat, "@maya_bot two")
        await there.heard(2 + (fault == "after") + len(told))
        stands = await there.stands()
        assert [each.partition(",")[0] for each in stands if each.startswith("What")] == told
        assert len(set(stands)) == len(stands)


async def test_an_administrator_in_privacy_mode(tmp_path: Path) -> None:
    """It is told of all that is said: a line that is not there was not sent, and is sent again."""
    async with lab(tmp_path, reads_all=False, keeps=True) as there:
        await there.city.fault("sendMessage", "drop")
        await there.city.say(there.ana, there.chat, "@maya_bot one")
        await there.until(2)
        assert await there.ended() == ["accepted"] * 2
        assert len(await there.stands()) == 2


async def test_a_group_where_much_is_said(tmp_path: Path) -> None:
    """Where people say much that the bot is not told of, it is uncertain soon, and goes on."""
    async with lab(tmp_path, reads_all=False) as there:
        await there.city.fault("sendMessage", "drop")
        await there.city.say(there.ana, there.chat, "@maya_bot one")
        for n in range(40):
            await there.city.say(there.ben, there.chat, f"it rains, {n}")
        assert await there.until(2) < MINUTE
        assert (await there.ended())[:2] == ["accepted", "uncertain"]
        await there.city.say(there.ana, there.chat, "@maya_bot two")
        assert await there.until(4) < MINUTE
        *_, told, answer = await there.stands()
        assert told.startswith("What Maya said did not reach Lab: ")
        assert answer.startswith("This is answer")


async def test_a_chat_beside_a_busy_one(tmp_path: Path) -> None:
    """What arrived nowhere is sent soon where the bot goes on talking to somebody else."""
    async with lab(tmp_path, "private") as there:
        city, beside = there.city, await there.city.private(there.ben, there.maya)
        await city.fault("sendMessage", "drop")
        await city.say(there.ana, there.chat, "one")
        await city.until(lambda: city.calls("sendMessage"))
        began = there.clock.ticks()
        while len(await there.stands()) < 2:
            assert there.clock.ticks() - began < LOOKING, await there.stands()
            await city.say(there.ben, beside, "hm")
            for _ in range(4):
                await there.clock.advance(0.5)
        assert await there.ended() == ["accepted"] * len(await there.ended())
        assert len(set(await there.stands())) == len(await there.stands()) == 2


async def test_a_chat_in_which_telegram_asks_for_patience(tmp_path: Path) -> None:
    """A look that Telegram does not let us end now is ended later, and nothing stays uncertain."""
    async with lab(tmp_path) as there:
        city = there.city
        await city.fault("sendMessage", "drop")
        await city.fault("stopMessageLiveLocation", "flood", retry_after=70, skip=2)
        await city.say(there.ana, there.chat, "@maya_bot one")
        await city.until(lambda: city.calls("sendMessage"))
        await there.until(2)
        assert await there.ended() == ["accepted"] * 2
        assert len(set(await there.stands())) == len(await there.stands()) == 2


@pytest.mark.parametrize("kind", ["supergroup", "group"])
async def test_a_line_that_comes_late(tmp_path: Path, kind: Kind) -> None:
    """What arrives seconds after its call broke off is found, though others spoke since."""
    async with lab(tmp_path, kind) as there:
        await there.city.fault("sendMessage", "late", retry_after=3)
        await there.city.say(there.ana, there.chat, "@maya_bot one")
        while len(await there.stands()) < 2:
            await there.clock.advance(0.5)
        await there.city.say(there.ben, there.chat, "it rains")
        await there.until(2)
        assert await there.ended() == ["accepted"] * 2
        assert len(await there.stands()) == 2


async def test_a_large_file_that_is_still_on_its_way(tmp_path: Path) -> None:
    """A call that broke off long before Telegram had passed the file on: it stands once."""
    async with lab(tmp_path) as there:
        home, (room,) = there.home, await there.home.rooms()
        olga = (await home.app.people.meet("web", "olga", "Olga")).id
        await home.app.front.rooms.arrive(room, olga, "Olga", "web")
        limits = FileLimits(20_000_000, 20_000_000)
        film = await ingest_file(home.app.artifacts, "film.mp4", bytes(10 << 20), limits)
        await there.city.fault("sendDocument", "late", retry_after=15)
        said = Heard(person=olga, text=Words("see"), surface="web", files=(film,))
        await home.app.front.rooms.hear(room, said)
        await there.until(2)
        await there.clock.advance(MINUTE)
        lines = await there.city.lines(there.chat, by=there.maya)
        assert [each.paper.name for each in lines if each.paper] == ["film.mp4"]


async def test_a_topic_beside_a_line_that_is_just_sent(tmp_path: Path) -> None:
    """What is sent in another topic during a look is not taken for what is looked for."""
    async with lab(tmp_path) as there:
        city, (room,) = there.city, there.twin.town.rooms
        room.forum = True
        topic = await city.topic(there.ana, there.chat, "Plans")
        await city.fault("sendMessage", "drop")
        await city.say(there.ana, there.chat, "@maya_bot one", topic=topic)
        while not await city.calls("stopMessageLiveLocation"):
            await there.clock.advance(0.1)
        await city.say(there.ben, there.chat, "@maya_bot two")
        await there.until(3)
        stands = await there.stands()
        assert len(set(stands)) == len(stands) == 3
