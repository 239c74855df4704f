"""Outages of platforms: what mates said is owed, arrives once and in order, and says it is late."""

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import httpx
import pytest
from telegram.error import NetworkError, RetryAfter

from loopforge.chat.room.platform_channels import ChannelSpot
from loopforge.core.delivery_states import Failed
from loopforge.core.room_vocabulary import Heard, Said, Told
from loopforge.errors import SendFailed
from loopforge.io.discord.connection import api_errors as discord_errors
from loopforge.io.telegram.connection import api_errors as telegram_errors
from loopforge.runtime.ports import Outgoing
from tests.rooms.conftest import Home, living

MINUTES, HOURS = 60.0, 3600.0


@pytest.fixture(autouse=True)
def spans(monkeypatch: pytest.MonkeyPatch) -> None:
    """Telegram's library gives spans as such; else its errors themselves warn of their old type."""
    monkeypatch.setenv("PTB_TIMEDELTA", "1")


def unreachable_telegram() -> SendFailed:
    """What the client library says while no connection can be made."""
    error = NetworkError("httpx.ConnectError: all connection attempts failed")
    error.__cause__ = httpx.ConnectError("all connection attempts failed")
    return telegram_errors.as_send_failure(error)


def flooded_telegram() -> SendFailed:
    """What it says when Telegram asks for patience."""
    return telegram_errors.as_send_failure(RetryAfter(35))


def failing_telegram() -> SendFailed:
    """What it says of a gateway that is out of order."""
    return telegram_errors.as_send_failure(NetworkError("Bad Gateway"))


def unreachable_discord() -> SendFailed:
    """What Discord's library says while no connection can be made."""
    return discord_errors.as_send_failure(aiohttp.ClientConnectionError("no route"), "#plaza")


def silent_discord() -> SendFailed:
    """And where no answer comes."""
    return discord_errors.as_send_failure(TimeoutError(), "#plaza")


OUTAGES = {
    "telegram:1@42": [unreachable_telegram, flooded_telegram, failing_telegram],
    "discord:1": [unreachable_discord, silent_discord],
}
KINDS = [(place, away) for place, all in OUTAGES.items() for away in all]


class Wall:
    """A platform in memory, which takes nothing while it is `away`."""

    def __init__(self, place: str) -> None:
        self.name = place.partition(":")[0]
        self.away: Callable[[], SendFailed] | None = None
        self.posts: dict[str, str] = {}

    async def send(self, out: Outgoing) -> str:
        """Take it, once."""
        if self.away is not None:
            raise self.away()
        body = out.event.body
        assert isinstance(body, Said | Told | Heard)
        assert out.delivery not in self.posts
        self.posts[out.delivery] = str(body.text)
        return str(len(self.posts))

    async def sent(self, out: Outgoing) -> str | None:
        """Whether it is there."""
        if self.away is not None:
            raise self.away()
        ids = list(self.posts)
        return str(ids.index(out.delivery) + 1) if out.delivery in ids else None

    @property
    def lines(self) -> list[str]:
        """What stands there of mates and of the room."""
        return [text for text in self.posts.values() if not text.startswith("say ")]


@asynccontextmanager
async def beside(path: Path, place: str, wall: Wall, **changes: Any) -> AsyncIterator[Home]:
    """A home whose room is also a private chat of a platform; the mate repeats what it is told."""
    async with living(
        path, lambda asked: newest("\n".join(text for _, text in asked.messages)), **changes
    ) as home:
        home.app.deliveries.attach(wall)
        await home.enter("Ana", mates=("maya",))
        if place not in (await home.app.front.rooms.state(home.room)).places:
            await home.app.front.rooms.join_place(
                ChannelSpot(place, "Ana", "private"), ("maya",), home.room
            )
        yield home


def newest(prompt: str) -> str:
    """The newest number in a prompt."""
    return f"Here is no{max(map(int, re.findall(r'no([0-9]+)', prompt)), default=0)}"


async def talk(home: Home, *numbers: int) -> None:
    """Ana says one line after the other, and waits until each is answered, if not delivered."""
    for number in numbers:
        await home.says("Ana", f"say no{number}, Maya")
        await home.clock.advance(20)


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("place", "away", "seconds", "late"),
    [
        *((place, away, 9 * MINUTES, "minutes") for place, away in KINDS),
        *((place, all[0], 2 * HOURS, "2 hours") for place, all in OUTAGES.items()),
    ],
)
async def test_an_outage_loses_nothing(
    tmp_path: Path, place: str, away: Callable[[], SendFailed], seconds: float, late: str
) -> None:
    """What was said meanwhile arrives once, in order, and one word after it says it is late."""
    wall = Wall(place)
    async with beside(tmp_path, place, wall) as home:
        await talk(home, 1)
        wall.away = away
        await talk(home, 2, 3, 4)
        await home.clock.advance(seconds)
        assert wall.lines == ["Here is no1"]
        wall.away = None
        await home.clock.advance(2 * MINUTES)
        await talk(home, 5)
        await home.clock.advance(MINUTES)
        assert "delivery.failed" not in await home.kinds()
    *came, word, last = wall.lines
    assert [*came, last] == [f"Here is no{number}" for number in range(1, 6)]
    assert word.startswith("What Ana and Maya said reached Ana up to ")
    assert f"{late} late: " in word
    assert word.endswith(away().why)


