"""A typed Python function with a docstring as a tool; pydantic derives the schema and checks.

    @tool_function(harmless=True, idempotent=True)
    async def population(city: str, year: int = 2026) -> str:
        '''How many people live in a city.'''

Named by an entry point in `loopforge.tools`, decorated or not. What it is for is its docstring's
first paragraph; an argument is described by `Annotated[str, Field(description="...")]`. A parameter
of the type ToolCall is given the call itself, so that it may `tell` how far it is. A function that
is not `async` runs in a thread.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, get_type_hints

from msgspec.structs import replace

from loopforge.errors import BadSettings, InputError
from loopforge.runtime.ports import Tool, ToolCall, ToolHome, ToolResult, ToolWork

if TYPE_CHECKING:
    from pydantic import BaseModel


class FunctionTool:
    """The function as a plugin. Raises BadSettings where no tool can be made of it."""

    def __init__(self, function: Callable[..., Any], **declared: Any) -> None:
        self._function = function
        try:
            hints = get_type_hints(function, include_extras=True)
            self._form = _form(function, hints)
            schema = _plain(self._form.model_json_schema())
        except Exception as error:
            raise BadSettings(
                f"The function {function.__qualname__} is no tool: {error}. Give each argument a "
                "type that JSON has, such as str, int or list[str]."
            ) from error
        self._calls = [name for name, kind in hints.items() if kind is ToolCall]
        told = inspect.getdoc(function) or ""
        about = {"name": function.__name__, "summary": " ".join(told.partition("\n\n")[0].split())}
        if not (declared.get("summary") or about["summary"]):
            raise BadSettings(
                f"The function {function.__qualname__} is no tool: it has no docstring, by which "
                "mates would know what it is for."
            )
        self.tool = Tool(**(about | {"schema": schema} | declared))

    def make(self, home: ToolHome) -> ToolWork:  # noqa: ARG002
        """The same in every home."""

        async def work(call: ToolCall) -> str | ToolResult:
            if not inspect.iscoroutinefunction(self._function):
                call = replace(call, tell=_from_threads(call.tell))
            given = self._read(call.arguments) | dict.fromkeys(self._calls, call)
            if inspect.iscoroutinefunction(self._function):
                found = await self._function(**given)
            else:
                found = await asyncio.to_thread(self._function, **given)
            return found if isinstance(found, ToolResult) else str(found)

        return work

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """The function itself."""
        return self._function(*arguments, **named)

    def _read(self, arguments: dict[str, Any]) -> dict[str, Any]:
        from pydantic import ValidationError

        try:
            read = self._form.model_validate(arguments)
        except ValidationError as error:
            told = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
            raise InputError(told) from None
        return {name: getattr(read, name) for name in type(read).model_fields}


def tool_function(**declared: Any) -> Callable[[Callable[..., Any]], FunctionTool]:
    """Declare more of a function than stands in it: the fields of `Tool`, such as `asks=True`."""

    def made(function: Callable[..., Any]) -> FunctionTool:
        return FunctionTool(function, **declared)

    return made


def _from_threads(tell: Callable[[str, float | None], None]) -> Callable[..., None]:
    """The same for who works in a thread."""
    loop = asyncio.get_running_loop()

    def told(text: str, part: float | None) -> None:
        loop.call_soon_threadsafe(tell, text, part)

    return told


def _form(function: Callable[..., Any], hints: dict[str, Any]) -> type[BaseModel]:
    """A pydantic model of the function's arguments."""
    from pydantic import ConfigDict, create_model

    fields: dict[str, Any] = dict(_fields(function, hints))
    strict = ConfigDict(extra="forbid", arbitrary_types_allowed=False)
    return create_model(function.__name__, __config__=strict, **fields)


def _fields(
    function: Callable[..., Any], hints: dict[str, Any]
) -> Iterator[tuple[str, tuple[Any, Any]]]:
    for name, parameter in inspect.signature(function).parameters.items():
        if hints.get(name) is ToolCall:
            continue
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise TypeError(f"{parameter} is any number of arguments")
        if name not in hints:
            raise TypeError(f"the argument {name!r} has no type")
        none = parameter.default is parameter.empty
        yield name, (hints[name], ... if none else parameter.default)


def _plain(schema: Any) -> Any:
    """A schema without the titles that pydantic gives to everything."""
    if isinstance(schema, dict):
        named = {
            key: {name: _plain(part) for name, part in value.items()}
            if key in ("properties", "$defs")
            else _plain(value)
            for key, value in schema.items()
            if not (key == "title" and isinstance(value, str)) and key != "description"
        }
        told = schema.get("description")
        return named | ({"description": told} if isinstance(told, str) else {})
    return [_plain(part) for part in schema] if isinstance(schema, list) else schema
