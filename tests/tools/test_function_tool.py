"""A typed function as a tool, that of docs/tools.md first of all."""

import asyncio
import re
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import Field

from loopforge.errors import BadSettings
from loopforge.runtime.ports import ToolCall
from loopforge.tools import tool_registry
from loopforge.tools.function_tool import FunctionTool, tool_function
from loopforge.tools.programs.written_tools import WRITE_TOOL
from loopforge.tools.tool_registry import ToolRegistry
from tests.tools.conftest import tool_home

NOW = datetime(2026, 11, 23, tzinfo=UTC)
DOCS = Path(__file__).parents[2] / "docs" / "tools.md"


async def used(tool: object, monkeypatch: pytest.MonkeyPatch, **arguments: object) -> str:
    """What a mate is told by a tool that is installed as this."""
    monkeypatch.setattr(tool_registry, "load_plugins", lambda _: {"it": tool})
    box = ToolRegistry()
    box.furnish(tool_home(NOW))
    (known,) = [tool for tool in box.known() if tool != WRITE_TOOL]
    if wrong := box.misfit(known.name, dict(arguments)):
        return wrong
    _, result = await box.call(known.name, ToolCall(arguments=dict(arguments), mate="maya"))
    return result.text


async def test_the_one_of_the_docs_works(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its code is run as it stands there."""
    (code,) = re.findall(r"```python\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)
    made: dict[str, Any] = {}
    exec(compile(code, "dice.py", "exec"), made)
    assert made["throw"].tool.schema["properties"]["sides"]["description"] == "how many each has"
    told = await used(made["throw"], monkeypatch, dice=3, sides=1)
    assert told == "1, 1, 1: 3 in all, for maya"
    assert "needed: dice" in await used(made["throw"], monkeypatch, sides=6)
    assert "greater than the maximum of 100" in await used(made["throw"], monkeypatch, dice=101)


async def test_a_plain_function_is_one_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Undecorated; it changes something for all that is known, and needs a right."""

    def ring(bell: str, times: int = 1, loud: bool = False) -> str:
        """Rings a bell.

        Nobody is told of this paragraph.
        """
        return " ".join([bell.upper() if loud else bell] * times)

    assert await used(ring, monkeypatch, bell="ding", times=2) == "ding ding"
    tool = FunctionTool(ring).tool
    assert (tool.name, tool.summary, tool.harmless) == ("ring", "Rings a bell.", False)
    assert tool.schema == {
        "type": "object",
        "properties": {
            "bell": {"type": "string"},
            "times": {"type": "integer", "default": 1},
            "loud": {"type": "boolean", "default": False},
        },
        "required": ["bell"],
        "additionalProperties": False,
    }


def test_what_is_no_tool_is_named() -> None:
    """With what to do about it."""

    def silent(word: str) -> str:
        return word

    def untyped(word) -> str:  # type: ignore[no-untyped-def]
        """Says a word."""
        return str(word)

    def open_ended(*words: str) -> str:
        """Says words."""
        return str(words)

    def odd(word: Annotated[object, Field(gt=3)], path: ToolRegistry) -> str:
        """Says a word."""
        return str((word, path))

    for function, said in (
        (silent, "has no docstring"),
        (untyped, "'word' has no type"),
        (open_ended, "any number of arguments"),
        (odd, "Give each argument a type that JSON has"),
    ):
        with pytest.raises(BadSettings, match=said):
            tool_function()(function)


async def test_it_may_tell_how_far_it_is_from_its_thread() -> None:
    """What it tells is heard where everything else is, also of a function that is not `async`."""
    heard: list[tuple[str, float | None, int]] = []

    def knit(call: ToolCall, rows: int) -> str:
        """Knits."""
        for row in range(rows):
            call.tell(f"row {row}", row / rows)
        return "A sock."

    work = FunctionTool(knit).make(tool_home(NOW))

    def tell(text: str, part: float | None) -> None:
        heard.append((text, part, threading.get_ident()))

    assert await work(ToolCall(arguments={"rows": 2}, tell=tell)) == "A sock."
    await asyncio.sleep(0)
    here = threading.get_ident()
    assert heard == [("row 0", 0.0, here), ("row 1", 0.5, here)]
