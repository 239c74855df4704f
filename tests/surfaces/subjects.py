"""What the contract of surfaces asks of the twins: one person, one mate, and trouble on order."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, Protocol

from loopforge.io.platforms.surface_plugin import InstalledSurface, surfaces_of
from loopforge.runtime.ports import Clock
from loopforge.runtime.system_clock import SystemClock
from loopforge.setting_defaults import Settings
from tests.discord.twin import Twin as DiscordTwin
from tests.discord.words import Bot as DiscordBot
from tests.discord.words import Person as DiscordPerson
from tests.elsewhere import elsewhere
from tests.hurried_clock import HurriedClock
from tests.telegram.records import Bot as TelegramBot
from tests.telegram.records import Chat, Person
from tests.telegram.twin import Twin as TelegramTwin
from tests.telegram.twin import serving

POST = "POST /channels/*/messages"


class Subject(Protocol):
    """A platform that is really there, and somebody there who talks to Maya in private."""

    name: str
    clock: Clock
    tokens: Mapping[str, str]
    settings: Mapping[str, Any]

    def surfaces(self, settings: Settings) -> dict[str, InstalledSurface]:
        """The installed ones, of which this is one, asked where it really is."""
        ...

    async def say(self, text: str) -> None:
        """The person says something."""
        ...

    async def heard(self) -> list[str]:
        """The messages of mates that the person has, in order."""
        ...

    async def lose(self) -> None:
        """The next message arrives, and nobody is told that it did."""
        ...

    async def drop(self) -> None:
        """The next message does not arrive, and nobody is told why."""
        ...

    async def refuse(self) -> None:
        """The next message is refused for good."""
        ...


class OnDiscord:
    """Discord's twin."""

    name = "discord"
    clock: Clock = SystemClock()
    settings: Mapping[str, Any] = {"discord_dm": "open"}

    def __init__(self, city: DiscordTwin, maya: DiscordBot, ana: DiscordPerson) -> None:
        self._city, self._maya, self._ana = city, maya, ana
        self.tokens: Mapping[str, str] = {"DISCORD_TOKEN_MAYA": maya.token}

    def surfaces(self, settings: Settings) -> dict[str, InstalledSurface]:
        """With Discord on loopback."""
        return elsewhere(settings, discord=self._city.connector)

    async def say(self, text: str) -> None:
        """By a direct message."""
        await self._city.until(lambda: self._city.online(self._maya))
        await self._city.dm(self._ana, self._maya, text)

    async def heard(self) -> list[str]:
        """Of the direct messages."""
        there = self._city.private(self._ana, self._maya)
        return [line.text for line in self._city.lines(there) if line.by == "Maya"]

    async def lose(self) -> None:
        """The connection is cut after it was carried out."""
        self._city.faults.lose(POST, carried=True)

    async def drop(self) -> None:
        """The connection is cut before."""
        self._city.faults.lose(POST, carried=False)

    async def refuse(self) -> None:
        """The person takes no direct messages."""
        self._city.faults.refuse(POST, 50007, times=1)


class OnTelegram:
    """Telegram's twin."""

    name = "telegram"
    clock: Clock = HurriedClock(8)
    settings: Mapping[str, Any] = {"telegram_dm": "open"}

    def __init__(self, twin: TelegramTwin, maya: TelegramBot, ana: Person, chat: Chat) -> None:
        self._twin, self._maya, self._ana, self._chat = twin, maya, ana, chat
        self.tokens: Mapping[str, str] = {"TELEGRAM_TOKEN_MAYA": maya.token}

    def surfaces(self, settings: Settings) -> dict[str, InstalledSurface]:
        """With Telegram on loopback."""
        return elsewhere(settings, telegram=self._twin.base)

    async def say(self, text: str) -> None:
        """In the private chat."""
        await self._twin.city.say(self._ana, self._maya, text)

    async def heard(self) -> list[str]:
        """Of the private chat."""
        said = await self._twin.city.lines(self._chat, self._maya)
        return [line.text for line in said]

    async def lose(self) -> None:
        """It is done, and answered by an error."""
        await self._twin.city.fault("sendMessage", "cut")

    async def drop(self) -> None:
        """The connection breaks first."""
        await self._twin.city.fault("sendMessage", "drop")

    async def refuse(self) -> None:
        """The person has blocked the bot."""
        await self._twin.city.fault("sendMessage", "refuse")


