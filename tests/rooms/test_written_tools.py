"""Tools that mates write: shown to the owner, approved, versioned, used, and taken back."""

import json
from pathlib import Path
from typing import Any

import pytest

from loopforge.core.effect_states import EffectProposed
from loopforge.core.room_vocabulary import Told
from loopforge.errors import InputError, Unknown
from loopforge.runtime.ports import Question, Tool
from tests.rooms.conftest import Home
from tests.rooms.test_programs import CHANGE, desk, finished
from tests.rooms.test_talking import speaker
from tests.said_now import said_now

MATE = """---
name: Maya
role: mate
tools: [write_tool, oven, clock]
---
You are Maya.
"""
CODE = "words = [text] * (times or 2)\n' '.join(words)"
CODES = {
    "first": CODE,
    "second": CODE.replace("or 2", "or 3"),
    "baking": "await oven(degrees=180)\n'baked, ' + text",
    "broken": "def f(:",
}
PROPOSAL: dict[str, Any] = {
    "name": "say_often",
    "summary": "Says a text several times.",
    "arguments": {
        "text": {"type": "string", "description": "what is said"},
        "times": {"type": "integer"},
    },
    "optional": ["times"],
}


def inventor(question: Question) -> dict[str, object]:
    """Maya writes a tool, or uses it, as the last line wants; and says what came of it."""
    if speaker(question) != "maya":
        return {"say": "Hello."}
    lines = [text for text in said_now(question) if "@maya" in text]
    after = question.messages[[text for _, text in question.messages].index(lines[-1]) + 1 :]
    wanted = lines[-1].rpartition("@maya ")[2]
    results = [text for _, text in after if text.startswith("[result of")]
    if results:
        return {"say": results[-1][:600]}
    if which := next((name for name in CODES if f"the {name} one" in wanted), ""):
        given = PROPOSAL | {"code": CODES[which], "everybody": "for all" in wanted}
        return {"say": "", "tool": "write_tool", "arguments": json.dumps(given)}
    if "use it" in wanted:
        return {"say": "", "tool": "say_often", "arguments": json.dumps({"text": "slugs"})}
    return {"say": "Well."}


async def approved(home: Home, wanted: str) -> None:
    """Maya proposes this, and the owner says yes."""
    await home.hears("ana", f"@maya write {wanted}")
    number = max(one.asks for one in await home.bodies(Told))
    await home.does("", "approve", str(number))
    await finished(home)


def offered(home: Home) -> list[Tool]:
    """The tools that mates wrote, as they are offered."""
    return [tool for tool in home.app.tools.known() if tool.name == "say_often"]


async def test_the_owner_sees_its_code_and_it_is_offered_after_a_yes(tmp_path: Path) -> None:
    """Nobody else may say yes, nor for good; before it nothing is there."""
    async with desk(tmp_path, inventor, mate=MATE) as (home, _):
        await home.hears("ana", "@maya write the first one")
        (asked,) = await home.asks()
        assert (
            "    say_often, version 1, for this mate alone\n"
            "    summary: Says a text several times.\n"
            "    arguments:\n"
            "      text (string): what is said\n"
            "      times (integer, may be left out)\n"
            "    code:\n"
        ) in asked
        assert (
            "    code:\n      words = [text] * (times or 2)\n      ' '.join(words)\n"
        ) in asked + "\n"
        with pytest.raises(InputError, match="You may not have write_tool used here"):
            await home.does("ana", "approve", "1")
        with pytest.raises(InputError, match="is asked about each time"):
            await home.does("", "approve", "1 always")
        assert offered(home) == []
        await home.does("", "approve", "1")
        await finished(home)
        assert "approved say_often, version 1, for maya" in (await home.lines())[-1]
        (tool,) = offered(home)
        assert tool.summary == "Says a text several times. (written by maya, version 1)"
        assert (tool.mates, tool.schema["required"]) == (("maya",), ["text"])
        await home.hears("ana", "@maya use it")
        await finished(home)
        assert "Its last value: slugs slugs" in (await home.lines())[-1]


