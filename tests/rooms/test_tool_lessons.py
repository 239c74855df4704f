"""What a mate's tool failed at is kept as a lesson, and comes back before it is used again."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from loopforge.errors import InputError
from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.runtime.ports import Question, Tool, ToolCall
from loopforge.runtime.ports.memory_port import KeptItem
from tests.rooms.conftest import Home, living, write_mates
from tests.rooms.test_note_taking import HOURS

MATE = "---\nname: Maya\ntools: [kiln]\n---\nYou are Maya.\n"
KILN = Tool(
    name="kiln",
    summary="Fires clay.",
    schema={"type": "object", "properties": {"degrees": {"type": "integer"}}},
    harmless=True,
    idempotent=True,
    limit=7200,
)
LESSON = 'The tool kiln failed with {"degrees":4711}: the quixotic glaze cracks'
NOTHING: dict[str, Any] = {"notes": [], "facts": [], "wishes": [], "core": []}


def firing(question: Question) -> dict[str, Any] | ScriptedAnswer:
    """Maya fires clay too hot when she is asked to, and has nothing to note."""
    if "Note what will matter" in question.messages[0][1]:
        return NOTHING
    if "fire the clay" in str(question.messages[-3:]) and "[result of kiln" not in str(question):
        return {"say": "", "tool": "kiln", "arguments": json.dumps({"degrees": 4711})}
    return {
        "say": f"Hm, {len(str(question.messages))}.",
        "mode": "context",
        "rule": "",
        "narrative": "I hum.",
    }


@asynccontextmanager
async def pottery(path: Path, takes: float = 1) -> AsyncIterator[Home]:
    """A home where maya has a kiln, which fails after so many seconds."""
    write_mates(path, (), maya=MATE)
    async with living(path, firing, environ={"LOOPFORGE_MEMORY_KEEP": "all"}) as home:

        async def fire(_: ToolCall) -> str:
            await home.clock.sleep(takes)
            raise InputError("the quixotic glaze cracks")

        home.app.tools.add(KILN, fire)
        yield home


async def talk(home: Home) -> None:
    """Ana has maya fire clay, and the talk ends."""
    for line in ("@maya please fire the clay", "@maya how is it?", "nice weather"):
        await home.hears("ana", line)
    await home.passes(HOURS)


async def lessons(home: Home) -> list[KeptItem]:
    """What maya keeps of failures."""
    items = await home.app.memory.store.items("maya")
    return [one for one in items if one.layer == "lesson"]


async def prompts(home: Home, stream: str, name: str) -> list[str]:
    """What models were asked with when somebody spoke of the kiln there."""
    before, home.room = len(home.models.asked), stream.removeprefix("room:")
    await home.hears(name, "@maya what do you know of the kiln?")
    return [text for one in home.models.asked[before:] for _, text in one.messages]


async def test_a_failure_is_kept_once_and_comes_back_where_it_happened(tmp_path: Path) -> None:
    """With what it was called and what it said; a week later it stands before the mate's turn."""
    async with pottery(tmp_path) as home:
        await talk(home)
        (lesson,) = await lessons(home)
        assert (str(lesson.text), lesson.made_by, lesson.trusted) == (LESSON, "tool", False)
        assert (lesson.state, len(lesson.evidence)) == ("held", 2)
        await home.clock.advance(7 * 86_400)
        told = [text for text in await prompts(home, "room:commons", "ana") if "quixotic" in text]
        assert told
        assert "4711" in told[0]
        await talk(home)
        assert len(await lessons(home)) == 1


async def test_a_failure_is_told_to_nobody_who_was_not_there(tmp_path: Path) -> None:
    """In a private room of somebody else nothing of it comes up; in one of hers it does."""
    async with pottery(tmp_path) as home:
        await home.enter("ana", "bo")
        home.room = (await home.private_room("ana")).removeprefix("room:")
        await talk(home)
        assert await lessons(home)
        await home.clock.advance(86_400)
        bos, anas = await home.private_room("bo"), await home.private_room("ana")
        assert not any("quixotic" in text for text in await prompts(home, bos, "bo"))
        assert any("quixotic" in text for text in await prompts(home, anas, "ana"))


async def test_a_failure_that_comes_late_is_kept_too(tmp_path: Path) -> None:
    """The tool was called before the mate looked back, and failed after it."""
    async with pottery(tmp_path, takes=6000) as home:
        for nth in range(17):
            await home.hears("ana", "@maya please fire the clay" if not nth else f"hum {nth}")
        await home.clock.advance(300)
        assert await home.app.ledger.read("memory:maya", kinds=["turn.ended"])
        assert not await lessons(home)
        await home.clock.advance(7000)
        await home.hears("ana", "@maya and?")
        for nth in range(4):
            await home.hears("ana", f"humming {nth}")
        await home.passes(HOURS)
        assert [str(one.text) for one in await lessons(home)] == [LESSON]


@pytest.mark.parametrize("how", ["room", "item"])
async def test_a_lesson_goes_with_what_it_rests_on(how: str, tmp_path: Path) -> None:
    """Its room is deleted, or it is forgotten as an item: nothing of it stands in any file."""
    async with pottery(tmp_path) as home:
        await talk(home)
        assert home.holding(b"quixotic")
        (lesson,) = await lessons(home)
        if how == "room":
            await home.app.closing.close_room("commons", home.people["ana"])
            assert not home.holding(b"quixotic")
        else:
            await home.app.memory.store.forget(lesson.id, by="owner")
        assert (await lessons(home))[0].state == "forgotten"
        assert not home.holding(b"The tool kiln failed")
