"""Tools as functions of a program: what they are called, what they take, and how a checker sees it.

    {"properties": {"address": {"type": "string"}}, "required": ["address"]}
    ->  async def read_page(address: str) -> str: ...

A name that Python does not allow is changed: `git.log` is `git_log`, an argument `from` is `from_`.
"""

import keyword
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from loopforge.runtime.ports import Tool

TYPES = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "array": "list[Any]",
    "object": "dict[str, Any]",
}
HEAD = "from typing import Any, Literal\n"


def python_name(name: str) -> str:
    """The name as Python takes it."""
    plain = re.sub(r"\W", "_", name, flags=re.ASCII)
    plain = f"_{plain}" if plain[:1].isdigit() or not plain else plain
    return f"{plain}_" if keyword.iskeyword(plain) else plain


class ToolFunction:
    """A tool as a function: its parameters in order, those first that it cannot do without."""

    def __init__(self, tool: Tool) -> None:
        self.tool, self.name = tool, python_name(tool.name)
        fields: Mapping[str, Any] = tool.schema.get("properties") or {}
        needed = [name for name in tool.schema.get("required") or () if name in fields]
        self._fields, self._needed = fields, needed
        order = [*needed, *(name for name in fields if name not in needed)]
        self._named = {python_name(name): name for name in order}

    def arguments(self, given: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        """The tool's arguments, of those a program gives. Raises TypeError."""
        order = list(self._named)
        if len(given) > len(order):
            raise TypeError(f"{self.name}() takes {len(order)} arguments, {len(given)} were given")
        found = dict(zip(order, given, strict=False))
        for name, value in named.items():
            if name in found:
                raise TypeError(f"{self.name}() got several values for {name!r}")
            found[name] = value
        return {self._named.get(name, name): plain(value) for name, value in found.items()}

    def stub(self, *, waits: bool) -> str:
        """The function as a type checker is told of it."""
        parameters = ", ".join(
            f"{name}: {_type(self._fields[was])}{'' if was in self._needed else ' = ...'}"
            for name, was in self._named.items()
        )
        if not self._fields and self.tool.schema.get("additionalProperties") is not False:
            parameters = "**more: Any"
        return f"{'async ' if waits else ''}def {self.name}({parameters}) -> str: ...\n"


def functions_of(tools: Iterable[Tool]) -> dict[str, ToolFunction]:
    """Tools by the names of their functions; of two with one name the first."""
    found = dict[str, ToolFunction]()
    for tool in tools:
        function = ToolFunction(tool)
        found.setdefault(function.name, function)
    return found


def plain(value: Any) -> Any:
    """A value of a program as JSON has it; what is no JSON is an error. Raises TypeError."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case list() | tuple():
            return [plain(each) for each in value]
        case dict():
            return {str(key): plain(each) for key, each in value.items()}
    raise TypeError(f"a tool takes texts, numbers, lists and dicts, no {type(value).__name__}")


def _type(schema: object) -> str:
    if not isinstance(schema, dict):
        return "Any"
    choices = schema.get("enum")
    if isinstance(choices, list) and choices and all(isinstance(one, str) for one in choices):
        return f"Literal[{', '.join(map(repr, choices))}]"
    kind = schema.get("type")
    return TYPES.get(kind, "Any") if isinstance(kind, str) else "Any"
