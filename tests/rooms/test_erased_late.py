"""What was under way when something was forgotten writes nothing of it down that stays."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from loopforge.core.effect_states import EffectReturned
from loopforge.ledger.erasure.host_turns import HostTurns
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.ledger_opening import open_ledger_of
from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.runtime.ports import Question, Tool, ToolCall, ToolResult
from tests.rooms.conftest import Home, living, write_mates
from tests.rooms.test_erased_elsewhere import deleted, told_line
from tests.rooms.test_presence_attacks import WORD
from tests.rooms.test_presence_in_turn import ASK, scene, telling
from tests.still import still

KILN = Tool(
    name="kiln",
    summary="Fires clay.",
    schema={"type": "object", "properties": {}},
    harmless=True,
    patience=2,
    limit=300,
)


def firing(question: Question) -> dict[str, str] | ScriptedAnswer:
    """Maya has clay fired, and tells what she knows of it then."""
    text = str(question.messages)
    if "[result of kiln" not in text:
        return {"say": "", "tool": "kiln", "arguments": "{}"}
    return {"say": f"It is {WORD} clay." if WORD in text else "It is clay."}


@asynccontextmanager
async def at_the_kiln(path: Path, text: str) -> AsyncIterator[Home]:
    """Ana says a line, maya has clay fired that takes long and gives this text, and says so."""
    write_mates(path, (), maya="---\nname: Maya\ntools: [kiln]\n---\nYou are Maya.\n")
    async with living(path, firing) as home:

        async def fire(_: ToolCall) -> ToolResult:
            await home.clock.sleep(100)
            return ToolResult(text=text)

        home.app.tools.add(KILN, fire)
        await home.hears("ana", f"@maya fire me a tower of {WORD} clay")
        yield home


@pytest.mark.parametrize("head", ["", "fired " * 1000], ids=["short", "kept"])
async def test_what_a_tool_brings_later_goes_with_the_line(tmp_path: Path, head: str) -> None:
    """It was given the line before that was deleted: its result goes, and its file, where it is long."""
    async with at_the_kiln(tmp_path, f"{head}a {WORD} tower, and another one") as home:
        assert "goes on" in str(home.models.asked)
        assert home.holding(WORD.encode())
        await deleted(home, await told_line(home))
        await home.passes(300)
        assert len(await home.bodies(EffectReturned)) == 1
        for _ in range(100):  # files are written and read beside the clock
            await home.app.keeper.sweep()
            if not home.holding(WORD.encode()):
                break
            await home.clock.advance(10)
        assert home.holding(WORD.encode()) == []
        assert (await home.app.ledger.verify()).findings == ()


async def erased_beside(home: Home, hosted: bool) -> None:
    """A line is erased by another process while the host's mate, which was shown it, is at work."""
    line = await told_line(home)
    await home.says("ana", ASK)
    await home.clock.advance(10)
    assert WORD in str(home.models.asked)
    async with open_ledger_of(home.app.settings, home.clock) as other:
        still(home.clock, other)
        other.after_erasing = HostTurns(other, home.clock, lambda: hosted).look_again
        erasing = asyncio.ensure_future(  # noqa: TID251
            other.erase(ErasureRequest(events=(line.id,), by="owner"))
        )
        await home.clock.advance(2)
        await home.app.ledger.follow()
        await home.clock.until(erasing)


async def test_an_erasure_beside_a_host_stays_for_its_turns(tmp_path: Path) -> None:
    """What the mate writes down afterwards goes, too."""
    async with scene(tmp_path, telling, keeps=False) as home:
        await erased_beside(home, hosted=True)
        assert await home.said()
        assert home.holding(WORD.encode()) == []


@pytest.mark.postgres
async def test_a_host_on_another_machine_is_known_by_its_claim(
    tmp_path: Path, postgres_url: str
) -> None:
    """Its turns are stayed for, too, where PostgreSQL holds the ledger."""
    async with scene(tmp_path, telling, keeps=False, database_url=postgres_url) as home:
        await erased_beside(home, hosted=False)
        assert await home.said()
        assert home.holding(WORD.encode()) == []


@pytest.mark.sqlite
async def test_nobody_is_waited_for_where_no_host_runs(tmp_path: Path) -> None:
    """A turn that was broken off by the host's end is no reason to wait."""
    async with scene(tmp_path, telling, keeps=False) as home:
        line = await told_line(home)
        await home.says("ana", ASK)
        await home.clock.advance(10)
        async with open_ledger_of(home.app.settings, home.clock) as other:
            other.after_erasing = HostTurns(other, home.clock, lambda: False).look_again
            assert (await other.erase(ErasureRequest(events=(line.id,), by="owner"))).refs
