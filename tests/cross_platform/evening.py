"""One room in four places at once, and the eyes of one person in each of them.

    ben   a channel of Discord      seen as the twin's record of that channel
    cleo  a group of Telegram       seen as the twin's record of that group
    olu   the web room              seen through the event stream of an open page
    ana   a terminal                seen as what its plain form prints

The home is real: real SQLite, unmodified discord.py and python-telegram-bot over real
sockets; its clock is the twins', a fast one. Its two mates have an account of their own on each
platform.
"""

import asyncio
import html
import io
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from loopforge.app import App, open_app
from loopforge.chat.room.platform_channels import ChannelSpot
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import Heard, LineEdited, Said, Told
from loopforge.host import run_surfaces, serve_web_room
from loopforge.io.discord.sending.reply_quote import strip_reply_quote
from loopforge.io.platforms.bot_tokens import BotAccount, BotTokens
from loopforge.io.session import Sessions
from loopforge.io.socket.socket_address import SocketAddress
from loopforge.io.socket.socket_client import SocketLink
from loopforge.io.socket.wire_protocol import Hello as Terminal
from loopforge.io.terminal.plain_mode import INDENT, run_plain
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Models
from loopforge.runtime.system_clock import SystemClock, SystemDice
from loopforge.setting_defaults import Settings
from tests.discord import words as discord
from tests.discord.twin import Twin as Discord
from tests.elsewhere import elsewhere
from tests.telegram import records as telegram
from tests.telegram.twin import Twin as Telegram
from tests.web.conftest import Guest, Town, reachable
from tests.web.test_event_stream import Page, open_page

T = TypeVar("T")
ROOM = "commons"
STREAM = f"room:{ROOM}"
MATES = ("maya", "merlin")
SIGNED = re.compile(r"(?P<who>\w+) \((?P<where>\w+)\)")
PREFIXED = re.compile(r"(?P<who>\w+) \((?P<where>\w+)\): (?P<text>.*)", re.DOTALL)
PRINTED = re.compile(r"(?P<who>\w+)(?P<asides>( \([^)]*\))*): (?P<text>.*)", re.DOTALL)
DRAWN = " ▌"


class Shown(NamedTuple):
    """A line as somebody sees it: who said it, where (of a mate nothing), and the words."""

    who: str
    where: str = ""
    text: str = ""


def place_of(surface: str) -> str:
    """Where somebody speaks: Discord, Telegram, web or terminal."""
    platform, inside, _ = surface.partition(":")
    return platform.capitalize() if inside else platform


# ---------------------------------------------------------------- the eyes


@dataclass
class OnDiscord:
    """Ben, in a channel."""

    city: Discord
    plaza: discord.Place
    ben: discord.Person

    async def says(self, text: str, reply_to: str = "") -> discord.Line:
        """Write a message, in answer to the one that says this."""
        answered = self._said(reply_to) if reply_to else None
        return await self.city.say(self.ben, self.plaza, text, reply_to=answered)

    async def edits(self, line: discord.Line, text: str) -> None:
        """Change a message of his."""
        await self.city.edit(self.ben, line, text)

    async def reacts(self, text: str, emoji: str) -> None:
        """Put an emoji on the one message that says this."""
        await self.city.react(self.ben, self._said(text), emoji)

    def _said(self, text: str) -> discord.Line:
        (line,) = [
            one for one in self.city.lines(self.plaza) if strip_reply_quote(one.text) == text
        ]
        return line

    def seen(self) -> list[Shown]:
        """Every line, in order."""
        return [self._shown(line) for line in self.city.lines(self.plaza)]

    def said(self) -> list[Shown]:
        """The same without what the home itself says, which is small."""
        return [each for each in self.seen() if not each.text.startswith("-# ")]

    def _shown(self, line: discord.Line) -> Shown:
        text = strip_reply_quote(line.text)
        if line.author == self.ben.id:
            return Shown(line.by, "Discord", text)
        if line.webhook and (signed := SIGNED.fullmatch(line.by)):
            return Shown(signed["who"], signed["where"], text)
        return Shown(line.by, "", text)


@dataclass
class OnTelegram:
    """Cleo, in a group."""

    twin: Telegram
    lab: telegram.Chat
    cleo: telegram.Person
    bots: Sequence[telegram.Bot]

    async def says(self, text: str, reply_to: telegram.Line | None = None) -> telegram.Line:
        """Write a message."""
        return await self.twin.city.say(self.cleo, self.lab, text, reply_to=reply_to)

    async def edits(self, line: telegram.Line, text: str) -> None:
        """Change a message of hers."""
        await self.twin.city.edit(self.cleo, line, text)

    async def messages(self) -> list[telegram.Line]:
        """The messages as they stand now, in order."""
        lines = await self.twin.city.lines(self.lab)
        return [line for line in lines if not line.service and not line.deleted]

    async def seen(self) -> list[Shown]:
        """Every line."""
        return [self._shown(line) for line in await self.messages()]

    async def drawn(self) -> bool:
        """Whether a draft stands there."""
        return any(line.text.endswith(DRAWN) for line in await self.messages())

    def _shown(self, line: telegram.Line) -> Shown:
        if line.author == self.cleo.id:
            return Shown(line.by, "Telegram", line.text)
        if relayed := PREFIXED.fullmatch(line.text):
            return Shown(relayed["who"], relayed["where"], relayed["text"])
        (bot,) = [bot for bot in self.bots if bot.id == line.author]
        return Shown(bot.name, "", line.text)


