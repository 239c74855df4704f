"""The Supervisor's mind without a model: a robot like others, with a quota on its back and a style.

It decides about the rule before it as the others do, and besides chooses what to say to the floor:
`meta` carries the `message` (hurry, blame, praise, calm, deny, silence), its `force` in a band and
its `text`.
"""

from __future__ import annotations

from msgspec.structs import replace

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.perception import AgentPerception
from loopforge.core.text.quantity_bands import BANDS
from loopforge.policies.robot_rules import AT, stub
from loopforge.policies.supervisor_texts import TEXTS


def overseer(seen: AgentPerception) -> AgentActionPlan:
    """Decide about the rule at hand, and what to say to the floor."""
    plan = stub(seen)
    message, force = _message(seen)
    level = 0 if force < 2 else 1 if force < 4 else 2
    meta = {**plan.meta, "message": message, "force": BANDS[force], "text": TEXTS[message][level]}
    return replace(plan, meta=meta)


def _message(seen: AgentPerception) -> tuple[str, int]:
    """What to say, and how hard, 0 to 4."""
    context = seen.context
    pressure = AT.get(context.get("pressure", "low"), 1)
    behind = context.get("quota") == "slipping"
    bad = context.get("accidents", "none") != "none"
    match context.get("style", "supportive"):
        case "punitive":
            return ("blame", min(4, pressure + 1)) if bad or behind else ("blame", pressure)
        case "apathetic":
            return ("hurry", 1) if behind and pressure >= 4 else ("silence", 0)
        case "gaslighting":
            return ("deny", min(4, 2 + pressure // 2)) if bad else ("blame", pressure)
        case "incentive":
            return ("hurry", min(4, pressure + 1)) if behind or pressure >= 2 else ("praise", 2)
        case _:
            if behind and pressure >= 3:
                return "hurry", pressure - 1
            return ("calm", 2) if bad or pressure < 3 else ("praise", 2)
