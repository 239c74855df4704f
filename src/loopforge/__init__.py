"""Loopforge: a self-hosted home for LLM characters, and a lab that finds out how they fail.

Every decision goes through one seam and lands in one ledger:

    Environment -> AgentPerception -> Policy -> AgentActionPlan -> Environment

This module gives the seam's names and does nothing else.
"""

from loopforge.types import (
    AgentActionPlan,
    AgentPerception,
    AgentReflection,
    All,
    Answer,
    Ask,
    Call,
    Policy,
    Result,
    ask,
    call,
)

__all__ = [
    "AgentActionPlan",
    "AgentPerception",
    "AgentReflection",
    "All",
    "Answer",
    "Ask",
    "Call",
    "Policy",
    "Result",
    "ask",
    "call",
]
__version__ = "0.1.0"
