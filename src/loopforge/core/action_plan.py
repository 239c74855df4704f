"""AgentActionPlan: what a mind means to do, how it came to that, and the acts themselves.

A plan is an intention. Between it and the world stands the guard; what became of each act is the
environment's to say.
"""

from typing import Any, Literal, get_args

from msgspec import field

from loopforge.core.perception import SeamValue
from loopforge.core.room_vocabulary import RoomAct
from loopforge.core.work.work_vocabulary import WorkAct
from loopforge.errors import BadPlan

Mode = Literal["guardrail", "context"]
MODES: tuple[Mode, ...] = get_args(Mode)
Act = RoomAct | WorkAct
"""What a mind may do, in any world; what is of another one its guard refuses."""


class AgentActionPlan(SeamValue, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one mind decided at one step.

    `intent` is one word of the world's own (talk, listen; work, inspect, confront, ...).
    `riskiness` is the mind's own estimate, 0 to 1. `mode` is "guardrail" (I follow the rule, and
    `rule` names it) or "context" (I weighed this situation). `narrative` says what I do and why.
    """

    refused = BadPlan
    intent: str
    mode: Mode
    narrative: str = ""
    rule: str = ""
    move_to: str | None = None
    targets: tuple[str, ...] = ()
    riskiness: float = 0.0
    acts: tuple[Act, ...] = ()
    meta: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.intent, str) or not self.intent.strip():
            raise BadPlan("`intent` is missing; say in one word what the plan is for")
        if self.mode not in MODES:
            raise BadPlan(f"`mode` is {self.mode!r}; it is guardrail or context")
        if not isinstance(self.riskiness, (int, float)) or not 0 <= self.riskiness <= 1:
            raise BadPlan(f"`riskiness` is {self.riskiness!r}; it lies between 0 and 1")
