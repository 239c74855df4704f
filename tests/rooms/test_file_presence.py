"""Files of a room are for tools what they are for people: there for who was there when they came.

Ana gave one and had it looked at; then bo is brought in, and every way to it is tried.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from loopforge.core.room_vocabulary import File
from loopforge.runtime.ports import Question, ToolCall
from tests.rooms.conftest import Home, hum, living, write_mates
from tests.rooms.test_files import give
from tests.rooms.test_presence_attacks import WORD, said

PLAN = f"Towers of {WORD} glass, 40 of them.\n"


async def given(home: Home) -> str:
    """Ana gives a file in private, and ends that talk; its handle."""
    await home.enter("ana", "bo")
    home.room = (await home.private_room("ana")).removeprefix("room:")
    line = await give(home, "@maya keep this", ("plan.txt", PLAN.encode()))
    await home.does("ana", "new")
    return str(line.files[0].hash)[:8]


def call(home: Home, *names: str, **arguments: str) -> ToolCall:
    """A use of a tool for the last of these, who are all there."""
    here = tuple(home.people[name] for name in names)
    stream = f"room:{home.room}"
    return ToolCall(arguments=arguments, stream=stream, mate="maya", people=here[-1:], present=here)


WAYS: dict[str, dict[str, str]] = {
    "list_files": {},
    "read_result": {"file": "plan.txt"},
    "search_files": {"words": WORD},
    "skim_file": {"file": "plan.txt"},
}


@pytest.mark.parametrize("tool", WAYS)
async def test_a_tool_finds_no_file_that_somebody_present_was_not_given(
    tool: str, home: Home
) -> None:
    """Whoever asks; while ana is alone with maya it does."""
    await given(home)
    _, alone = await home.app.tools.call(tool, call(home, "ana", **WAYS[tool]))
    assert WORD in str(alone) or "plan.txt" in str(alone)
    await home.app.front.bring(home.room, home.people["ana"], home.people["bo"], "bo")
    for names in (("ana", "bo"), ("bo", "ana")):
        _, both = await home.app.tools.call(tool, call(home, *names, **WAYS[tool]))
        assert WORD not in str(both)
        assert "plan.txt," not in str(both)


@pytest.mark.parametrize("tool", WAYS)
async def test_what_a_file_of_before_gave_leaves_with_whom_it_was_for(
    tool: str, tmp_path: Path
) -> None:
    """Maya looked for ana alone; what she found is before her eyes no longer when bo is there."""

    def answer(question: Question) -> dict[str, Any]:
        text = str(question.messages)
        if "look again" not in text or f"[result of {tool}" in text or "bo:" in text:
            return dict(hum(question))
        return {"say": "", "tool": tool, "arguments": json.dumps(WAYS[tool])}

    write_mates(tmp_path, (), maya=f"---\nname: Maya\ntools: [{tool}]\n---\nYou are Maya.\n")
    async with living(tmp_path, answer) as home:
        await given(home)
        stream, bo = f"room:{home.room}", home.people["bo"]
        home.models.asked.clear()
        await said(home, stream, "ana", "@maya look again")
        assert "40 of them" in str(home.models.asked) or tool == "list_files"
        assert "plan.txt" in str(home.models.asked)
        await home.app.front.bring(home.room, home.people["ana"], bo, "bo")
        home.models.asked.clear()
        await said(home, stream, "bo", "@maya good day")
        assert home.models.asked
        for found in ("40 of them", "plan.txt"):
            assert found not in str([one.messages for one in home.models.asked])


async def test_a_mate_attaches_no_file_that_somebody_present_was_not_given(tmp_path: Path) -> None:
    """It still knows its handle; to ana alone it gives it."""
    handles = list[str]()

    def answer(question: Question) -> dict[str, Any]:
        text = str(question.messages)
        if "attach it" not in text:
            return dict(hum(question))
        if "[result of list_files" not in text:
            return {"say": "", "tool": "list_files", "arguments": "{}"}
        return hum(question) | {"attach": handles}

    write_mates(tmp_path, (), maya="---\nname: Maya\ntools: [list_files]\n---\nYou are Maya.\n")
    async with living(tmp_path, answer) as home:
        handles.append(await given(home))
        stream, bo = f"room:{home.room}", home.people["bo"]
        await said(home, stream, "ana", "@maya attach it")
        assert len(await attached(home)) == 1
        await home.app.front.bring(home.room, home.people["ana"], bo, "bo")
        await said(home, stream, "bo", "@maya attach it")
        assert len(await attached(home)) == 1


async def attached(home: Home) -> list[File]:
    """The files that maya attached."""
    events = [event.body for event in await home.events() if event.kind == "room.said"]
    return [file for body in events for file in getattr(body, "files", ())]


async def test_who_is_shown_the_past_is_shown_its_files(home: Home) -> None:
    """By tools, too."""
    await given(home)
    ana, bo = home.people["ana"], home.people["bo"]
    await home.app.front.bring(home.room, ana, bo, "bo", past=True)
    _, both = await home.app.tools.call("read_result", call(home, "ana", "bo", file="plan.txt"))
    assert WORD in str(both)
