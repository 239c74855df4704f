"""The seam's names once more, for readers who look for them here."""

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.perception import AgentPerception, Line
from loopforge.core.policy import All, Answer, Ask, Call, Policy, Result, ask, call
from loopforge.core.reflection import AgentReflection

__all__ = [
    "AgentActionPlan",
    "AgentPerception",
    "AgentReflection",
    "All",
    "Answer",
    "Ask",
    "Call",
    "Line",
    "Policy",
    "Result",
    "ask",
    "call",
]
