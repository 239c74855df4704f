"""What tools give besides words: kept, called by a handle, taken by other tools, gone when forgotten."""

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from loopforge.artifacts.artifact_store import hash_of
from loopforge.core.context_window import SHORTENED
from loopforge.core.effect_states import EffectReturned
from loopforge.core.room_vocabulary import Purged
from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.runtime.ports import Question, Tool, ToolCall, ToolFile, ToolResult
from tests.documents import saying
from tests.rooms.conftest import Home, living
from tests.said_now import said_now, using_what_is_asked

PLOT = (
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
    + (640).to_bytes(4, "big")
    + (480).to_bytes(4, "big")
    + b"\0" * 500
)
ANNALS = "".join(f"Year {year}: the slugs came.\n" for year in range(1000))
MATE = "---\nname: Maya\nrole: gardener\ntools: [sketch, annals, list_files]\n---\nYou are Maya."


@asynccontextmanager
async def study(
    tmp_path: Path, answers: Callable[[Question], ScriptedAnswer] = using_what_is_asked
) -> AsyncIterator[tuple[Home, list[ToolCall]]]:
    """A home whose maya plots, keeps annals, and hands a file to whoever measures it."""
    calls: list[ToolCall] = []

    async def plot(call: ToolCall) -> ToolResult:
        calls.append(call)
        return ToolResult(text="A plot.", files=(ToolFile(name="slugs.png", data=PLOT),), cost=0.25)

    async def annals(_: ToolCall) -> str:
        return ANNALS

    (tmp_path / "mates").mkdir(parents=True)
    (tmp_path / "mates" / "maya.md").write_text(MATE)
    async with living(tmp_path, answers) as home:
        for name, work in (("sketch", plot), ("annals", annals)):
            home.app.tools.add(Tool(name=name, summary="Tells.", idempotent=True), work)
        await home.hears("bo", "hello")
        await home.lends_tools()
        yield home, calls


def handle_in(told: str) -> str:
    """The handle that stands in what was told."""
    found = re.search(r"file ([0-9a-f]{8}): ", told)
    assert found, told
    return found[1]


async def test_a_call_knows_for_whom_it_is_and_a_picture_has_a_handle(tmp_path: Path) -> None:
    """The bytes lie beside the room's files, and the prompt holds no more than what they are."""
    async with study(tmp_path) as (home, calls):
        told = await home.uses("ana", "sketch")
        handle = hash_of(PLOT)[:8]
        size = f"image/png, {len(PLOT):,} bytes, 640 x 480 pixels"
        assert f"A plot.\n[file {handle}: slugs.png, {size}]" in told.replace("| ", "")
        call = calls[0]
        assert (call.mate, call.people) == ("maya", (home.people["ana"],))
        assert set(call.present) == {home.people["ana"], home.people["bo"]}
        assert call.until is not None
        assert call.until > home.clock.now()
        assert await home.app.artifacts.get(hash_of(PLOT)) == PLOT
        ends = await home.app.ledger.read(call.stream, kinds=["effect.returned"])
        assert [e.body.cost for e in ends if isinstance(e.body, EffectReturned)] == [0.25]


async def test_what_was_read_gives_way_before_what_was_said(tmp_path: Path) -> None:
    """At a full window results shrink to their handles, all at once; no line of anybody goes."""

    def briefly(question: Question) -> ScriptedAnswer:
        answer = using_what_is_asked(question)
        asked = [text for text in said_now(question) if "@maya use" in text]
        again = asked and '"number"' in asked[-1] and (answer.data or {}).get("say")
        return ScriptedAnswer(data={"say": "As before."}) if again else answer

    async with study(tmp_path, briefly) as (home, _):
        home.models.window = 9500
        handle = handle_in(await home.uses("ana", "annals"))
        for number in range(4):
            await home.uses("bo", "annals", number=number)
        (purge, *_) = await home.bodies(Purged)
        assert purge.shortened
        assert not purge.lines
        assert purge.after < purge.before / 2
        prompt = str(home.models.asked[-1].messages)
        assert "@maya use annals {}" in prompt
        assert SHORTENED in prompt
        assert f"file {handle}: " in prompt
        onward = await home.uses("ana", "read_result", file=handle, **{"from": 4000})
        assert "characters 4,000 to" in onward


async def test_a_long_result_is_read_on_in(tmp_path: Path) -> None:
    """Its head is told, the rest part by part, or where words stand."""
    async with study(tmp_path) as (home, _):
        told = await home.uses("ana", "annals")
        handle = handle_in(told)
        assert "[the first 4,000 of 25,890 characters; read_result reads on]" in told
        onward = await home.uses("ana", "read_result", file=handle, **{"from": 4000})
        assert "annals.txt, characters 4,000 to 7,482 of 25,890; it goes on from 7482:" in onward
        found = await home.uses("ana", "read_result", file="annals.txt", find="year 777:")
        assert "At " in found
        assert "Year 777: the slugs came." in found
        beyond = await home.uses("ana", "read_result", file=handle, **{"from": 99999})
        assert "annals.txt has only 25,890 characters" in beyond
        missing = await home.uses("ana", "read_result", file="nothing.txt")
        assert "No file 'nothing.txt' is here. Use list_files" in missing


async def test_a_document_that_a_tool_gave_is_read(tmp_path: Path) -> None:
    """As one that a person gave: by its words, and its words are found."""
    async with study(tmp_path) as (home, _):

        async def paper(_: ToolCall) -> ToolResult:
            data = saying("Slugs climb no copper wall.")
            return ToolResult(text="A paper.", files=(ToolFile(name="slugs.pdf", data=data),))

        home.app.tools.add(Tool(name="annals", summary="Tells.", idempotent=True), paper)
        handle = handle_in(await home.uses("ana", "annals"))
        await home.uses("ana", "read_result", file=handle)
        await home.finishes()
        assert "Slugs climb no copper wall." in (await home.lines())[-1]


async def test_what_a_tool_gave_for_one_is_not_read_for_another(tmp_path: Path) -> None:
    """Bo may have the tools used; what they gave for ana he is neither shown nor read."""
    async with study(tmp_path) as (home, _):
        handle = handle_in(await home.uses("ana", "annals"))
        assert handle in await home.uses("ana", "list_files")
        assert "There are no files in this room." in await home.uses("bo", "list_files")
        assert "is here" in await home.uses("bo", "read_result", file=handle)


async def test_with_the_room_its_results_are_gone(tmp_path: Path) -> None:
    """The bytes of a result are swept once nothing holds them."""
    async with study(tmp_path) as (home, _):
        await home.uses("ana", "sketch")
        await home.app.closing.close_room(home.room, home.people["ana"])
        await home.rest()
        await home.app.keeper.sweep()
        assert not await home.app.artifacts.has(hash_of(PLOT))
