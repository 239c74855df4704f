"""A home with mates, run for real on SQLite, with a scripted model and simulated time."""

import asyncio
import dataclasses
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import pytest

from loopforge.app import App, open_app
from loopforge.chat.why.turn_replay import replay_turn
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import Heard, RightsSet, Said, Told
from loopforge.core.text.erasable_text import Words
from loopforge.core.turn_events import Perceived
from loopforge.models.scripted_model import Script, ScriptedModels, in_character
from loopforge.runtime.ports import Question
from loopforge.settings import load_settings
from tests import postgres
from tests.seeded_dice import SeededDice
from tests.sim_clock import SimClock
from tests.still import still

B = TypeVar("B")
START = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
NAMES = ("maya", "merlin", "zuzu", "otto", "vera")
QUIET = {"LOOPFORGE_TIMEZONE": "UTC", "LOOPFORGE_MEMORY_KEEP": "asked"}
"""What is set in these homes: no mate looks back on talks, unless a test is about that."""
MATE = """---
name: {name}
role: {role}
interests: [{interest}]
tools: [clock]
---
You are {name}.
"""


def write_mates(home: Path, names: Sequence[str] = NAMES[:3], **more: str) -> None:
    """Put mate files into a home; `more` gives whole files by handle."""
    folder = home / "mates"
    folder.mkdir(parents=True, exist_ok=True)
    interests = dict(zip(NAMES, ("slugs", "towers", "bins", "trains", "rules"), strict=True))
    for name in names:
        text = MATE.format(name=name.capitalize(), role="mate", interest=interests[name])
        (folder / f"{name}.md").write_text(text)
    for name, text in more.items():
        (folder / f"{name}.md").write_text(text)


