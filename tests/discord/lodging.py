"""A real home on Discord's twin: real time, real SQLite, a scripted model, unmodified discord.py."""

import dataclasses
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from loopforge.app import App, open_app
from loopforge.chat.room.platform_channels import ChannelSpot
from loopforge.core.delivery_states import Accepted, Failed, Queued, Uncertain
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import Heard, PlaceLeft, Said
from loopforge.io.discord.discord_settings import DiscordOptions
from loopforge.io.discord.sending.webhooks import Connector
from loopforge.io.discord.surface import Discord
from loopforge.io.platforms.bot_tokens import BotAccount
from loopforge.io.platforms.incoming_lines import IncomingLines
from loopforge.io.platforms.place_allowlist import ServedPlaces
from loopforge.io.platforms.surface_options import SurfaceOptions
from loopforge.io.platforms.surface_plugin import SurfaceParts
from loopforge.models.scripted_model import Script, ScriptedModels, in_character
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Clock
from loopforge.runtime.system_clock import SystemClock, SystemDice
from loopforge.settings import load_settings
from tests.discord.twin import Twin
from tests.discord.words import Bot, Line, Person, Place
from tests.door import Door, Knock, welcome
from tests.rooms.conftest import write_mates
from tests.sim_clock import SimClock
from tests.still import still

SEND, HOOK = "POST /channels/*/messages", "POST /webhooks/*/*"
WORDS = " ".join(f"word{n}" for n in range(60))
LONG = " ".join(f"word{n}" for n in range(450))

PLAIN = DiscordOptions(guilds=0.05, pauses=(0.05, 0.1, 0.2), refused=0.3, catch_up=50)
"""Quick."""
STILL = SurfaceOptions(streams=False, marks=False)
"""With nothing that a test does not ask for."""
STREAM, MARKS = replace(STILL, streams=True), replace(STILL, marks=True)
ANSWER = replace(PLAIN, threads="answer")
TRIES = 6000
"""Looks, 0.02 seconds apart, before something is not going to happen any more."""


@dataclass
class Lodging:
    """The home, and its surface on the city."""

    city: Twin
    app: App
    surface: Discord
    reception: IncomingLines
    models: ScriptedModels

    def states(self) -> list[str]:
        """How it stands with each account."""
        return list(self.surface.states().values())

    async def connected(self) -> None:
        """Every account is there."""
        await self.city.until(lambda: all(state.startswith("connected") for state in self.states()))

    async def room(self, place: Place | int) -> str:
        """The room of a place; "" if it has none."""
        id = place.id if isinstance(place, Place) else place
        return await self.reception.sessions.known(f"discord:{id}")

    async def events(self, place: Place | int) -> list[Event]:
        """Everything that happened in the room of a place."""
        room = await self.room(place)
        return await self.app.ledger.read(f"room:{room}") if room else []

    async def heard(self, place: Place | int) -> list[str]:
        """What people said in the room of a place."""
        bodies = [event.body for event in await self.events(place)]
        return [str(body.text) for body in bodies if isinstance(body, Heard)]

    async def said(self, place: Place | int) -> list[str]:
        """Which mates spoke in the room of a place."""
        bodies = [event.body for event in await self.events(place)]
        return [body.mate for body in bodies if isinstance(body, Said)]

    async def join(
        self, place: Place, other: Place, said: str = "I bake", mates: Sequence[str] = ("maya",)
    ) -> None:
        """Ben says something in a place; from then on another one is part of its room."""
        await self.tell(self.city.persons["ben"], place, said)
        spot = ChannelSpot(f"discord:{other.id}", f"#{other.name}", "group")
        await self.reception.sessions.join(spot, await self.room(place), mates)

    async def tell(self, person: Person, place: Place, text: str) -> Line:
        """Somebody says the first thing that is heard in a place."""
        line = await self.city.say(person, place, text)
        await self.hears(place, text)
        return line

    async def ask(self, person: Person, place: Place, text: str) -> Line:
        """Somebody says something, and one answer of a mate arrives."""
        count = len(self.city.lines(place))
        line = await self.city.say(person, place, text)
        await self.city.until(lambda: len(self.city.lines(place)) == count + 2)
        await self.rests(place)
        return line

    async def named(self, place: Place, name: str) -> None:
        """Wait until a place is called so in its room."""
        async for _ in self.looks(f"a place is called {name}"):
            known = (await self.app.front.rooms.state(await self.room(place))).places
            if str(known[f"discord:{place.id}"].name) == name:
                return

    async def looks(self, what: str) -> AsyncIterator[None]:
        """Look again and again whether this has happened, until whoever looks is content."""
        for _ in range(TRIES):
            yield
            await self.app.stamp.clock.sleep(0.02)
        raise AssertionError(f"it did not happen: {what}; {self.city.story()}")

    async def hears(self, place: Place | int, *texts: str) -> None:
        """Wait until exactly these lines were heard there."""
        async for _ in self.looks(f"exactly {texts} are heard"):
            if await self.heard(place) == list(texts):
                return

    async def eventually(self, place: Place | int, kind: type, times: int = 1) -> None:
        """Wait until something of this kind happened there so many times."""
        async for _ in self.looks(f"{kind.__name__} happens {times} times"):
            if sum(isinstance(each.body, kind) for each in await self.events(place)) >= times:
                return

    async def parted(self, room: str) -> None:
        """Wait until a place left this room."""
        async for _ in self.looks(f"a place leaves {room}"):
            events = await self.app.ledger.read(f"room:{room}")
            if any(isinstance(event.body, PlaceLeft) for event in events):
                return

    async def delivered(self, place: Place | int) -> None:
        """Everything that was to go to Discord is there, or will never be."""
        async for _ in self.looks(f"all is delivered in {place}"):
            if not await self.open(place):
                return

    async def rests(self, place: Place | int) -> None:
        """Nobody has anything left to do there, and everything is delivered."""
        await self.settled(place)
        await self.delivered(place)

    async def no_drafts(self, place: Place | int) -> None:
        """Wait until the ledger knows of no draft there."""
        async for _ in self.looks(f"no draft is known in {place}"):
            if not await self.drafts(place):
                return

    async def drafts(self, place: Place | int) -> list[str]:
        """The messages that the ledger knows as drafts there."""
        id = place.id if isinstance(place, Place) else place
        return [each.message for each in await self.app.front.channels.drafts(f"discord:{id}")]

    async def open(self, place: Place | int) -> list[str]:
        """The deliveries to Discord that are neither accepted nor failed."""
        waiting = []
        for event in await self.events(place):
            match event.body:
                case Queued(surface=surface) if surface.startswith("discord:"):
                    waiting.append(event.id)
                case Accepted(delivery=id) | Failed(delivery=id) | Uncertain(delivery=id):
                    waiting = [each for each in waiting if each != id]
        return waiting

    async def settled(self, place: Place | int) -> None:
        """Nobody has anything left to do there about what stands in the ledger."""
        if events := await self.events(place):
            await self.app.ledger.told(events[-1].stream, events[-1].seq - 1)
        await self.app.front.rooms.settled(await self.room(place))


