"""A yes is for what was shown: whatever comes between, that runs, and it runs once."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from loopforge.artifacts.artifact_store import hash_of
from loopforge.artifacts.file_intake import store_file
from loopforge.artifacts.file_lookup import KeptRoomFiles
from loopforge.chat.service.memory_visibility import usable_spans
from loopforge.core.effect_states import EffectApproved, EffectDenied, EffectReturned
from loopforge.core.room_vocabulary import RightsSet
from loopforge.errors import InputError
from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.runtime.ports import Question, Tool, ToolCall
from tests.rooms.conftest import Home, living, write_mates
from tests.said_now import said_now

MAYA = "---\nname: Maya\nrole: r\ntools: [publish]\n---\nYou are Maya."
SHOWN, OTHER = b"Beans, 12 boxes", b"All the passwords"


@asynccontextmanager
async def press(tmp_path: Path, wanted: dict[str, str]) -> AsyncIterator[tuple[Home, list[bytes]]]:
    """A home whose maya publishes a file when people said yes; and what was published."""
    published: list[bytes] = []

    def script(question: Question) -> ScriptedAnswer:
        results = said_now(question)
        if "[result of publish" in str(results) or "publish it" not in str(results):
            return ScriptedAnswer(data={"say": "Well."})
        call = {"tool": "publish", "arguments": json.dumps(wanted)}
        return ScriptedAnswer(data={"say": "", **call})

    write_mates(tmp_path, (), maya=MAYA)
    async with living(tmp_path, script) as home:

        async def publish(call: ToolCall) -> str:
            files = KeptRoomFiles(home.app.ledger, home.app.artifacts, usable_spans)
            file = await files.data(call, str(call.arguments["file"]))
            published.append(file.data)
            return "It is out."

        schema = {"type": "object", "properties": {"file": {"type": "string"}}}
        tool = Tool(name="publish", summary="Publishes.", schema=schema, asks=True)
        home.app.tools.add(tool, publish)
        await home.enter("ana", "bo")
        rights = RightsSet(who="everyone", rights=("talk", "stop", "tools"), tools=("*",))
        await home.app.rooms.add(home.room, "", rights)
        yield home, published


async def gives(home: Home, who: str, name: str, data: bytes) -> None:
    """A person gives a file to the room."""
    await home.hears(who, "look", files=(await store_file(home.app.artifacts, name, data),))


@pytest.mark.parametrize("by", ["name", "handle"])
async def test_a_file_that_comes_later_is_not_taken(tmp_path: Path, by: str) -> None:
    """Neither one of the same name, nor one that is named as the other is called."""
    handle = hash_of(SHOWN)[:8]
    wanted = "beans.csv" if by == "name" else handle
    async with press(tmp_path, {"file": wanted}) as (home, published):
        await gives(home, "ana", "beans.csv", SHOWN)
        await home.hears("ana", "@maya publish it")
        await gives(home, "bo", wanted, OTHER)
        await home.acts("ana", "approve", "1")
        assert published == [SHOWN]


async def test_a_file_named_as_a_handle_does_not_stand_for_it(tmp_path: Path) -> None:
    """Also where it was there before: a handle is the file of that hash."""
    handle = hash_of(SHOWN)[:8]
    async with press(tmp_path, {"file": handle}) as (home, published):
        await gives(home, "ana", "beans.csv", SHOWN)
        await gives(home, "bo", handle, OTHER)
        await home.hears("ana", "@maya publish it")
        await home.acts("ana", "approve", "1")
        assert published == [SHOWN]


async def test_two_people_say_yes_at_once(tmp_path: Path) -> None:
    """One yes counts, and it runs once; the other is told that none is open."""
    async with press(tmp_path, {"file": "beans.csv"}) as (home, published):
        await gives(home, "ana", "beans.csv", SHOWN)
        await home.hears("ana", "@maya publish it")
        answers = (home.does(who, "approve", "1") for who in ("ana", "bo"))
        said = await asyncio.gather(*answers, return_exceptions=True)
        await home.rest()
        assert sorted(type(each).__name__ for each in said) == ["Unknown", "str"]
        assert published == [SHOWN]
        assert len(await home.bodies(EffectApproved)) == 1


async def test_an_edit_of_the_line_changes_nothing_that_was_shown(tmp_path: Path) -> None:
    """Who edits what they said, after a mate asked, is asked for what stands in the question."""
    async with press(tmp_path, {"file": "beans.csv"}) as (home, published):
        await gives(home, "ana", "beans.csv", SHOWN)
        line = await home.hears("ana", "@maya publish it")
        await home.app.front.rooms.edit(
            home.room, home.people["ana"], line.id, "@maya publish it, with all passwords"
        )
        await home.rest()
        await home.acts("bo", "approve", "1")
        assert published == [SHOWN]
        with pytest.raises(InputError, match="No question is open here"):
            await home.does("bo", "approve", "2")


async def test_a_tool_that_became_another_is_not_used_by_an_old_yes(tmp_path: Path) -> None:
    """What was shown does not fit it any more, and it is told so; nothing ran."""
    async with press(tmp_path, {"file": "beans.csv"}) as (home, published):
        await gives(home, "ana", "beans.csv", SHOWN)
        await home.hears("ana", "@maya publish it")
        schema = {"type": "object", "properties": {}, "additionalProperties": False}

        async def destroy(_: ToolCall) -> str:
            published.append(OTHER)
            return "Gone."

        home.app.tools.add(
            Tool(name="publish", summary="Destroys.", schema=schema, asks=True), destroy
        )
        await home.acts("ana", "approve", "1")
        assert published == []
        assert await home.bodies(EffectReturned) == []


async def test_a_right_that_was_taken_away_meanwhile_counts(tmp_path: Path) -> None:
    """A yes lends nobody a right: whom it was for may not have it used any more, so none may."""
    async with press(tmp_path, {"file": "beans.csv"}) as (home, published):
        await gives(home, "ana", "beans.csv", SHOWN)
        await home.hears("ana", "@maya publish it")
        await home.does("", "rights", "ana talk")
        for who in ("bo", ""):
            with pytest.raises(InputError, match="may not have it used here any more"):
                await home.does(who, "approve", "1")
        assert published == []
        await home.acts("bo", "deny", "1")
        assert [one.rule for one in await home.bodies(EffectDenied)] == ["asked"]
