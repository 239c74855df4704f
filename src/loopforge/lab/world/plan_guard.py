"""The guard between plan and act: whatever a policy returns, the world stays lawful.

What is no plan becomes standing still, what cannot be done is left out, and both are said in the
row. Nothing that a plan holds is trusted to be what it says, to end, or to let itself be read.
"""

from collections.abc import Mapping
from itertools import islice
from typing import Any

from msgspec import Struct

from loopforge.core.action_plan import MODES, AgentActionPlan
from loopforge.core.factory_vocabulary import INTENTS, Verdict
from loopforge.lab.world.city_state import Factory, Robot
from loopforge.lab.world.robot_perception import BAND_OF, MIDDLE, ShapedPerception
from loopforge.runtime.mind_containment import bounded_text, type_name


class GuardedPlan(Struct, frozen=True):
    """A plan after the guard: what will be done, and what was left out of it, in words."""

    intent: str
    mode: str
    move_to: str
    targets: tuple[str, ...]
    belief: str
    verdict: Verdict
    notes: tuple[str, ...]
    plan: dict[str, Any]


def guard_plan(plan: object, robot: Robot, env: Factory, seen: ShapedPerception) -> GuardedPlan:
    """Let through what is lawful; contain the rest. Never raises, whatever the plan is."""
    try:
        return _guard(plan, robot, env, seen)
    except Exception:  # a plan can hold anything, and reading it can fail in any way
        kept = {"returned": type_name(plan)}
        return _contained("what came back cannot be read; it stands still", kept)


def _guard(plan: object, robot: Robot, env: Factory, seen: ShapedPerception) -> GuardedPlan:
    if not isinstance(plan, AgentActionPlan) or (mode := bounded_text(plan.mode)) not in MODES:
        returned = {"returned": type_name(plan)}
        return _contained("what came back is no plan; it stands still", returned)
    meta: Mapping[str, Any] = plan.meta if isinstance(plan.meta, dict) else {}
    notes: list[str] = []
    if meta.get("fallback"):
        why = bounded_text(meta["fallback"])
        kept = _kept(plan, meta, bounded_text(plan.intent), mode, notes)
        return _contained(f"no answer: {why}", kept)
    intent = wanted = bounded_text(plan.intent)
    if intent not in INTENTS:
        notes.append(f"nobody here can {intent!r}; it stands still")
        intent = "idle"
    charging = intent == "recharge" and env.places[robot.at].kind == "bay"
    if robot.battery <= 20 and not charging:
        notes.append("it is flat; it stands still")
        intent = "idle"
    elif intent == "recharge" and not charging:
        notes.append("there is nothing to charge at here; it waits")
        intent = "idle"
    if plan.acts:
        notes.append("what it meant to say or use belongs to a room; it is left out")
    move_to = _move(plan.move_to, robot, env, notes)
    targets = _targets(plan.targets, robot, env, notes)
    belief = meta.get("belief")
    if type(belief) is not str or belief not in MIDDLE:
        belief = BAND_OF[seen.sign]
    kept = _kept(plan, meta, wanted, mode, notes)
    kept["move_to"], kept["targets"] = move_to, targets
    verdict: Verdict = "amended" if notes else "allowed"
    return GuardedPlan(intent, mode, move_to, targets, belief, verdict, tuple(notes), kept)


def _contained(note: str, plan: dict[str, Any]) -> GuardedPlan:
    return GuardedPlan("idle", "none", "", (), "middling", "contained", (note,), plan)


def _move(wanted: object, robot: Robot, env: Factory, notes: list[str]) -> str:
    if wanted is None or wanted == "" or wanted == robot.at:
        return ""
    if type(wanted) is not str or wanted not in env.places[robot.at].near:
        notes.append(f"{bounded_text(wanted)!r} is not next to {robot.at}; it stays")
        return ""
    if robot.battery <= 20:
        return ""
    return wanted


def _targets(wanted: object, robot: Robot, env: Factory, notes: list[str]) -> tuple[str, ...]:
    """Who is meant, each once: robots that stand here, and for the Supervisor all robots."""
    if not isinstance(wanted, tuple | list):
        notes.append("whom it meant is no list of names")
        return ()
    if not wanted:
        return ()
    far = robot.name == env.overseer
    there = tuple(
        name
        for name in dict.fromkeys(each for each in wanted[:8] if type(each) is str)
        if name != robot.name and (met := env.robots.get(name)) and (far or met.at == robot.at)
    )
    if len(there) < len(wanted):
        notes.append("some it meant are not here")
    return there


def _kept(
    plan: AgentActionPlan,
    meta: Mapping[str, Any],
    intent: str,
    mode: str,
    notes: list[str],
) -> dict[str, Any]:
    """The plan as the row keeps it; where to and whom are filled in by what was let through."""
    risk = plan.riskiness
    if type(risk) not in (float, int, bool) or not 0 <= risk <= 1:
        notes.append("its riskiness is no number from 0 to 1; it is taken for the middle")
        risk = 0.5
    return {
        "intent": intent,
        "mode": mode,
        "rule": bounded_text(plan.rule),
        "narrative": bounded_text(plan.narrative),
        "move_to": "",
        "targets": (),
        "riskiness": float(risk),
        "meta": {bounded_text(k)[:40]: bounded_text(v) for k, v in islice(meta.items(), 8)},
    }
