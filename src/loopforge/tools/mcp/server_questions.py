"""What an MCP server asks people before it goes on (an elicitation), kept until somebody answers.

    a use that is asked for input -> the question as a file of the room, with all that goes on by it
    answer_server(question, answers), shown to people first -> the same use, with the answers

Nothing waits meanwhile: the answer may come days later, after a restart, and goes with the file
when that is forgotten.
"""

from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from loopforge.errors import InputError
from loopforge.runtime.mind_containment import as_json, bounded_text
from loopforge.runtime.ports import Tool, ToolFile, ToolResult, arguments_schema
from loopforge.tools.argument_check import worst_schema_error
from loopforge.tools.mcp.tool_listing import tool_name

MOST_QUESTIONS = 20
"""Things that people are asked for in one use; of further ones it is told that nobody answers."""
NOTHING_LIKE_IT = "that file is no question of a server; name the handle of the file it came as"

ANSWER_SERVER = Tool(
    name="answer_server",
    summary=(
        "Sends an MCP server what it asked people for, in their words, so that it goes on. "
        "Ask them first; never answer for them."
    ),
    schema=arguments_schema(
        ["question"],
        question={"type": "string", "description": "the handle of the question's file"},
        answers={"type": "object", "description": "a value for each field that it asks for"},
        decline={"type": "boolean", "description": "they will not say"},
    ),
    asks=True,
    patience=20.0,
    limit=1040.0,
)


class InputQuestion(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that is asked: a form of `schema`, or a visit to `url`; `key` names it."""

    key: str
    message: str
    schema: dict[str, Any] = {}
    url: str = ""


class AskedInput(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A use that stopped there: with `state` the server knows where it was."""

    server: str
    tool: str
    arguments: dict[str, Any]
    questions: tuple[InputQuestion, ...]
    state: str | None = None


def question_of(key: str, params: Any) -> InputQuestion:
    """A question as the SDK gives it, in one line. Raises InputError for what nobody can answer."""
    message = " ".join(bounded_text(params.message).split())
    if params.mode == "url":
        at = "".join(bounded_text(str(params.url)).split())
        if not at.startswith(("https://", "http://")):
            raise InputError(f"it asks people to open {at}, which is no page of the web")
        return InputQuestion(key=key, message=message, url=at)
    schema = params.requested_schema
    plain = schema if isinstance(schema, dict) else schema.model_dump(by_alias=True, mode="json")
    fields, needed = plain.get("properties"), plain.get("required") or []
    if not _are(fields, dict) or not isinstance(needed, list):
        raise InputError("it asks people for something by a form that is none")
    return InputQuestion(key=key, message=message, schema=plain)


def _are(fields: object, kind: type) -> bool:
    return isinstance(fields, dict) and all(isinstance(each, kind) for each in fields.values())


def server_question_result(asked: AskedInput) -> ToolResult:
    """What the mind is told of a question, and the file that it goes on by."""
    lines = [f"{asked.server} asks people for something before it goes on:"]
    for one in asked.questions:
        lines.append(f"- {one.message}" + (f" They are to open {one.url}" if one.url else ""))
        needed = one.schema.get("required") or ()
        for name, field in (one.schema.get("properties") or {}).items():
            about = field.get("description") or field.get("title") or ""
            lines.append(
                f"  {bounded_text(name)}{'' if name in needed else ' (may be left out)'}: "
                f"{bounded_text(about)} "
                f"{as_json({k: v for k, v in field.items() if k not in ('description', 'title')})}"
            )
    lines.append(
        "Tell the people here what it asks, and wait. When they have answered, use answer_server "
        "with the handle of the question's file and what they said."
    )
    file = ToolFile(
        name=f"question-of-{asked.server}.json",
        data=msgspec.json.encode(asked),
        media="application/json",
    )
    return ToolResult(text="\n".join(lines), files=(file,))


def read_question(data: bytes, givers: Collection[str] = ()) -> AskedInput:
    """The question that a file holds, given by the tool that asked. Raises InputError.

    Anybody can write such a file, and so have a tool used in a way that people were not shown.
    """
    if (asked := question_in(data)) is None:
        raise InputError(NOTHING_LIKE_IT)
    if not {ANSWER_SERVER.name, tool_name(asked.server, asked.tool)} & {*givers}:
        raise InputError(f"nothing was sent: {asked.server} did not ask that")
    return asked


def question_in(data: bytes) -> AskedInput | None:
    """What a file would ask, if it has the form of a question."""
    try:
        return msgspec.json.decode(data, type=AskedInput)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def answers_of(
    asked: AskedInput, given: Mapping[str, Any], *, decline: bool
) -> dict[str, dict[str, Any]]:
    """What is sent, by the key of each question. Raises InputError for what does not fit."""
    if decline:
        return {one.key: {"action": "decline"} for one in asked.questions}
    found = dict[str, dict[str, Any]]()
    for one in asked.questions:
        if one.url:
            found[one.key] = {"action": "accept"}
            continue
        fields = one.schema.get("properties") or {}
        content = {name: value for name, value in given.items() if name in fields}
        if (wrong := worst_schema_error(one.schema, content)) is not None:
            raise InputError(
                f"nothing was sent, the answers do not fit: {bounded_text(wrong.message)}"
            )
        found[one.key] = {"action": "accept", "content": content}
    known = {name for one in asked.questions for name in one.schema.get("properties") or ()}
    if strange := [name for name in given if name not in known]:
        names = ", ".join(sorted(known)) or "nothing"
        raise InputError(f"nothing was sent: {strange[0]!r} was not asked for, but {names}")
    return found
