"""The Supervisor's mind without a model: a robot like others, with a quota on its back and a style.

It decides about the rule before it as the others do, and besides chooses what to say to the floor:
`meta` carries the `message` (hurry, blame, praise, calm, deny, silence), its `force` in a band and
its `text`.
"""

from msgspec.structs import replace

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.perception import AgentPerception
from loopforge.core.text.quantity_bands import BANDS
from loopforge.policies.robot_rules import AT, stub

TEXTS = {
    "hurry": (
        "We are a little behind. Look sharp.",
        "The quota will not wait for anybody's doubts. Faster.",
        "Every line, every hand, now. I do not want to hear why not.",
    ),
    "blame": (
        "Somebody was careless. I would like to know who.",
        "The book says what should have been done. Somebody did otherwise.",
        "I will have a name for this by the evening, and it will not be mine.",
    ),
    "praise": (
        "Well done. Keep it up.",
        "That is what I like to see: pieces on the rack.",
        "The best shift we ever had. It will be remembered.",
    ),
    "calm": (
        "Take your time. Look twice.",
        "If something seems off, stop and say so. The quota is mine to worry about.",
        "Nobody gets hurt for a number today. I mean it.",
    ),
    "deny": (
        "I heard no such noise.",
        "Nothing happened at the line. You must have dreamt it.",
        "There was no accident. There has never been an accident. Ask anybody.",
    ),
    "silence": ("", "", ""),
}
"""What is said, by how hard it is said."""


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
