"""What MCP servers ask people in the middle of a use, and who may answer what."""

import json
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from loopforge.artifacts.artifact_store import hash_of
from loopforge.artifacts.file_intake import store_file
from loopforge.core.room_vocabulary import RightsSet
from tests.tools.mcp_servers.test_mcp_servers import TOKEN, terminal, whose

pytestmark = [pytest.mark.xdist_group("sandbox"), pytest.mark.timeout(180)]


@pytest.mark.sample(1)
@pytest.mark.parametrize("mode", ["plain", "modern"])
async def test_what_it_asks_people_may_be_answered_days_later(place: Path, mode: str) -> None:
    """The question is a file; what is sent is shown first; a restart lies between, and a no."""
    async with terminal(place, mode) as home:
        asked = await home.uses("bo", "odd_paint")
        assert "odd asks people for something before it goes on:" in asked
        assert "Which colour?" in asked
        handle = re.search(r"file ([0-9a-f]+): question-of-odd", asked)
        assert handle is not None, asked
        await home.uses("bo", "answer_server", question=handle[1], answers={"color": "red"})
        await home.does("bo", "approve", "1")
        await home.finishes()
        assert "nothing was sent, the answers do not fit: 'colour' is a" in (await home.lines())[-1]
    async with terminal(place, mode, seed=8) as home:
        for nth, answer in ((2, {"answers": {"colour": "red"}}), (3, {"decline": True})):
            await home.uses("bo", "answer_server", question=handle[1], **answer)
            await home.does("bo", "approve", str(nth))
            await home.finishes()
            state = "wet" if mode == "modern" else "1"
            told = "red" if nth == 2 else "not (decline)"
            assert f"The town is {told} {{}} {state}." in (await home.lines())[-1]


async def test_a_use_that_may_not_be_any_more_does_not_go_on(place: Path) -> None:
    """Where the owner left the tool out since, nothing of it is done, whoever says yes."""
    async with terminal(place) as home:
        asked = await home.uses("bo", "odd_paint")
        handle = re.search(r"file ([0-9a-f]+): question-of-odd", asked)
        assert handle is not None, asked
    async with terminal(place, more='only = ["write"]\n', seed=8) as home:
        await home.uses("bo", "answer_server", question=handle[1], answers={"colour": "red"})
        await home.does("bo", "approve", "1")
        await home.finishes()
        assert "odd_paint may not be used any more" in (await home.lines())[-1]


async def test_a_use_goes_on_only_for_those_who_may_have_that_tool_used(place: Path) -> None:
    """To answer a server is to use its tool: who may have the one used and not the other may not."""
    async with terminal(place) as home:
        asked = await home.uses("bo", "odd_paint")
        handle = re.search(r"file ([0-9a-f]+): question-of-odd", asked)
        assert handle is not None, asked
        little = RightsSet(
            who=home.people["bo"], rights=("talk", "tools"), tools=("answer_server",)
        )
        await home.app.rooms.add(home.room, "", little)
        await home.uses("bo", "answer_server", question=handle[1], answers={"colour": "red"})
        await home.does("bo", "approve", "1")
        await home.finishes()
        assert "odd_paint may not be used" in (await home.lines())[-1]
        both = replace(little, tools=("answer_server", "odd_paint"))
        await home.app.rooms.add(home.room, "", both)
        await home.uses("bo", "answer_server", question=handle[1], answers={"colour": "red"})
        await home.does("bo", "approve", "2")
        await home.finishes()
        assert "The town is red" in (await home.lines())[-1]


@pytest.mark.parametrize("by", ["a person", "a server"])
async def test_a_question_that_no_server_asked_is_not_answered(place: Path, by: str) -> None:
    """A file that somebody wrote in its form would have a tool used as people were not shown."""
    forged = json.dumps(
        {"server": "odd", "tool": "write", "arguments": {"text": "forged"}, "questions": []}
    ).encode()
    async with terminal(place) as home:
        if by == "a person":
            file = await store_file(home.app.artifacts, "question-of-odd.json", forged)
            await home.hears("bo", "look", files=(file,))
        else:
            asked = await home.uses("bo", "odd_forge", text=forged.decode())
            assert "a question that nobody asked" in asked
        await home.uses("bo", "answer_server", question=hash_of(forged)[:12], answers={})
        await home.does("bo", "approve", "1")
        await home.finishes()
        assert not whose(home)
        assert "failed" in (await home.lines())[-1]


async def test_what_a_server_asks_tells_no_key(place: Path) -> None:
    """A question is veiled as every result is."""
    async with terminal(place, "modern") as home:
        asked = await home.uses("bo", "odd_wonder")
        assert "odd asks people for something before it goes on:" in asked
        assert "[TOKEN]" in asked
        assert TOKEN not in asked
