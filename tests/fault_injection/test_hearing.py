"""Bad luck while a line is heard: a surface that gives up, or that says it again late."""

import asyncio
from pathlib import Path

import pytest

from loopforge.core.room_vocabulary import Heard
from loopforge.runtime.background_tasks import BackgroundTasks
from tests.rooms.conftest import Home, living


async def heard(home: Home) -> list[str]:
    """The sources of all lines that were heard."""
    return [one.source for one in await home.bodies(Heard)]


@pytest.mark.parametrize("steps", range(6))
async def test_a_line_whose_surface_gives_up_is_answered_if_it_was_heard(
    tmp_path: Path, steps: int
) -> None:
    """Cancelled wherever it waits, a line is either not in the ledger, or it is answered."""
    async with living(tmp_path) as home:
        await home.enter("ana")
        tasks = BackgroundTasks()
        saying = tasks.spawn(home.says("ana", "@maya hello", source="t:1"), "saying")
        for _ in range(steps):
            await asyncio.sleep(0)
        saying.cancel()
        await asyncio.wait((saying,))
        await home.clock.advance(0)  # a write that has begun goes on
        await home.rest()
        assert await home.said() == ["maya"] * len(await heard(home))


async def test_a_line_said_again_much_later_is_known(tmp_path: Path) -> None:
    """A terminal that was away while others said hundreds of lines may still say its line again."""
    async with living(tmp_path) as home:
        await home.enter("ana", "bo")
        first = await home.says("ana", "hello", source="a:1")
        await asyncio.gather(
            *(home.says("bo", f"line {number}", source=f"b:{number}") for number in range(600))
        )
        again = await home.says("ana", "hello", source="a:1")
        assert again.id == first.id
        assert (await heard(home)).count("a:1") == 1
