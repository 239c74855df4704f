"""The Supervisor's voice: from its plan to what hangs in the air for everybody's next step.

What it means is taken from its plan; what each robot takes it for is made in robot_perception.py,
by that robot's own fear, trust and resentment.
"""

from collections.abc import Mapping
from typing import Any, cast, get_args

from loopforge.core.factory_vocabulary import Message
from loopforge.lab.world.city_state import Factory, SaidInCity
from loopforge.lab.world.robot_perception import MIDDLE
from loopforge.runtime.mind_containment import bounded_text

MESSAGES = frozenset(get_args(Message))


def set_supervisor_message(plan: Mapping[str, Any], env: Factory) -> None:
    """Let what the Supervisor says in this plan, as its row keeps it, be its message."""
    env.said = message_in_plan(plan)


def message_in_plan(plan: Mapping[str, Any]) -> SaidInCity:
    """The message in a plan of the Supervisor's; what is no message is silence."""
    meta: Mapping[str, Any] = plan.get("meta") or {}
    message = meta.get("message") if isinstance(meta, dict) else None
    if not isinstance(message, str) or message not in MESSAGES or message == "silence":
        return SaidInCity()
    force = meta.get("force")
    strength = MIDDLE.get(force, 500) if isinstance(force, str) else 500
    targets = plan.get("targets", ())
    text = bounded_text(meta.get("text") or "")
    if not text.isprintable():
        text = "".join(sign for sign in text if sign.isprintable())
    return SaidInCity(cast(Message, message), strength, text, targets[0] if targets else "")