@dataclass
class Home:
    """A home, and what happens in its room `commons`."""

    path: Path
    clock: SimClock
    app: App
    models: ScriptedModels
    people: dict[str, str] = field(default_factory=dict)
    room: str = "commons"

    async def enter(self, *names: str, mates: tuple[str, ...] = ()) -> None:
        """These people come in."""
        for name in names:
            scene = await self.app.front.rooms.enter(self.room, name, "terminal", mates)
            self.people[name] = scene.you

    async def says(self, name: str, text: str, **more: Any) -> Event:
        """A person says a line; nobody has answered yet."""
        if name not in self.people:
            await self.enter(name)
        more = {"source": "", "surface": "terminal", **more}
        return await self.app.front.rooms.hear(
            self.room, Heard(person=self.people[name], text=Words(text), **more)
        )

    async def hears(self, name: str, text: str, **more: Any) -> Event:
        """A person says a line, and nobody has anything left to do about it."""
        line = await self.says(name, text, **more)
        await self.rest()
        return line

    async def does(self, name: str, command: str, argument: str = "") -> str:
        """A person uses a command; "": somebody at the machine itself."""
        person = self.people[name] if name else ""
        return await self.app.front.commands.act(self.room, person, command, argument)

    async def acts(self, name: str, command: str, argument: str = "") -> None:
        """The same, and nobody has anything left to do about it."""
        await self.does(name, command, argument)
        await self.rest()

    async def rest(self) -> None:
        """Wait, in simulated time, until nobody has anything left to do."""
        task = asyncio.ensure_future(self.app.front.rooms.settled(self.room))  # noqa: TID251
        await self.clock.until(task)

    async def passes(self, seconds: float) -> None:
        """So much time goes by, and then nobody has anything left to do."""
        await self.clock.advance(seconds)
        await self.rest()

    async def finishes(self) -> None:
        """Wait until every use of a tool in the room is over, and what follows on that."""
        await self.app.effects.settled(f"room:{self.room}")
        await self.rest()

    async def uses(self, by: str, tool: str, /, **arguments: object) -> str:
        """What maya says that a tool gave her, when somebody has her use it."""
        await self.hears(by, f"@maya use {tool} {json.dumps(arguments)}")
        await self.finishes()
        return (await self.lines())[-1]

    async def lends_tools(self) -> None:
        """Everybody in the room may have every tool used."""
        rights = RightsSet(who="everyone", rights=("talk", "tools"), tools=("*",))
        await self.app.rooms.add(self.room, "", rights)

    async def events(self) -> list[Event]:
        """Everything that happened in the room."""
        return await self.app.ledger.read(f"room:{self.room}")

    async def bodies(self, kind: type[B]) -> list[B]:
        """All that happened of one kind."""
        return [event.body for event in await self.events() if isinstance(event.body, kind)]

    async def lines(self) -> list[str]:
        """The room's lines as people see them."""
        lines = []
        for event in await self.events():
            match event.body:
                case Heard(person=person, text=text):
                    names = {id: name for name, id in self.people.items()}
                    lines.append(f"{names.get(person, person)}: {text}")
                case Said(mate=mate, text=text):
                    lines.append(f"{mate}: {text}")
                case Told(text=text):
                    lines.append(f"* {text}")
                case _:
                    pass
        return lines

    def holding(self, *words: bytes) -> list[str]:
        """The files of the home, and tables elsewhere, that hold one of these words."""
        files = [path for path in (self.path / "data").glob("**/*") if path.is_file()]
        texts = {path: path.read_bytes().lower() for path in files}
        found = [
            str(path) for path, text in texts.items() if any(word.lower() in text for word in words)
        ]
        url = self.app.settings.database_url
        return found + (postgres.holding(url, words) if url.startswith("postgres") else [])

    async def told(self) -> list[str]:
        """What the room itself told its people, in order."""
        return [str(told.text) for told in await self.bodies(Told)]

    async def asks(self) -> list[str]:
        """The questions that it asked them, in order."""
        return [str(told.text) for told in await self.bodies(Told) if told.asks]

    async def replays(self) -> None:
        """Every turn is replayed to the same end."""
        for event in await self.events():
            if isinstance(event.body, Perceived):
                found = await replay_turn(self.app.ledger, self.app.policies, event.id)
                assert found.outcome == "same", found.detail

    async def private_room(self, name: str) -> str:
        """A private room of a person and maya; its stream."""
        return "room:" + await self.app.rooms.open(self.people[name], name, "", ["maya"])

    async def said(self) -> list[str]:
        """The handles of mates that spoke, in order."""
        return [said.mate for said in await self.bodies(Said)]

    async def kinds(self, prefix: str = "") -> list[str]:
        """The kinds of everything that happened."""
        return [event.kind for event in await self.events() if event.kind.startswith(prefix)]


def hum(_: Question) -> dict[str, str]:
    """What every mate answers."""
    return {"say": "Hm.", "mode": "context", "rule": "", "narrative": "I hum."}


@asynccontextmanager
async def living(
    path: Path,
    script: Script | None = in_character,
    *,
    clock: SimClock | None = None,
    seed: int = 7,
    wake: bool = True,
    environ: Mapping[str, str] = {},
    **changes: Any,
) -> AsyncIterator[Home]:
    """A home that runs until the block ends. `changes` are settings; `wake`: see open_app.

    Without a script its models are those that its settings name.
    """
    clock = clock or SimClock(START)
    if not (path / "mates").exists():
        write_mates(path)
    settings = load_settings(path, environ={**QUIET, **environ})
    settings = dataclasses.replace(settings, **changes)
    (path / "data").mkdir(exist_ok=True)
    models = ScriptedModels(script or in_character, clock=clock)
    dice = SeededDice(seed)
    options: dict[str, Any] = {"models": models if script else None, "clock": clock, "dice": dice}
    async with open_app(settings, **options, wake=wake, follow=0) as app:
        still(clock, app.ledger)
        yield Home(path, clock, app, models)


@pytest.fixture
async def home(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Home]:
    """A home with maya, merlin and zuzu; its model answers by the module's SCRIPT, else plainly."""
    async with living(tmp_path, getattr(request.module, "SCRIPT", in_character)) as made:
        yield made
