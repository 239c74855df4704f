"""What tests of the lab's pages share: runs in a home, waiting for them, and reading a stream."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from loopforge.core.factory_vocabulary import Began
from loopforge.lab.run.robot_minds import Minds
from loopforge.lab.run.run_lifecycle import RunChoice, fork_run, simulate
from loopforge.lab.run.run_log import LOG, began_of, lines_of
from loopforge.lab.world.scenario_file import open_scenario
from tests.web.conftest import Guest, Town
from tests.web.test_event_stream import Page, listening

JSON = {"accept": "application/json"}


def runs_of(site: Town) -> Path:
    """The folder of a home's runs."""
    return site.path / "data" / "runs"


async def played(site: Town, name: str = "spun", policy: str = "stub", **choice: Any) -> Path:
    """A short run with everything in it, played before anybody looks."""
    given: dict[str, Any] = {"days": 2, "steps_per_day": 6, "perception": "spin"} | choice
    scenario = RunChoice(supervisor="punitive", **given).apply(open_scenario("first_shift"))
    folder = runs_of(site) / name
    await simulate(scenario, Minds(policy=policy), out=folder)
    return folder


async def forked(source: Path, name: str, at: int, **changes: str) -> Path:
    """A fork of a run, beside it."""
    folder = source.parent / name
    await fork_run(source, folder, at, changes)
    return folder


def cut(folder: Path, lines: int) -> None:
    """Leave so many lines of a run, as a kill would."""
    kept = list(lines_of(folder))[:lines]
    (folder / LOG).write_bytes(b"".join(kept))


async def until(guest: Guest, run: str, *states: str) -> str:
    """Wait until a run stands so; in which state it is then."""
    async with asyncio.timeout(120):
        while True:
            answer = await guest.get(f"/lab/{run}/course", headers=JSON)
            if answer.status_code == 200 and (state := answer.json()["state"]) in states:
                return str(state)
            await asyncio.sleep(0.02)


def first_row(site: Town, run: str) -> Began:
    """How a run began."""
    return began_of(runs_of(site) / run)


class Followed(Page):
    """What one page that follows a run was told."""

    ended = False

    async def read(self, answer: httpx.Response) -> None:
        """Take in events until the stream ends."""
        await super().read(answer)
        self.ended = True

    def briefs(self) -> list[tuple[int, list[int]]]:
        """(step, its four numbers) of every step that was told, in order."""
        return [
            (told["first"] + nth, brief)
            for told in self.data("steps")
            for nth, brief in enumerate(told["briefs"])
        ]


@asynccontextmanager
async def following(
    guest: Guest, run: str, *, after: int = 0, last: str = ""
) -> AsyncIterator[Followed]:
    """A page that follows a run until the block ends; with `last`, one whose stream broke there."""
    path = f"/lab/{run}/stream?after={after}"
    async with listening(Followed(last), guest, path, "hello") as page:
        yield page