class OnLines:
    """Somebody with a socket, who speaks the example's lines."""

    name = "lines"
    clock: Clock = SystemClock()
    tokens: Mapping[str, str] = {}

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.settings: Mapping[str, Any] = {"lines_port": self.port, "lines_dm": "open"}
        self._lines: dict[str, str] = {}
        self._plan: list[str] = []
        self._writer: asyncio.StreamWriter | None = None
        self._ids = 0

    def surfaces(self, settings: Settings) -> dict[str, InstalledSurface]:
        """The example among them."""
        return surfaces_of(settings)

    async def say(self, text: str) -> None:
        """As soon as there is a connection."""
        while self._writer is None:
            await asyncio.sleep(0.02)
        self._ids += 1
        await self._tell(self._writer, {"say": text, "id": self._ids})

    async def heard(self) -> list[str]:
        """What was kept, each id once."""
        return list(self._lines.values())

    async def lose(self) -> None:
        """It is kept, and the connection ends."""
        self._plan.append("lose")

    async def drop(self) -> None:
        """The connection ends."""
        self._plan.append("drop")

    async def refuse(self) -> None:
        """It is not wanted."""
        self._plan.append("refuse")

    async def run(self) -> None:
        """Call, and again whenever the connection ends."""
        while True:
            with suppress(OSError):
                reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
                await self._tell(writer, {"hello": "Ana", "key": "only Ana knows it"})
                self._writer = writer
                async for line in reader:
                    if not await self._answered(writer, json.loads(line)):
                        break
                writer.close()
            self._writer = None
            await asyncio.sleep(0.05)

    async def _answered(self, writer: asyncio.StreamWriter, what: dict[str, Any]) -> bool:
        """Do what the plan says with a line; whether to go on."""
        if "have" in what:
            id = what["have"]
            await self._tell(writer, {"got" if id in self._lines else "lost": id})
        elif "line" in what:
            doing = self._plan.pop(0) if self._plan else "keep"
            if doing in ("keep", "lose"):
                assert what["id"] not in self._lines, "it was sent twice"
                self._lines[what["id"]] = what["line"]
            if doing == "keep":
                await self._tell(writer, {"got": what["id"]})
            elif doing == "refuse":
                await self._tell(writer, {"no": what["id"], "why": "it is late"})
            return doing in ("keep", "refuse")
        return True

    async def _tell(self, writer: asyncio.StreamWriter, what: dict[str, Any]) -> None:
        writer.write(json.dumps(what).encode() + b"\n")
        await writer.drain()


@asynccontextmanager
async def on_discord() -> AsyncIterator[Subject]:
    """Discord, with Maya and Ana."""
    async with DiscordTwin() as city:
        yield OnDiscord(city, city.bot("Maya"), city.person("ana"))
    assert city.deviations == [], "\n".join(city.deviations)


@asynccontextmanager
async def on_telegram() -> AsyncIterator[Subject]:
    """Telegram, with Maya and Ana."""
    async with serving(OnTelegram.clock) as twin:
        maya = await twin.city.bot("Maya", "maya_bot")
        ana = await twin.city.person("Ana", "ana")
        yield OnTelegram(twin, maya, ana, await twin.city.private(ana, maya))
        assert await twin.city.deviations() == []


@asynccontextmanager
async def on_lines() -> AsyncIterator[Subject]:
    """Ana with a socket."""
    subject = OnLines()
    calling = asyncio.create_task(subject.run())  # noqa: TID251 - a person, not a part of the home
    try:
        yield subject
    finally:
        calling.cancel()


SUBJECTS: dict[str, Callable[[], Any]] = {
    "discord": on_discord,
    "telegram": on_telegram,
    "lines": on_lines,
}