async def test_a_reminder_that_arrives_late(tmp_path: Path) -> None:
    """It says so, by whose it is: what rings an hour late looks as if it were due only then."""
    place = "telegram:1@42"
    wall = Wall(place)
    async with beside(tmp_path, place, wall) as home:
        await home.does("Ana", "remind", "in ten minutes: tea")
        await talk(home, 1)
        wall.away = unreachable_telegram
        await home.clock.advance(HOURS)
        await talk(home, 2)
        await home.clock.advance(10 * MINUTES)
        wall.away = None
        await home.clock.advance(2 * MINUTES)
    why = "Telegram could not be reached."
    assert wall.lines[1:] == [
        "⏰ Reminder for Ana: tea [1]",
        "Here is no2",
        f"What Ana and Maya said and a reminder of Ana reached Ana up to 62 minutes late: {why}",
    ]


async def test_a_home_that_was_away_says_so(tmp_path: Path) -> None:
    """What was not sent when the home ended goes out when it is back, as late."""
    place = "telegram:1@42"
    wall = Wall(place)
    wall.away = unreachable_telegram
    async with beside(tmp_path, place, wall) as home:
        await talk(home, 1)
        clock = home.clock
    wall.away = None
    await clock.advance(3 * HOURS)
    async with living(tmp_path, clock=clock, seed=8) as home:
        home.app.deliveries.attach(wall)
        await clock.advance(MINUTES)
    assert wall.lines == [
        "Here is no1",
        "What Ana and Maya said reached Ana up to 3 hours late: the home was away.",
    ]


@pytest.mark.parametrize("place", OUTAGES)
async def test_patience_ends(tmp_path: Path, place: str) -> None:
    """When it ends it has failed: the room is told each time, the person once, when it is back."""
    wall = Wall(place)
    async with beside(tmp_path, place, wall, platform_patience_hours=0.5) as home:
        wall.away = OUTAGES[place][0]
        await talk(home, 1, 2)
        await home.clock.advance(1.5 * HOURS)
        events = [event.body for event in await home.events()]
        assert len([body for body in events if isinstance(body, Failed)]) == 4
        told = [str(body.text) for body in events if isinstance(body, Told)]
        assert [text.split()[1] for text in told] == ["Ana", "Maya"] * 2
        assert wall.lines == []
        wall.away = None
        await home.clock.advance(10 * MINUTES)
        assert wall.lines == [told[0]]
        await talk(home, 3)
        await home.clock.advance(MINUTES)
    assert told[0].startswith("What Ana said did not reach Ana: ")
    assert told[0].endswith("It was tried for 0.5 hours. Ask again for what you still need.")
    assert wall.lines == [told[0], "Here is no3"]


async def test_who_left_meanwhile_is_named_still(tmp_path: Path) -> None:
    """What somebody said arrives late, or never, by their name, although they are not there."""
    place = "telegram:1@42"
    wall = Wall(place)
    async with beside(tmp_path, place, wall, platform_patience_hours=0.5) as home:
        wall.away = unreachable_telegram
        await home.says("Ben", "say no1")
        await home.app.front.rooms.leave(home.room, home.people["Ben"])
        await home.clock.advance(1.5 * HOURS)
        told = await home.told()
    assert told[0].startswith("What Ben said did not reach Ana: ")


async def test_what_is_owed_behind_many_that_were_sent_again_is_sent_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first of more than one page: it is listed when the others are sent, and can be sent."""
    monkeypatch.setattr("loopforge.chat.service.failed_deliveries.PAGE", 3)
    place, wall = "telegram:1@42", Wall("telegram:1@42")
    wall.away = lambda: SendFailed("no", final=True)
    async with beside(tmp_path, place, wall) as home:
        await talk(home, *range(1, 7))
        await home.clock.advance(HOURS)
        stream, owed = f"room:{home.room}", home.app.front.owed
        failed = [one.body.delivery for one in await home.events() if isinstance(one.body, Failed)]
        mine = [one.delivery for one in await owed.every(stream, most=99)]
        assert len(mine) == 12
        assert set(mine) <= set(failed)
        assert [one.delivery for one in await owed.every(stream, most=3)] == mine[:3]
        wall.away = None
        for delivery in mine[:-1]:
            await owed.send_again(stream, delivery)
        await home.clock.advance(MINUTES)
        assert [one.delivery for one in await owed.every(stream, most=3)] == mine[-1:]
        await owed.send_again(stream, mine[-1])
        await home.clock.advance(MINUTES)
        assert await owed.every(stream) == []
        assert min(wall.lines) == "Here is no1"
