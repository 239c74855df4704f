r"""Effects: what became of one use of a tool, as a table.

    proposed --Approved--> approved --Running--> running --Returned--> returned
        |--Denied--> denied                         |----Failed-----> failed
        \--Expired--> expired                       |----Expired----> expired
                                                    \----Unknown----> unknown

Stopped ends it wherever it stands. The effect's id is the id of its EffectProposed. What was under
way when the program died begins anew where the tool is idempotent; else nobody knows whether it
happened, and it is never made again.
"""

import hashlib
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from loopforge.core.limits.budget_limits import Charge
from loopforge.core.room_vocabulary import File, RoomClosed, Stopped
from loopforge.core.text.erasable_text import Words
from loopforge.core.work.work_vocabulary import TaskStopped

EffectState = Literal[
    "proposed",
    "approved",
    "denied",
    "running",
    "returned",
    "failed",
    "unknown",
    "stopped",
    "expired",
]

EFFECT_TABLE: dict[EffectState, dict[str, EffectState]] = {
    "proposed": {
        "effect.approved": "approved",
        "effect.denied": "denied",
        "effect.stopped": "stopped",
        "effect.expired": "expired",
    },
    "approved": {
        "effect.running": "running",
        "effect.failed": "failed",
        "effect.stopped": "stopped",
    },
    "running": {
        "effect.running": "running",
        "effect.returned": "returned",
        "effect.failed": "failed",
        "effect.unknown": "unknown",
        "effect.stopped": "stopped",
        "effect.expired": "expired",
    },
    "denied": {},
    "returned": {},
    "failed": {},
    "unknown": {},
    "stopped": {},
    "expired": {},
}
"""From a state, by an event's kind, to the next state. What is not here cannot happen."""


QUESTION_HOURS = 24
"""Hours that a use which asks waits for a yes, where a home says no other number."""


class EffectProposed(Struct, frozen=True, tag="effect.proposed", kw_only=True, omit_defaults=True):
    """A mind wants a tool used, by request `nth` of its turn; `arguments` are JSON.

    `asks`: people were asked, and it waits `hours` for the yes of one of them. `people` are those
    whom the turn answers. `within` is the effect of a program that wants it, as its call number
    `nth`; "" where the mind does. `charge` says for whom it is paid, beside what stands here
    anyway.
    """

    turn: str
    nth: int
    tool: str
    arguments: Words
    idempotent: bool = False
    asks: bool = False
    people: tuple[str, ...] = ()
    within: str = ""
    charge: Charge | None = None
    hours: int = QUESTION_HOURS


def paid_for(stream: str, mate: str, body: EffectProposed) -> Charge:
    """For whom a use of a tool is paid, whole."""
    charge = body.charge or Charge(person=next(iter(body.people), ""))
    return replace(charge, stream=stream, mate=mate, turn=body.turn, tool=body.tool)


class EffectApproved(Struct, frozen=True, tag="effect.approved", kw_only=True):
    """It may run; `by` says by whose leave: "rights" of whoever the mind answers, or a person."""

    effect: str
    by: str


class EffectDenied(Struct, frozen=True, tag="effect.denied", kw_only=True):
    """It does not run; `value` says why, to the mind too.

    `rule`: grant, arguments, asked, bounds, egress.
    """

    effect: str
    rule: str
    value: Words


class EffectRunning(Struct, frozen=True, tag="effect.running", kw_only=True):
    """It is about to run; written before the tool is touched."""

    effect: str


class EffectReturned(Struct, frozen=True, tag="effect.returned", kw_only=True, omit_defaults=True):
    """The tool gave this. `value` is what the mind is told; what it names by handle is in `files`.

    `cost` in US dollars, where the tool says so. `whole`: the first file is the whole text that
    `value` is the head of. `tells` are the ids of lines and memories of which it tells.
    """

    effect: str
    value: Words
    files: tuple[File, ...] = ()
    tells: tuple[str, ...] = ()
    cost: float = 0.0
    whole: bool = False


class EffectFailed(Struct, frozen=True, tag="effect.failed", kw_only=True):
    """The tool could not do it; `value` says how that came."""

    effect: str
    value: Words


class EffectUnknown(Struct, frozen=True, tag="effect.unknown", kw_only=True):
    """It may have happened or not, and nobody can find out; it is not made again."""

    effect: str
    value: Words


class EffectStopped(Struct, frozen=True, tag="effect.stopped", kw_only=True):
    """It was called off; `value` says why."""

    effect: str
    value: Words


class EffectExpired(Struct, frozen=True, tag="effect.expired", kw_only=True):
    """Its time was over before it was allowed, or before it was done."""

    effect: str
    value: Words


EffectEnd = (
    EffectDenied | EffectReturned | EffectFailed | EffectUnknown | EffectStopped | EffectExpired
)
EffectEvent = EffectProposed | EffectApproved | EffectRunning | EffectEnd


def approval_digest(effect: str, stream: str, mate: str, proposed: EffectProposed) -> str:
    """What a yes by a button is bound to: this use, of this tool, with these arguments, here.

    32 hex digits. An effect has one id and ends once, so that a yes counts once.
    """
    bound = (effect, stream, mate, proposed.tool, proposed.arguments.text or "")
    return hashlib.sha256("\0".join(bound).encode("utf-8", "replace")).hexdigest()[:32]


HALTS = {
    Stopped: "a person said stop",
    RoomClosed: "the room was deleted",
    TaskStopped: "the task was stopped",
}
"""What stops every open effect of its stream, and why."""