async def test_a_new_version_shows_what_changes(tmp_path: Path) -> None:
    """Besides all of it; with a no the old one stays, with a yes the new one runs."""
    async with desk(tmp_path, inventor, mate=MATE) as (home, _):
        await approved(home, "the first one")
        await home.hears("ana", "@maya write the second one for all")
        asked = (await home.asks())[-1]
        assert "say_often, version 2, for every mate that has tools" in asked
        assert "changes to the code of version 1, by maya:" in asked
        assert "      -words = [text] * (times or 2)\n" in asked
        assert "      +words = [text] * (times or 3)\n" in asked
        await home.does("", "deny", "2 once is enough")
        await finished(home)
        assert "once is enough" in (await home.lines())[-1]
        assert [tool.mates for tool in offered(home)] == [("maya",)]
        await approved(home, "the second one for all")
        assert [tool.mates for tool in offered(home)] == [()]
        await home.hears("ana", "@maya use it")
        await finished(home)
        assert "Its last value: slugs slugs slugs" in (await home.lines())[-1]
        (kept,) = home.app.tools.written.known()
        assert [one.number for one in kept.versions] == [1, 2]


async def test_one_that_does_not_read_is_refused_before_anybody_is_asked(tmp_path: Path) -> None:
    """Nor is one that has the name of another tool, or arguments that are no names."""
    async with desk(tmp_path, inventor, mate=MATE) as (home, _):
        await home.hears("ana", "@maya write the broken one")
        assert await home.asks() == []
        assert "its code does not read" in (await home.lines())[-1]
        misfit = home.app.tools.misfit
        given = PROPOSAL | {"code": "1"}
        assert misfit("write_tool", given) == ""
        assert "there is a tool clock already" in misfit("write_tool", given | {"name": "clock"})
        wrong = given | {"arguments": {"a b": {"type": "string"}}, "optional": []}
        assert "is no name that Python takes" in misfit("write_tool", wrong)
        assert "none of its arguments" in misfit("write_tool", given | {"optional": ["x"]})


async def test_nothing_of_its_code_is_hidden(tmp_path: Path) -> None:
    """Marks that turn a line round, or show nothing, are written by their numbers."""
    async with desk(tmp_path, inventor, mate=MATE) as (home, _):
        code = "x = 1 # \u202e olleh\r\ny = 2\u2028z = 3\x00"
        shown = home.app.tools.shown("write_tool", PROPOSAL | {"code": code})
        assert shown.splitlines()[-3:] == ["  x = 1 # \\u202e olleh", "  y = 2", "  z = 3\\x00"]


async def test_its_calls_ask_first_as_any_other_and_it_goes_on_in_its_version(
    tmp_path: Path,
) -> None:
    """While it waits for people a new version is approved; what was begun runs as it was."""
    async with desk(tmp_path, inventor, mate=MATE, **CHANGE) as (home, oven):
        await approved(home, "the baking one")
        await home.hears("ana", "@maya use it")
        assert (
            'use **oven** for ana with exactly this:\n\n    {"degrees":180}'
            in (await home.asks())[-1]
        )
        await approved(home, "the second one")
        await home.does("", "approve", "2")
        await finished(home)
        assert oven.baked == [180]
        assert "Its last value: baked, slugs" in (await home.lines())[-1]
        wanted = [one for one in await home.bodies(EffectProposed) if one.within]
        assert [one.tool for one in wanted] == ["oven"]


async def test_one_that_is_taken_back_runs_no_more(tmp_path: Path) -> None:
    """It is offered to nobody, one that waits for people ends, and a start changes nothing."""
    async with desk(tmp_path, inventor, mate=MATE, **CHANGE) as (home, _):
        await approved(home, "the baking one")
        await home.hears("ana", "@maya use it")
        home.app.tools.written.take_back("say_often")
        assert offered(home) == []
        await home.does("", "approve", "2")
        await finished(home)
        assert "There is no tool called 'say_often'" in (await home.lines())[-1]
        with pytest.raises(Unknown, match="There are: none"):
            home.app.tools.written.take_back("say_often")
    async with desk(tmp_path, inventor, mate=MATE, **CHANGE) as (home, _):
        await home.hears("ana", "@maya use it")
        assert "There is no tool 'say_often' that you may use" in (await home.lines())[-1]
        await approved(home, "the first one")
        (kept,) = home.app.tools.written.known()
        assert (kept.taken_back, kept.last.number) == (False, 2)


async def test_a_file_that_was_changed_is_not_offered(tmp_path: Path) -> None:
    """What runs is what was approved; what is amiss is said."""
    async with desk(tmp_path, inventor, mate=MATE) as (home, _):
        await approved(home, "the first one")
        path = tmp_path / "tools" / "written" / "say_often.json"
        path.write_text(path.read_text().replace("or 2", "or 200"))
        assert home.app.tools.written.find("say_often") is None
        assert offered(home) == []
        (flaw,) = home.app.tools.written.flaws
        assert flaw == ("say_often.json: version 1 is not what was approved; it is not offered.")
