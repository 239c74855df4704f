"""simple and breakglass: one answer, without tools.

breakglass is the same answer by the model that a person named: what else a task goes through was
skipped, which stands on record.
"""

from loopforge.core.perception import AgentPerception
from loopforge.core.policy import Mind, Policy, Prompts, Thinking, ask
from loopforge.policies.flows.task_prompt import told_as_result, work_messages

LONG = 2000
"""Tokens of an answer."""


def answering(prompts: Prompts) -> Policy:
    """The mind that answers at once, with these prompts."""

    def policy(seen: AgentPerception) -> Thinking:
        messages = work_messages(seen, prompts, "work-answer")
        answer = yield from ask(messages, purpose="answer", max_tokens=LONG, aloud=True)
        why = "I answered at once: there was nothing to do but to say it."
        return told_as_result(answer, "answer", why)

    return policy


SIMPLE = Mind("simple/1", answering, hidden=True)
BREAKGLASS = Mind("breakglass/1", answering, hidden=True)
