"""A home that is on Telegram's twin, with a scripted model and a fast clock."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loopforge.app import App, open_app
from loopforge.core.events import Event
from loopforge.host import run_surfaces
from loopforge.io.platform_runner import Platforms
from loopforge.io.platforms.bot_tokens import BotTokens
from loopforge.io.platforms.surface_options import SurfaceOptions
from loopforge.models.scripted_model import Script, ScriptedModels
from loopforge.runtime.ports import Clock
from loopforge.runtime.system_clock import SystemDice
from loopforge.settings import load_settings
from tests.elsewhere import elsewhere
from tests.hurried_clock import HurriedClock
from tests.rooms.conftest import write_mates
from tests.sim_clock import SimClock
from tests.still import still
from tests.telegram.city import City
from tests.telegram.records import Bot, Chat, Person

HURRIED = HurriedClock(8)
"""What looks for what may have arrived, and what is paced by limits, waits mostly."""


@dataclass
class Home:
    """A home on Telegram."""

    app: App
    platforms: Platforms

    async def rooms(self) -> list[str]:
        """Its rooms."""
        return await self.app.rooms.names()

    async def events(self, room: str) -> list[Event]:
        """Everything that happened in a room."""
        return await self.app.ledger.read(f"room:{room}")

    async def named(self, *names: str) -> None:
        """Wait until its places are called so, room after room."""

        async def holds() -> bool:
            states = [await self.app.front.rooms.state(room) for room in await self.rooms()]
            found = [str(each.name) for state in states for each in state.places.values()]
            return sorted(found) == sorted(names)

        await self.until(holds)

    async def until(self, check: Callable[[], Awaitable[Any]]) -> Any:
        """Wait until this is true; what it returned. Long enough for a machine at its limits."""
        async with asyncio.timeout(400):
            while not (found := await check()):
                await asyncio.sleep(0.02)
        return found


async def pair(city: City) -> tuple[Bot, Person]:
    """Maya's bot, and Ana."""
    return await city.bot("Maya", "maya_bot"), await city.person("Ana", "ana")


async def both(city: City) -> tuple[Bot, Bot, Person, dict[str, str]]:
    """Maya's bot and Merlin's, which read all, Ana, and the tokens by their variables."""
    maya = await city.bot("Maya", "maya_bot", reads_all=True)
    merlin = await city.bot("Merlin", "merlin_bot", reads_all=True)
    tokens = {"TELEGRAM_TOKEN_MAYA": maya.token, "TELEGRAM_TOKEN_MERLIN": merlin.token}
    return maya, merlin, await city.person("Ana", "ana"), tokens


async def hall(city: City) -> tuple[Bot, Person, Chat]:
    """Maya's bot, which reads all, Ana, and a supergroup with both."""
    maya = await city.bot("Maya", "maya_bot", reads_all=True)
    ana = await city.person("Ana", "ana")
    return maya, ana, await city.supergroup("Lab", [ana, maya])


def counting() -> Script:
    """A script that says which answer this is, from 1 on."""
    count = iter(range(1, 1_000_000))
    return lambda _: f"This is answer {next(count)}."


@asynccontextmanager
async def on_telegram(
    path: Path,
    bots: Bot | Mapping[str, str],
    base: str,
    *,
    script: Script | None = None,
    manners: SurfaceOptions | None = None,
    clock: Clock = HURRIED,
    pace: Clock | None = None,
    **changes: Any,
) -> AsyncIterator[Home]:
    """A home that runs, and is on Telegram, until the block ends. `changes` are settings.

    `bots` is a mate's own, by its name, or tokens by their variables.

    Its `clock` and the twin's are the same (`serving(clock)`); its model's may be another (`pace`).
    """
    if not (path / "mates").exists():
        write_mates(path)
    tokens = {f"TELEGRAM_TOKEN_{bots.name.upper()}": bots.token} if isinstance(bots, Bot) else bots
    (path / "data").mkdir(exist_ok=True)
    opened = {"telegram_dm": "open", "telegram_groups": "open"}
    changes = {"debounce_seconds": 0.05, **opened, **changes}
    settings = load_settings(path, environ={"LOOPFORGE_TIMEZONE": "UTC"})
    settings = dataclasses.replace(settings, **changes)
    dice = SystemDice()
    models = ScriptedModels(script or counting(), clock=pace or clock)
    kept, there = BotTokens(settings.data, tokens), elsewhere(settings, telegram=base)
    async with open_app(settings, models=models, clock=clock, dice=dice, follow=0) as app:
        if isinstance(clock, SimClock):
            still(clock, app.ledger)
        async with run_surfaces(app, kept, there, manners=manners or SurfaceOptions()) as platforms:
            yield Home(app, platforms)
