"""What a mate at work is asked with: who it is, the tools, what was said and seen, what is wanted.

    [character, how to work] [tools] [what earlier attempts taught] [the task and what came of it]
    [what is asked now]

What grows stands at the end of what was there before, so that providers cache the rest.
"""

from typing import Any

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.perception import AgentPerception, Line
from loopforge.core.policy import Answer, Message, Prompts
from loopforge.core.text.tool_markup import without_calls
from loopforge.core.work.work_vocabulary import FinishWork
from loopforge.policies.prompt_building import fields_of, fill_template, form_of, memory_messages

LISTING = 1
"""The message that lists the tools, where there are any."""


def work_messages(
    seen: AgentPerception, prompts: Prompts, asked: str, character: str = ""
) -> tuple[Message, ...]:
    """All messages of one question; `asked` names the prompt of what is wanted now.

    `character` is that of somebody else who is asked.
    """
    known = fields_of(seen)
    character = character or seen.context.get("character", "")
    head = "\n\n".join(filter(None, (character, fill_template(prompts["work"], known))))
    tools = (Message("system", (fill_template(prompts["tools"], known),)),) if seen.offered else ()
    lines = tuple(_message(line) for line in seen.lines if line.kind != "option")
    return (
        Message("system", (head,)),
        *tools,
        *memory_messages(seen),
        *lines,
        Message("user", (fill_template(prompts[asked], known),)),
    )


def _message(line: Line) -> Message:
    """One line of the task as a message."""
    match line.kind:
        case "mine" | "note":
            return Message("assistant", (line.text,))
        case "result":
            return Message("user", ("[", line.who, "]\n", line.text))
        case "told":
            return Message("user", ("[told] ", line.text))
        case _:
            return Message("user", (line.who, ": ", line.text))


def work_form(seen: AgentPerception) -> dict[str, Any]:
    """The form of an answer of a mate that acts."""
    fields: dict[str, Any] = {
        "thought": {"type": "string", "maxLength": 600},
        "plan": {"type": "array", "items": {"type": "string"}},
    }
    if seen.offered:
        names = [one.name for one in seen.offered]
        fields["calls"] = {
            "type": "array",
            "items": form_of(
                {
                    "tool": {"type": "string", "enum": names},
                    "arguments": {
                        "type": "string",
                        "description": "the tool's arguments, as JSON",
                    },
                }
            ),
        }
    fields["state"] = {"type": "string", "enum": ["going", "done", "question", "stuck"]}
    fields["say"] = {"type": "string"}
    fields["evidence"] = {"type": "string"}
    fields["confidence"] = {"type": "integer", "minimum": 0, "maximum": 100}
    return form_of(fields)


def told_as_result(answer: Answer, intent: str, narrative: str, note: str = "") -> AgentActionPlan:
    """A turn whose answer, and a note, is the task's result; `no_answer` where there is none."""
    said = without_calls(answer.text).strip()
    if answer.outcome != "answered" or not said:
        return no_answer(answer)
    done = FinishWork(result=f"{said}\n\n{note}" if note else said)
    return AgentActionPlan(intent=intent, mode="context", narrative=narrative, acts=(done,))


def no_answer(answer: Answer) -> AgentActionPlan:
    """A turn in which no model answered, or none to any purpose; what follows is the world's."""
    outcome = "malformed" if answer.outcome == "answered" else answer.outcome
    return AgentActionPlan(
        intent="trouble",
        mode="guardrail",
        rule="without an answer nothing is done",
        narrative=f"No answer could be used: {outcome}.",
        meta={"trouble": outcome},
    )
