"""triage: as what a task is taken, by a model that is held to a form.

Asked only where the words of a task say nothing clear. An answer that names what there is not is
taken as none.
"""

from typing import Any

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.perception import AgentPerception
from loopforge.core.policy import Message, Mind, Policy, Prompts, Thinking, ask
from loopforge.core.work.work_roles import COMPLEXITIES, ROLES, TYPES
from loopforge.core.work.work_vocabulary import Classify
from loopforge.policies.flows.task_prompt import no_answer
from loopforge.policies.prompt_building import fields_of, fill_template, form_of, is_small

FLOWS = ("sequential-thinking", "simple", "branch")
"""What a model may choose; the others are a person's to ask for."""

FORM = form_of(
    {
        "reason": {"type": "string", "maxLength": 200},
        "type": {"type": "string", "enum": list(TYPES)},
        "role": {"type": "string", "enum": list(ROLES)},
        "complexity": {"type": "string", "enum": list(COMPLEXITIES)},
        "flow": {"type": "string", "enum": list(FLOWS)},
    }
)


def triage(prompts: Prompts) -> Policy:
    """The mind that classifies, with these prompts."""

    def policy(seen: AgentPerception) -> Thinking:
        if is_small(seen):
            return AgentActionPlan(
                intent="classify",
                mode="guardrail",
                rule="a small model sorts no tasks",
                narrative="I run on a small model here, which cannot say what kind of task it is.",
            )
        task = seen.lines[0]
        messages = (
            Message("system", (fill_template(prompts["work-triage"], fields_of(seen)),)),
            Message("user", ("The task:\n", task.text)),
        )
        answer = yield from ask(messages, schema=FORM, purpose="triage", max_tokens=200)
        if answer.outcome != "answered" or answer.data is None or not _whole(answer.data):
            return no_answer(answer)
        data = answer.data
        act = Classify(
            task_type=data["type"],
            role=data["role"],
            complexity=data["complexity"],
            flow=data["flow"],
            reason=str(data.get("reason") or "")[:200],
        )
        return AgentActionPlan(intent="classify", mode="context", narrative=act.reason, acts=(act,))

    return policy


def _whole(data: dict[str, Any]) -> bool:
    fields: dict[str, Any] = FORM["properties"]
    return all(data.get(name) in field["enum"] for name, field in fields.items() if "enum" in field)


MIND = Mind("triage/1", triage, hidden=True)
