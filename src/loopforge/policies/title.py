"""title: a mind that names a conversation. It reads the room's lines and plans one Entitle."""

from __future__ import annotations

from typing import Any

from loopforge.core.perception import AgentPerception
from loopforge.core.plan import AgentActionPlan
from loopforge.core.policy import Message, Mind, Policy, Prompts, Thinking, ask
from loopforge.core.room import Entitle, StaySilent
from loopforge.policies.prompting import fields_of, fill, without_answer

VERSION = "title/1"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"title": {"type": "string", "minLength": 3, "maxLength": 48}},
    "required": ["title"],
    "additionalProperties": False,
}


def title(prompts: Prompts) -> Policy:
    """The naming mind with this prompt."""

    def policy(seen: AgentPerception) -> Thinking:
        talk: list[Any] = []
        for line in seen.lines:
            if line.kind == "told":
                continue
            talk += [line.who, ": ", line.text, "\n"]
        question = fill(prompts["title"], fields_of(seen))
        messages = (Message("user", (*talk, "\n", question)),)
        answer = yield from ask(messages, schema=SCHEMA, purpose="title", max_tokens=40)
        if answer.outcome != "answered" or answer.data is None:
            return without_answer(answer)
        name = str(answer.data.get("title") or "").strip()
        return AgentActionPlan(
            intent="name",
            mode="context",
            narrative="I named what the conversation is about.",
            acts=(Entitle(title=name),) if name else (StaySilent(why="no name came"),),
        )

    return policy


MIND = Mind(VERSION, title, hidden=True)
