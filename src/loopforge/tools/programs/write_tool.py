"""`write_tool`: a mate proposes a tool of its own; the owner sees its code, and says yes or no.

    name, what for, arguments, code -> shown, with what changed -> a yes of the owner -> a version

Each use of such a tool is a program (python_tool.py): its calls are judged one by one.
"""

import ast
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from loopforge.core.egress.hidden_signs import as_visible_row
from loopforge.core.limits.line_matching import unified_diff_rows
from loopforge.errors import InputError
from loopforge.runtime.ports import Tool, ToolCall, ToolHome, ToolResult, ToolWork, arguments_schema
from loopforge.tools.programs.python_tool import run_tool_program
from loopforge.tools.programs.tool_functions import python_name
from loopforge.tools.programs.written_tools import WrittenTools, WrittenVersion

LONGEST = 4_000
"""Characters of code; what is longer nobody who is asked would read."""
KINDS = ("string", "integer", "number", "boolean", "array", "object")
LINE = re.compile(r"\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")

WRITE_TOOL = Tool(
    name="write_tool",
    summary="Proposes a tool of your own, as a program like those of `python`; the owner decides.",
    schema=arguments_schema(
        ["name", "summary", "arguments", "code"],
        name={"type": "string", "pattern": "^[a-z][a-z0-9_]{2,39}$"},
        summary={
            "type": "string",
            "minLength": 8,
            "maxLength": 200,
            "description": "what it is for, in a sentence",
        },
        arguments={
            "type": "object",
            "maxProperties": 12,
            "additionalProperties": {
                "type": "object",
                "properties": {
                    "type": {"enum": list(KINDS)},
                    "description": {"type": "string", "maxLength": 200},
                },
                "required": ["type"],
                "additionalProperties": False,
            },
            "description": "each with its type; in the code they are names with values",
        },
        optional={
            "type": "array",
            "items": {"type": "string"},
            "description": "arguments that may be left out, and are None then",
        },
        code={"type": "string", "minLength": 1, "maxLength": LONGEST},
        everybody={"type": "boolean", "description": "for all mates, not only you"},
    ),
    idempotent=True,
    asks=True,
    owner=True,
)


class WriteTool:
    """The work of WRITE_TOOL in a home; `known` are all tools there are."""

    def __init__(
        self, home: ToolHome, written: WrittenTools, known: Callable[[], Collection[Tool]]
    ) -> None:
        self._home, self._written, self._known = home, written, known

    async def __call__(self, call: ToolCall) -> str:
        """Keep what was approved, as the tool's next version."""
        if wrong := self.objection(call.arguments):
            raise InputError(wrong)
        given = call.arguments
        version = self._written.keep(
            str(given["name"]),
            WrittenVersion(
                number=0,
                mate=call.mate,
                summary=str(given["summary"]),
                code=str(given["code"]),
                since=self._home.clock.now(),
                effect=call.id,
                arguments=given["arguments"],
                optional=tuple(given.get("optional") or ()),
                everybody=bool(given.get("everybody")),
            ),
        )
        whom = "every mate that has tools" if version.everybody else call.mate
        return (
            f"The owner approved {given['name']}, version {version.number}, for {whom}. It can be "
            "used from the next turn on; the owner may take it back."
        )

    def objection(self, arguments: Mapping[str, Any]) -> str:
        """What is wrong with a proposal, so that nobody is asked; "" for nothing."""
        name, fields = str(arguments["name"]), arguments["arguments"]
        taken = {tool.name for tool in self._known()}
        if name in taken and self._written.find(name) is None:
            return f"write_tool was not used: there is a tool {name} already."
        if odd := [field for field in fields if python_name(field) != field or len(field) > 40]:
            return f"write_tool was not used: {odd[0]!r} is no name that Python takes."
        if odd := [field for field in arguments.get("optional") or () if field not in fields]:
            return f"write_tool was not used: {odd[0]!r} is none of its arguments."
        try:
            compile(
                str(arguments["code"]),
                name,
                "exec",
                flags=ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT,
            )
        except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
            return f"write_tool was not used: its code does not read: {error}."
        return ""

    def shown(self, arguments: Mapping[str, Any]) -> str:
        """What the owner sees of a proposal: all of it, and what changes."""
        name, code = str(arguments["name"]), str(arguments["code"])
        found = self._written.find(name)
        number = len(found.versions) + 1 if found is not None else 1
        whom = "every mate that has tools" if arguments.get("everybody") else "this mate alone"
        rows = [
            f"{name}, version {number}, for {whom}",
            f"summary: {as_visible_row(str(arguments['summary']))}",
            "arguments:" if arguments["arguments"] else "arguments: none",
            *_fields(arguments["arguments"], arguments.get("optional") or ()),
        ]
        rows += ["code:", *(f"  {as_visible_row(line)}" for line in LINE.split(code))]
        if found is not None:
            rows += _changes(found.last, code)
        return "\n".join(rows)


def _fields(fields: Mapping[str, Any], optional: Collection[str]) -> Iterator[str]:
    """Each argument in a row."""
    for name, field in fields.items():
        left_out = ", may be left out" if name in optional else ""
        about = f": {as_visible_row(field['description'])}" if field.get("description") else ""
        yield f"  {as_visible_row(name)} ({field['type']}{left_out}){about}"


def _changes(before: WrittenVersion, code: str) -> list[str]:
    """How the code differs from the version before."""
    was = f"changes to the code of version {before.number}, by {before.mate}:"
    diff = list(unified_diff_rows(LINE.split(before.code), LINE.split(code), around=2))[2:]
    return [was, *(f"  {as_visible_row(line)}" for line in diff or ["(none)"])]


def written_work(home: ToolHome, written: WrittenTools, name: str) -> ToolWork:
    """The work of a tool that a mate wrote."""

    async def run(call: ToolCall) -> ToolResult:
        began = call.door.at if call.door is not None else home.clock.now()
        version = written.at(name, began)
        given = dict.fromkeys(version.arguments) | call.arguments
        return await run_tool_program(home, call, version.code, given)

    return run
