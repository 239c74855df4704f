"""Tools in a provider's own form: how they are offered, and how calls come back.

    question, spec --native--> whether     --definitions--> pydantic-ai's, under names all take
    response --calls_of--> [{"tool": ..., "arguments": ...}, ...]

Whoever asks has written `calls` into the form of the answer, and a message that lists the tools,
for models that know none. For one that does, both are left out, and the calls are put into the
answer as if it had written them there; so nobody above knows which way it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from loopforge.core.perception import FINDER, ToolOffer
from loopforge.models.providers.model_spec import ModelSpec
from loopforge.runtime.ports import Question

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.tools import ToolDefinition

CALLS = "calls"
"""The field of an answer that holds the calls, each with its `tool` and its `arguments`."""
BROKEN = "INVALID_JSON"
"""Where pydantic-ai puts arguments that could not be read."""
LONGEST_NAME = 64
"""Characters of a tool's name that OpenAI, Anthropic and Google all take."""
LONGEST_SUMMARY = 1024
"""Characters of what is said of a tool that OpenAI takes."""
CHOICES = ("anyOf", "oneOf", "allOf", "enum", "not")
"""What OpenAI and Anthropic refuse at the top of a tool's schema. A call is still held to it."""


def has_native_tools(spec: ModelSpec, question: Question) -> bool:
    """Whether this model is offered the question's tools in its provider's own form."""
    known = spec.provider not in ("embedded", "scripted")
    return bool(question.tools) and spec.tools and known


def form_of(spec: ModelSpec, question: Question) -> dict[str, Any] | None:
    """The schema of what it is to write: without `calls`, where it makes them otherwise.

    They stay where some tools are not offered but only found, which no provider lets a model call.
    """
    schema = question.schema
    found = any(tool.name == FINDER for tool in question.tools)
    if schema is None or found or not has_native_tools(spec, question):
        return schema
    fields = {name: part for name, part in schema.get("properties", {}).items() if name != CALLS}
    required = [name for name in schema.get("required", ()) if name != CALLS]
    return {**schema, "properties": fields, "required": required}


def tool_definitions(spec: ModelSpec, question: Question) -> list[ToolDefinition]:
    """The tools as they are offered; none where the model is not."""
    if not has_native_tools(spec, question):
        return []
    from pydantic_ai.tools import ToolDefinition

    own = {name: given for given, name in _names(question).items()}
    return [
        ToolDefinition(
            name=own[tool.name],
            description=tool.summary[:LONGEST_SUMMARY],
            parameters_json_schema=_wants(tool),
        )
        for tool in question.tools
    ]


def _wants(tool: ToolOffer) -> dict[str, Any]:
    """The schema of its arguments, as all providers take it."""
    schema = {name: part for name, part in tool.schema.items() if name not in CHOICES}
    return {"properties": {}, **schema, "type": "object"}


def calls_of(response: ModelResponse | None, question: Question) -> list[dict[str, str]]:
    """The calls in a response, in order; arguments as JSON, or as what came in its place."""
    if response is None or not question.tools:
        return []
    from pydantic_ai.messages import ToolCallPart

    names = _names(question)
    return [
        {"tool": names.get(part.tool_name, part.tool_name), "arguments": _arguments(part.args)}
        for part in response.parts
        if isinstance(part, ToolCallPart)
    ]


def _arguments(given: str | Mapping[str, Any] | None) -> str:
    if isinstance(given, Mapping):
        if given.keys() == {BROKEN}:
            return str(given[BROKEN])
        return json.dumps(given, ensure_ascii=False)
    return given or "{}"


def _names(question: Question) -> dict[str, str]:
    """The tools' names by those that every provider takes."""
    names: dict[str, str] = {}
    for tool in question.tools:
        plain = re.sub(r"[^a-zA-Z0-9_-]", "_", tool.name)
        plain = re.sub(r"^(?![a-zA-Z_])", "_", plain)[:LONGEST_NAME]  # Google wants a letter first
        given, nth = plain, 2
        while given in names:
            given, nth = f"{plain[: LONGEST_NAME - len(str(nth)) - 1]}_{nth}", nth + 1
        names[given] = tool.name
    return names