@dataclass
class OnTheWeb:
    """Olu, with an open page."""

    guest: Guest
    page: Page

    async def says(self, text: str) -> None:
        """Write a line, as the page's script does."""
        await self.guest.says(ROOM, text)

    def seen(self) -> list[Shown]:
        """Every line, as its HTML reads, changed as the stream says."""
        lines: dict[str, str] = {}
        for name, _, data in self.page.given:
            if name == "line" and 'class="line ' in data:
                lines[_between(data, 'data-id="', '"')] = data
        words = {
            id: _between(line, 'class="words" dir="auto">', "</div>") for id, line in lines.items()
        }
        for change in self.page.data("change"):
            if change["kind"] == "room.line_edited":
                words[change["line"]] = change["html"]
        return [_on_page(line, words[id]) for id, line in lines.items()]


def _on_page(line: str, words: str) -> Shown:
    asides = re.findall(r'<span class="aside">on (\w+)</span>', line)
    text = html.unescape(re.sub(r"<[^>]+>", "", words)).strip()
    return Shown(_between(line, 'class="who">', "<"), "".join(asides), text)


def _between(text: str, before: str, after: str) -> str:
    return text.partition(before)[2].partition(after)[0]


@dataclass
class AtATerminal:
    """Ana, at the plain form. `out` and `err` are what it printed."""

    keyboard: int
    out: io.StringIO = field(default_factory=io.StringIO)
    err: io.StringIO = field(default_factory=io.StringIO)

    async def says(self, text: str) -> None:
        """Type a line."""
        os.write(self.keyboard, f"{text}\n".encode())

    def seen(self) -> list[Shown]:
        """Every line that was printed; her own are not."""
        printed = self.out.getvalue().replace(f"\n{INDENT}", "\0")
        return [self._shown(line.replace("\0", "\n")) for line in printed.splitlines()]

    def notices(self) -> list[str]:
        """What else there was to say."""
        return self.err.getvalue().splitlines()

    def _shown(self, line: str) -> Shown:
        printed = PRINTED.fullmatch(line)
        assert printed, line
        where = re.findall(r"\(on (\w+)\)", printed["asides"])
        who = printed["who"].capitalize() if printed["who"] in MATES else printed["who"]
        return Shown(who, "".join(where), printed["text"])


# ---------------------------------------------------------------- the evening


@dataclass
class Evening:
    """Four people and two mates in one room."""

    app: App
    ben: OnDiscord
    cleo: OnTelegram
    olu: OnTheWeb
    ana: AtATerminal

    async def events(self) -> list[Event]:
        """Everything that happened in the room."""
        return await self.app.ledger.read(STREAM)

    async def lines(self) -> list[Event]:
        """The lines of the room, in the ledger's order."""
        return [event for event in await self.events() if isinstance(event.body, Heard | Said)]

    async def told(self) -> list[Shown]:
        """What the ledger says was said, as it stands now."""
        scene = await self.app.front.rooms.scene(ROOM)
        events = await self.events()
        edited = {e.body.line: str(e.body.text) for e in events if isinstance(e.body, LineEdited)}
        told = []
        for event in events:
            match event.body:
                case Heard(person=person, surface=surface, text=text):
                    words = edited.get(event.id, str(text))
                    told.append(Shown(scene.person(person), place_of(surface), words))
                case Said(mate=mate, text=text):
                    told.append(Shown(scene.mate(mate).name, "", str(text)))
        return told

    async def notices(self) -> list[Shown]:
        """What the room itself said, as Discord and Telegram show it by a bot that is there."""
        told = [str(e.body.text) for e in await self.events() if isinstance(e.body, Told)]
        forms = [form for text in told for form in (text, f"-# *{text}*")]
        return [Shown(mate.capitalize(), "", form) for mate in MATES for form in forms]

    async def until(self, holds: Callable[[], object]) -> None:
        """Wait until it holds, a minute at most."""
        async with asyncio.timeout(60):
            while not holds():
                await asyncio.sleep(0.02)

    async def eventually(self, ask: Callable[[], Awaitable[T]], told: T) -> None:
        """Wait until this is what is told, a minute at most."""
        async with asyncio.timeout(60):
            while await ask() != told:
                await asyncio.sleep(0.02)

    async def rests(self, heard: int, *, edited: int = 0) -> None:
        """Wait until people said (and edited) so many lines, all is done, and all of it arrived."""
        async with asyncio.timeout(120):
            while await self._count(Heard) < heard or await self._count(LineEdited) < edited:
                await asyncio.sleep(0.02)
            await self.app.ledger.told(STREAM, (await self.events())[-1].seq - 1)
            await self.app.front.rooms.settled(ROOM)
            while any(one.stream == STREAM for one in await self.app.ledger.outbox()):
                await asyncio.sleep(0.02)
            last = (await self.app.front.history(ROOM, limit=1))[-1].seq
            while (self.olu.page.seqs() or [0])[-1] < last:
                await asyncio.sleep(0.02)
            told, notices = await self.told(), await self.notices()
            others = [each for each in told if each.who != "ana"]
            while sum(each not in notices for each in self.ana.seen()) < len(others):
                await asyncio.sleep(0.02)
            if (await self.app.front.rooms.state(ROOM)).places:  # a line may not be queued yet
                while sum(each not in notices for each in self.ben.seen()) < len(told):
                    await asyncio.sleep(0.02)
                while sum(each not in notices for each in await self.cleo.seen()) < len(told):
                    await asyncio.sleep(0.02)

    async def _count(self, kind: type) -> int:
        return sum(isinstance(event.body, kind) for event in await self.events())


