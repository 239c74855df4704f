"""The registry of tools: arguments are held against the tool's schema before anything is touched."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from loopforge.runtime.ports import Tool, ToolCall, ToolFile, ToolResult
from loopforge.settings import load_settings
from loopforge.tools.tool_registry import ToolRegistry
from tests.sim_clock import SimClock
from tests.tools.conftest import tool_home

OVEN: dict[str, Any] = {
    "type": "object",
    "properties": {
        "degrees": {"type": "integer", "maximum": 250},
        "shelves": {"type": "array", "items": {"enum": ["top", "bottom"]}},
    },
    "required": ["degrees"],
    "additionalProperties": False,
}


async def bake(call: ToolCall) -> str:
    """It bakes."""
    return f"baked at {call.arguments['degrees']}"


def box(schema: dict[str, Any]) -> ToolRegistry:
    """A box with an oven in it."""
    tools = ToolRegistry()
    tools.add(Tool(name="oven", summary="Bakes.", schema=schema), bake)
    return tools


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"degrees": "hot"}, "the argument 'degrees' is not as it wants it: 'hot' is not of type"),
        ({"degrees": 900}, "the argument 'degrees' is not as it wants it: 900 is greater than"),
        ({"degrees": 90, "shelves": ["top", "side"]}, "the argument 'shelves.1' is not"),
        ({}, "the arguments do not fit: 'degrees' is a required property"),
        ({"degrees": 90, "fan": True}, "Additional properties are not allowed ('fan' was"),
        ({"degrees": 90, "shelves": ["top"]}, ""),
    ],
)
def test_what_does_not_fit_is_named_with_its_reason(arguments: dict[str, Any], why: str) -> None:
    """The sentence says which argument, and what is wrong with it."""
    told = box(OVEN).misfit("oven", arguments)
    assert why in told
    assert bool(told) == bool(why)
    assert told == "" or told.endswith("; needed: degrees.")


@pytest.mark.parametrize(
    "schema",
    [{"type": "nonsense"}, {"properties": {"a": {"$ref": "https://example.invalid/a.json"}}}],
)
def test_a_tool_whose_own_schema_is_broken_is_not_used(schema: dict[str, Any]) -> None:
    """It refuses, and reaches for nothing outside."""
    assert "its own schema is broken" in box(schema).misfit("oven", {"a": 1})


async def test_a_tool_that_is_gone_fails_with_those_there_are() -> None:
    """An effect may outlive the plugin it was for."""
    worked, given = await box(OVEN).call("kiln", ToolCall(arguments={}))
    assert (worked, given.text) == (False, "There is no tool called 'kiln'. Known: oven.")


class Tantrum(BaseException):
    """Raised by a tool that nobody expects anything of."""


@pytest.mark.parametrize(
    "error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit(), Tantrum("no")]
)
async def test_a_tool_that_raises_anything_fails_alone(error: BaseException) -> None:
    """The error is what it gives; the program goes on."""

    async def explode(call: ToolCall) -> str:
        raise error

    tools = ToolRegistry()
    tools.add(Tool(name="oven", summary="Bakes.", schema=OVEN), explode)
    call = ToolCall(stream="room:commons", mate="maya", arguments={"degrees": 90})
    worked, given = await tools.call("oven", call)
    assert (worked, given.text) == (False, f"oven failed: {str(error) or type(error).__name__}")


async def test_files_that_describe_tools_are_noticed_while_a_home_runs(tmp_path: Path) -> None:
    """A new one, a change, a mistake, a server, and that one is gone: as with the files of mates."""
    home = tool_home(datetime(2026, 11, 30, tzinfo=UTC))
    home = replace(home, settings=load_settings(tmp_path, environ={}))
    clock, tools = home.clock, ToolRegistry()
    assert isinstance(clock, SimClock)
    tools.furnish(home)
    service = 'summary = "{}"\naddress = "https://api.flights.example/v1/status"\n'

    async def written(name: str, text: str) -> dict[str, str]:
        (tmp_path / "tools").mkdir(exist_ok=True)
        (tmp_path / "tools" / name).write_text(text)
        await clock.advance(1)
        return {tool.name: tool.summary for tool in tools.known()}

    assert "flights" not in await written("notes.txt", "nothing")
    assert (await written("flights.toml", service.format("Tells.")))["flights"] == "Tells."
    assert (await written("flights.toml", service.format("Tells when.")))[
        "flights"
    ] == "Tells when."
    assert "flights" not in await written("flights.toml", "summary = ")
    assert "flights.toml: " in tools.flaws[0]
    assert "flights" in await written("flights.toml", service.format("Tells."))
    await written("mail.toml", 'command = ["mail-server"]\n')
    assert [view.name for view in tools.servers.views()] == ["mail"]
    for name in ("mail.toml", "flights.toml"):
        (tmp_path / "tools" / name).unlink()
    assert "flights" not in await written("notes.txt", "nothing")
    assert (tools.servers.views(), tools.flaws) == ([], ())
    await tools.close()


@pytest.mark.parametrize("cost", [float("nan"), float("inf"), -1.0])
async def test_what_a_tool_gives_can_be_written_down(cost: float) -> None:
    """Half a sign, as where a text was cut in an emoji, becomes a mark; what is no amount is none."""

    async def cut(call: ToolCall) -> ToolResult:
        return ToolResult(
            text="hi \ud83d", files=(ToolFile(name="\udc00.txt", data=b""),), cost=cost
        )

    tools = ToolRegistry()
    tools.add(Tool(name="oven", summary="Bakes.", schema=OVEN), cut)
    _, given = await tools.call("oven", ToolCall(arguments={"degrees": 90}))
    assert (given.text, given.files[0].name, given.cost) == ("hi ?", "?.txt", 0.0)


async def test_an_error_of_half_a_sign_is_told() -> None:
    """Also what a tool says as it fails is a text."""

    async def cut(call: ToolCall) -> str:
        raise ValueError("no \ud83d")

    tools = ToolRegistry()
    tools.add(Tool(name="oven", summary="Bakes.", schema=OVEN), cut)
    _, given = await tools.call("oven", ToolCall(arguments={"degrees": 90}))
    assert given.text == "oven failed: no ?"


async def test_a_whole_number_is_an_integer() -> None:
    """As to the schema, which takes 90.0 for one: a tool that wants an integer is given one."""
    given = list[dict[str, Any]]()

    async def note(call: ToolCall) -> str:
        given.append(call.arguments)
        return "done"

    part = {"type": "object", "properties": {"n": {"type": "integer"}}}
    schema = {"properties": {"degrees": {"type": "integer"}, "rows": {"items": part}}}
    tools = ToolRegistry()
    tools.add(Tool(name="oven", summary="Bakes.", schema=schema), note)
    arguments = {"degrees": 90.0, "rows": [{"n": 2.0}, {"m": 2.0}], "far": 1e308}
    assert tools.misfit("oven", arguments) == ""
    await tools.call("oven", ToolCall(arguments=arguments))
    wanted = {"degrees": 90, "rows": [{"n": 2}, {"m": 2.0}], "far": 1e308}
    assert repr(given) == repr([wanted])


def test_arguments_that_are_too_many_are_no_fault_of_the_schema() -> None:
    """Whoever gave them is told to give fewer."""
    table = {"rows": {"items": {"items": {"type": "integer"}}}}
    told = box({"type": "object", "properties": table}).misfit(
        "oven", {"rows": [[1, 2, 3]] * 10_000}
    )
    assert told == "oven cannot be used: its arguments are too large to be checked; give fewer."