@asynccontextmanager
async def lodged(
    city: Twin,
    path: Path,
    bots: Mapping[Bot, str | Sequence[str]],
    script: Script = in_character,
    *,
    options: DiscordOptions = PLAIN,
    manners: SurfaceOptions = STILL,
    knock: Knock = welcome,
    mates: Sequence[str] = ("maya", "merlin", "zuzu"),
    wait: bool = True,
    grounds: str = "open",
    sim: SimClock | None = None,
    pace: Clock | None = None,
    connector: Connector | None = None,
    owns: Callable[[str], bool] = lambda _: False,
    **changes: Any,
) -> AsyncIterator[Lodging]:
    """A home whose mates are on Discord by these bots: a mate's name, several, or "*".

    With `sim` its time is simulated, with a `pace` that of its model alone is another; with a
    `connector` Discord is elsewhere. Who `owns` it is told of each person.
    """
    if not (path / "mates").exists():
        write_mates(path, mates)
    settings = load_settings(path, environ={"LOOPFORGE_TIMEZONE": "UTC"})
    settings = dataclasses.replace(settings, **{"debounce_seconds": 0.02, **changes})
    (path / "data").mkdir(exist_ok=True)
    clock, dice = sim or SystemClock(), SystemDice()
    models = ScriptedModels(script, clock=pace or clock)
    accounts = [
        BotAccount(
            platform="discord",
            token=bot.token,
            mates=(who,) if isinstance(who, str) else tuple(who),
        )
        for bot, who in bots.items()
    ]
    async with open_app(settings, models=models, clock=clock, dice=dice, follow=0) as app:
        if sim is not None:
            still(sim, app.ledger)
        reception = IncomingLines(
            app.front,
            app.people,
            clock,
            Door(knock, lambda one: grounds == "open" or app.pairing.trusts(one), owns),
            app.linking,
            ServedPlaces(grounds),
        )
        parts = SurfaceParts(
            reception=reception,
            front=app.front,
            artifacts=app.artifacts,
            portraits=app.portraits,
            clock=clock,
            dice=dice,
            manners=manners,
            options=None,
            accounts=accounts,
        )
        surface = Discord(parts, options, connector or city.connector)
        tasks = BackgroundTasks()
        app.deliveries.attach(surface)
        tasks.spawn(surface.run(), "Discord")
        lodging = Lodging(city, app, surface, reception, models)
        try:
            if wait:
                await lodging.connected()
            yield lodging
        finally:
            await surface.close()
            await tasks.close()
            app.deliveries.detach("discord")
