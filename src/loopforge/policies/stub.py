"""stub: a mind with no model. Deterministic, so that everything around a mind can be tried.

It answers in one sentence made of what it heard, follows the rule "answer when spoken to" when its
trait guardrail_reliance is high, and otherwise weighs: it stays silent where nobody asked.
"""

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.perception import AgentPerception
from loopforge.core.policy import Mind
from loopforge.core.room_vocabulary import Say
from loopforge.core.text.quantity_bands import at_least
from loopforge.policies.prompt_building import UNASKED, silent_plan

VERSION = "stub/1"
RULE = "answer when spoken to"


def stub(seen: AgentPerception) -> AgentActionPlan:
    """Answer the last line heard, in one plain sentence."""
    heard = [line for line in seen.lines if line.kind in ("heard", "said")]
    if not heard:
        return silent_plan("Nothing was said.")
    last = heard[-1]
    by_rule = at_least(seen.traits.get("guardrail_reliance", "middling"), "high")
    if seen.context.get("summons") == UNASKED and not by_rule:
        return silent_plan(f"{last.who} did not ask me.")
    words = " ".join(str(last.text).split()[:12])
    return AgentActionPlan(
        intent="talk",
        mode="guardrail" if by_rule else "context",
        rule=RULE if by_rule else "",
        narrative=f"{last.who} spoke, and I showed that I heard it.",
        acts=(Say(text=f"{last.who}, I heard you say: {words}"),),
    )


MIND = Mind(VERSION, lambda _prompts: stub)