@asynccontextmanager
async def evening(
    settings: Settings, models: Models | None, city: Discord, twin: Telegram
) -> AsyncIterator[Evening]:
    """A home whose commons are a channel of Discord and a group of Telegram too."""
    settings.data.mkdir(exist_ok=True)
    ben, plaza = city.person("ben"), city.channel("plaza")
    cleo = await twin.city.person("cleo", "cleo")
    tokens, bots = BotTokens(settings.data, {}), []
    for mate in MATES:
        name = mate.capitalize()
        tokens.keep(BotAccount(platform="discord", token=city.bot(name).token, mates=(mate,)))
        bots.append(await twin.city.bot(name, f"{mate}_bot", reads_all=True))
        tokens.keep(BotAccount(platform="telegram", token=bots[-1].token, mates=(mate,)))
    lab = await twin.city.supergroup("Lab", [cleo, *bots])
    there = elsewhere(telegram=twin.base, discord=city.connector)
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        clock, dice = twin.town.clock, SystemDice()
        app = await enter(open_app(settings, models=models, clock=clock, dice=dice, follow=0))
        platforms = await enter(run_surfaces(app, tokens, there))
        ana = await enter(at_a_terminal(app, settings))
        town = Town(settings.home, app, await enter(serve_web_room(app)), stack)
        await reachable(town.address)
        guest = await town.owner("olu")
        await app.front.rooms.come_in(ROOM, guest.person, "olu")
        page = await enter(open_page(guest, ROOM))
        sessions = Sessions(app.front)
        for key, name in ((f"discord:{plaza.id}", "plaza"), (f"telegram:{lab.id}", "Lab")):
            await sessions.join(ChannelSpot(key, name, "group"), ROOM, MATES)
        await app.front.commands.act(ROOM, guest.person, "talk", "called", owner=True)
        made = Evening(
            app,
            OnDiscord(city, plaza, ben),
            OnTelegram(twin, lab, cleo, bots),
            OnTheWeb(guest, page),
            ana,
        )
        await made.until(lambda: _all_well(platforms.states()))
        yield made


def _all_well(states: dict[str, dict[str, str]]) -> bool:
    said: Sequence[str] = [said for each in states.values() for said in each.values()]
    return len(said) == 4 and all(each.startswith("connected") for each in said)


@asynccontextmanager
async def at_a_terminal(app: App, settings: Settings) -> AsyncIterator[AtATerminal]:
    """A plain terminal in the home's hall, until the block ends; every line typed was taken."""

    @asynccontextmanager
    async def rooms() -> AsyncIterator[object]:
        yield app.front

    who = Terminal(client="ana-1", room=ROOM, name="ana", tail=50)
    link = SocketLink(SocketAddress(settings.data), rooms, who, SystemClock())  # type: ignore[arg-type]
    reading, writing = os.pipe()
    ana, tasks = AtATerminal(writing), BackgroundTasks()
    running = tasks.spawn(run_plain(link, reading, ana.out, ana.err), "terminal")
    try:
        async with asyncio.timeout(60):
            while not running.done() and ROOM not in await app.rooms.names():
                await asyncio.sleep(0.02)
        yield ana
        os.close(writing)
        assert await running == 0, ana.err.getvalue()
    finally:
        await tasks.close()
        os.close(reading)
