"""Tools for a small model: which one a line asks for, and what is said of what it gave.

A small model knows no tools, and is not left to choose among them: of the examples in
prompts/tool-small.md, the nearest to the line says which tool is wanted. The model fills in the
arguments, by that tool's JSON schema, but for those that are the line itself. Where they hold a
number, an address or a file that the line does not have, or a value out of the examples, it made
them up, and no tool is used. What the tool gave is said as it is, since a small model misreads it.
Measured in bench/README.md. Knows English alone.
"""

import json
import re
from functools import lru_cache
from typing import Any, NamedTuple

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.mates.mate_file import parse_dialogue
from loopforge.core.perception import AgentPerception, Line, ToolOffer
from loopforge.core.policy import Asking, Message, Prompts, ask, call
from loopforge.core.room_vocabulary import Say
from loopforge.core.text.prompt_rows import PLAIN, TEXT
from loopforge.policies.few_shot import sort_by_likeness
from loopforge.policies.prompt_building import fits_of, form_of, silent_plan
from loopforge.policies.speaker_messages import build_message

RULE = "what a tool gave is said as it is, not retold"
SHOTS = 4
"""Examples that it is shown, of the same tool with the same arguments."""
TOKENS = 80
"""Of its answer: a tool's arguments."""
LONGEST = 900
"""Characters that are said of what a tool gave."""
MOST_ATTACHED = 3
HERE, NOTHING = "Here it is.", "{} gave nothing."
"""What is said with files alone, and of nothing."""
_FILE = re.compile(r"\[file ([0-9a-f]{8}): (.*?), \S+/\S+, [\d,]+ bytes.*\]")
"""A file that a tool gave, as its last rows name it: handle and name."""
FILL = "You fill in what a line asks for."
LINE = "{line}"
"""What stands in an example where the argument is the line itself, which no model copies."""
_GIVEN = re.compile(r"https?://\S+|\d+(?:\.\d+)?|\b\w+\.[a-z]\w+")
"""Addresses, numbers, names of files: what nobody knows but who says it."""


class ToolExample(NamedTuple):
    """What somebody says, and the tool with the arguments that this wants."""

    said: str
    tool: str
    arguments: dict[str, Any]


@lru_cache(8)
def tool_examples(prompt: str) -> tuple[ToolExample, ...]:
    """The examples of prompts/tool-small.md; one that names no JSON object is left out."""
    found: list[ToolExample] = []
    for said, answer in parse_dialogue(prompt).examples:
        tool, _, written = answer.partition(" ")
        try:
            arguments = json.loads(written)
        except (ValueError, RecursionError):
            continue
        if isinstance(arguments, dict):
            found += [ToolExample(line, tool, arguments) for line in said.splitlines()]
    return tuple(found)


def plan_from_tool_result(seen: AgentPerception, to: str) -> AgentActionPlan | None:
    """The plan that says what a tool gave since this mind spoke last, as after a yes; else None.

    `to` is the line to reply to.
    """
    last = next((line for line in reversed(seen.lines) if line.kind not in ("told", "file")), None)
    if last is None or last.kind != "result":
        return None
    return _saying(str(last.text), str(last.who), to)


def plan_by_tool(
    seen: AgentPerception, prompts: Prompts, called: Line, to: str
) -> Asking[AgentActionPlan | None]:
    """Use the tool that `called` asks for: the plan that says what it gave, or None for no tool."""
    offered = {tool.name: tool for tool in seen.offered}
    known = [one for one in tool_examples(prompts["tool-small"]) if one.tool in offered]
    alike = sort_by_likeness(known, str(called.text), seen.name)
    if not alike:
        return None
    like = alike[-1]
    shots = [one for one in alike if _same_form(one, like)][-SHOTS:]
    arguments = yield from _filled(offered[like.tool], shots, called, seen)
    if arguments is None or _made_up(arguments, str(called.text), shots):
        return None
    result = yield from call(like.tool, arguments)
    if result.outcome == "deferred":
        return silent_plan(
            f"That is like “{like.said}”, so I wanted {like.tool} used; I wait for it."
        )
    return _saying(result.value, like.tool, to)


def _same_form(one: ToolExample, like: ToolExample) -> bool:
    return one.tool == like.tool and one.arguments.keys() == like.arguments.keys()


def _filled(
    tool: ToolOffer, shots: list[ToolExample], called: Line, seen: AgentPerception
) -> Asking[dict[str, Any] | None]:
    """The arguments that the line gives; None where the model gave none."""
    fields = tool.schema.get("properties", {})
    to_me = re.match(rf"@?{re.escape(seen.name)}\b[\s,:]*", str(called.text), re.IGNORECASE)
    name = to_me[0] if to_me else ""
    kinds = shots[-1].arguments.items()
    wanted = {each: fields[each] for each, value in kinds if each in fields and value != LINE}
    whole = {each: str(called.text)[len(name) :] for each, value in kinds if value == LINE}
    if not wanted:
        return whole
    messages = [Message("system", (FILL,))]
    for one in shots:
        messages.append(build_message("user", ((name, PLAIN), (one.said, TEXT))))
        messages.append(Message("assistant", (json.dumps(one.arguments),)))
    messages.append(build_message("user", ((called.text, TEXT),)))
    answer = yield from ask(
        tuple(messages),
        schema=form_of(wanted),
        purpose="tool",
        max_tokens=TOKENS,
        fits=fits_of(seen),
        exact=True,
    )
    return {**whole, **(answer.data or {})} if answer.outcome == "answered" else None


def _made_up(arguments: dict[str, Any], said: str, shots: list[ToolExample]) -> bool:
    """Whether they hold what the line does not: a number, or a value of the examples."""
    spoken = said.casefold()
    given = set(_GIVEN.findall(spoken))
    copied = {str(value).casefold() for one in shots for value in one.arguments.values()}
    values = [str(value).casefold() for value in arguments.values()]
    return any(
        not given.issuperset(_GIVEN.findall(value)) or (value in copied and value not in spoken)
        for value in values
    )


def _saying(value: str, tool: str, to: str) -> AgentActionPlan:
    """The plan that says what a tool gave."""
    rows = value.strip().split("\n")
    files = [found for row in rows if (found := _FILE.fullmatch(row)) and found[2] != f"{tool}.txt"]
    text = "\n".join(row for row in rows if row not in {found[0] for found in files}).strip()
    attach = tuple(dict.fromkeys(found[1] for found in files))[:MOST_ATTACHED]
    if len(text) > LONGEST:
        text = text[:LONGEST].rsplit(None, 1)[0] + " …"
    return AgentActionPlan(
        intent="talk",
        mode="guardrail",
        rule=RULE,
        narrative=f"The line asked for {tool}, so I said what that gave and added nothing.",
        acts=(
            Say(
                text=text or (HERE if attach else NOTHING.format(tool)), reply_to=to, attach=attach
            ),
        ),
    )
