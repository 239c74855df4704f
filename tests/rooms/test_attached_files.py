"""Files that tools made, attached to what a mate says: who gets them, who may not, what is gone."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from loopforge.artifacts.artifact_store import hash_of
from loopforge.artifacts.file_lookup import KeptRoomFiles
from loopforge.artifacts.file_retention import referenced_hashes
from loopforge.chat.room.room_store import stream_of
from loopforge.chat.service.memory_visibility import usable_spans
from loopforge.core.effect_states import EffectReturned
from loopforge.core.room_vocabulary import File, Said
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.runtime.ports import ToolCall, ToolFile
from tests.drawing_mate import MAYA, PICTURE, attaching, handles, with_draw
from tests.rooms.conftest import Home, living, write_mates

TABLE = "year,slugs\n2025,12\n2026,40\n"
KEY = "sk-garden-1234567890abcdef"


@asynccontextmanager
async def drawing(
    path: Path, pick: Callable[[str], list[str]] = handles, *files: ToolFile
) -> AsyncIterator[Home]:
    """A home whose maya draws these files, and attaches what she picks."""
    write_mates(path, (), maya=MAYA)
    environ = {"OPENAI_API_KEY": KEY}
    async with living(path, attaching(pick), environ=environ) as home:
        with_draw(home.app, *files)
        await home.hears("bo", "hello")
        yield home


async def drawn(home: Home, who: str = "ana") -> tuple[str, list[File]]:
    """What maya says when somebody has her draw, and the files that go with it."""
    await home.hears(who, "@maya draw the slugs")
    last = (await home.bodies(Said))[-1]
    return str(last.text), [*last.files]


async def test_a_picture_of_a_tool_goes_with_what_is_said(tmp_path: Path) -> None:
    """The line holds it by its hash, and its delivery is one like that of any line."""
    async with drawing(tmp_path) as home:
        text, (file,) = await drawn(home)
        assert text == "So many."
        assert (str(file.name), str(file.hash), file.media) == (
            "slugs.png",
            hash_of(PICTURE),
            "image/png",
        )
        assert (file.width, file.height) == (64, 48)
        assert not file.hash.public


async def test_a_table_is_attached_by_its_name_and_read_by_all(tmp_path: Path) -> None:
    """Its words are in the line, so that other mates read it; tools take it from there as well."""
    table = ToolFile(name="slugs.csv", data=TABLE.encode())
    async with drawing(tmp_path, lambda _: ["slugs.csv"], table) as home:
        _, (file,) = await drawn(home)
        assert str(file.text) == TABLE
        call = ToolCall(
            arguments={}, stream=stream_of(home.room), mate="zuzu", people=(home.people["bo"],)
        )
        _, text = await KeptRoomFiles(home.app.ledger, home.app.artifacts, usable_spans).text(
            call, "slugs.csv"
        )
        assert text == TABLE


async def test_what_is_not_there_is_missed_aloud(tmp_path: Path) -> None:
    """The words are said without it, and the room is told which file does not come."""
    async with drawing(tmp_path, lambda _: ["0badc0de"]) as home:
        assert await drawn(home) == ("So many.", [])
        told = "* Maya meant to send the file 0badc0de, but it is not here."
        assert told in await home.lines()


async def test_what_was_drawn_for_one_is_attached_for_nobody_else(tmp_path: Path) -> None:
    """Maya still has the handle of what she drew for ana when bo wants it; it stays where it is."""
    async with drawing(tmp_path, lambda told: handles(told) if "send" in told else []) as home:
        assert await drawn(home) == ("So many.", [])
        await home.hears("bo", "@maya send it to me")
        assert (await home.bodies(Said))[-1].files == ()
        assert any("meant to send the file" in line for line in await home.lines())
        await home.hears("ana", "@maya send it to me, then")
        assert (await home.bodies(Said))[-1].files


async def test_a_file_that_holds_a_key_does_not_go(tmp_path: Path) -> None:
    """Nor one that holds it backwards; the room is told that something was kept in."""
    backwards = f"a,b\n1,{KEY[::-1]}\n".encode()
    async with drawing(
        tmp_path, lambda _: ["a.csv"], ToolFile(name="a.csv", data=backwards)
    ) as home:
        assert (await drawn(home))[1] == []
        assert any("but it holds a key or password" in line for line in await home.lines())


async def test_forgetting_reaches_what_was_attached(tmp_path: Path) -> None:
    """Who has the result forgotten has it forgotten in the line as well, and its bytes go."""
    async with drawing(tmp_path) as home:
        await drawn(home)
        (own,) = [event for event in await home.events() if event.kind == "effect.returned"]
        assert hash_of(PICTURE) in await home.app.ledger.look(referenced_hashes)
        assert isinstance(own.body, EffectReturned)
        (file,) = own.body.files
        await home.app.ledger.erase(ErasureRequest(refs=(file.hash.ref,)))
        (said,) = [body for body in await home.bodies(Said) if body.files]
        assert said.files[0].hash.text is None
        await home.rest()
        await home.app.keeper.sweep()
        assert not await home.app.artifacts.has(hash_of(PICTURE))


async def test_a_mind_is_offered_it_where_there_is_a_file_alone(tmp_path: Path) -> None:
    """Before a tool gave one, the form has no such field, and no turn names it."""
    async with drawing(tmp_path) as home:
        await drawn(home)
        asked = [each for each in home.models.asked if each.field == "say"]
        told = ["attach" in json.dumps([each.schema, each.messages[-1]]) for each in asked]
        assert told[-2:] == [False, True]
