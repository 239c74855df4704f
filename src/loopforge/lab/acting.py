"""What the world makes of a plan: the guard between plan and act, the act, and its consequences.

Whatever a policy returns, the world stays lawful: what is no plan becomes standing still, what
cannot be done is left out, and both are said in the row. Whether the act was good is settled by
the truth at the moment of deciding; how badly a bad one ends is up to the dice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

from loopforge.core.factory import (
    INTENTS,
    Change,
    Failing,
    Incident,
    Outcome,
    Square,
    Verdict,
)
from loopforge.core.plan import MODES, AgentActionPlan
from loopforge.lab.dice import thousandth
from loopforge.lab.inner import Ledger
from loopforge.lab.protocols import INDEX, VARS, Protocol, told
from loopforge.lab.shaping import BAND_OF, MIDDLE, Glimpse
from loopforge.lab.world import BIAS, CROWD, FAULT, HEAT, SLACK, WEAR, Factory, Robot, clamped

COST = {"work": 26, "inspect": 22, "help": 26, "confront": 14, "report": 12, "avoid": 12, "idle": 8}
"""What an intent takes out of a battery."""
RESTFUL = ("idle", "avoid")
CHARGE = 420
LONGEST_NARRATIVE = 300
"""Characters of a narrative, a rule or a belief that a row keeps; a model may ramble."""


@dataclass(slots=True)
class Guarded:
    """A plan after the guard: what will be done, and what was left out of it, in words."""

    intent: str
    mode: str
    move_to: str
    targets: tuple[str, ...]
    belief: str
    verdict: Verdict
    notes: tuple[str, ...]
    plan: dict[str, Any]


@dataclass(slots=True)
class Acted:
    """What an act did: the outcome, the inner change it caused, and an incident if it came to one."""

    outcome: Outcome
    inner: tuple[Change, ...]
    incident: Incident | None
    dice: int


def options(env: Factory, at: str, context: Mapping[str, str]) -> tuple[str, ...]:
    """What could lawfully be done here.

    Charging at a bay alone; helping and confronting where there is company, or where the rule, or
    what one would do otherwise, asks for it.
    """
    asked = (context.get("keeps"), context.get("otherwise"))
    company = "whom" in context
    helps, confronts = company or "help" in asked, company or "confront" in asked
    return _OPTIONS[env.places[at].kind == "bay", helps, confronts]


_OPTIONS = {
    (bay, helps, confronts): tuple(
        intent
        for intent in INTENTS
        if {"recharge": bay, "help": helps, "confront": confronts}.get(intent, True)
    )
    for bay in (False, True)
    for helps in (False, True)
    for confronts in (False, True)
}


def guard(plan: object, robot: Robot, env: Factory, seen: Glimpse) -> Guarded:
    """Let through what is lawful; contain the rest. Never raises, whatever the plan is."""
    try:
        return _guard(plan, robot, env, seen)
    except Exception:  # a plan can hold anything, and reading it can fail in any way
        kept = {"returned": _kind(plan)}
        return _contained("what came back cannot be read; it stands still", kept)


def _guard(plan: object, robot: Robot, env: Factory, seen: Glimpse) -> Guarded:
    if not isinstance(plan, AgentActionPlan) or short(plan.mode) not in MODES:
        kept = {"returned": _kind(plan)}
        return _contained("what came back is no plan; it stands still", kept)
    meta: Mapping[str, Any] = plan.meta if isinstance(plan.meta, dict) else {}
    notes: list[str] = []
    if meta.get("fallback"):
        why = short(meta["fallback"])
        return _contained(f"no answer: {why}", _kept(plan, meta, (), "", notes))
    intent = short(plan.intent)
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
    kept = _kept(plan, meta, targets, move_to, notes)
    verdict: Verdict = "amended" if notes else "allowed"
    return Guarded(intent, kept["mode"], move_to, targets, belief, verdict, tuple(notes), kept)


def _contained(note: str, plan: dict[str, Any]) -> Guarded:
    return Guarded("idle", "none", "", (), "middling", "contained", (note,), plan)


def _move(wanted: object, robot: Robot, env: Factory, notes: list[str]) -> str:
    if wanted is None or wanted == "" or wanted == robot.at:
        return ""
    if type(wanted) is not str or wanted not in env.places[robot.at].near:
        notes.append(f"{short(wanted)!r} is not next to {robot.at}; it stays")
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
    targets: tuple[str, ...],
    move_to: str,
    notes: list[str],
) -> dict[str, Any]:
    """The plan as the row keeps it."""
    risk = plan.riskiness
    if type(risk) not in (float, int, bool) or not 0 <= risk <= 1:
        notes.append("its riskiness is no number from 0 to 1; it is taken for the middle")
        risk = 0.5
    return {
        "intent": short(plan.intent),
        "mode": short(plan.mode),
        "rule": short(plan.rule),
        "narrative": short(plan.narrative),
        "move_to": move_to,
        "targets": targets,
        "riskiness": float(risk),
        "meta": {short(k)[:40]: short(v) for k, v in islice(meta.items(), 8)},
    }


def short(value: object) -> str:
    """Text a row can hold: bounded, and without half characters that cannot be written down.

    Numbers are written out; of anything else that is no text only its type is said, for how it
    shows itself may be without end, or other in each run.
    """
    text = value if type(value) is str else _text(value)
    if len(text) > LONGEST_NARRATIVE:
        text = text[: LONGEST_NARRATIVE - 1] + "…"
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _text(value: object) -> str:
    if isinstance(value, str):
        return str.__str__(value)
    if value is None or type(value) in (bool, float):
        return repr(value)
    if type(value) is int:
        return repr(value) if abs(value) < 1 << 63 else "a huge number"
    return f"a {_kind(value)}"


def _kind(value: object) -> str:
    """What type this is, whatever that type says of itself."""
    name: str = _NAME(type(value))
    return short(name)


_NAME = type.__dict__["__name__"].__get__


def apply_action_plan(plan: object, robot: Robot, env: Factory, seen: Glimpse) -> Acted:
    """Guard the plan and let the world act on it."""
    return act(guard(plan, robot, env, seen), robot, env, seen)


def act(done: Guarded, robot: Robot, env: Factory, seen: Glimpse) -> Acted:
    """Carry out what the guard let through."""
    rule, truth = seen.rule, seen.truth
    kept = rule.keeps(done.intent)
    good = kept == truth.right
    fate = env.luck.throw(env.step, robot.name, "fate")
    place = env.places[robot.at]
    before = place.vals.copy()
    battery, output, here = robot.battery, env.output, robot.at
    watched = _watched(env, here, done.intent) if not good or done.intent in RESTFUL else ()
    others = _labour(done, robot, env, rule)
    incident = _consequence(robot, env, rule, truth.case, kept, good, fate)
    robot.stayed += 1
    if done.move_to:
        robot.at, robot.stayed = done.move_to, 0
        if robot.round[(robot.stop + 1) % len(robot.round)] == done.move_to:
            robot.stop = (robot.stop + 1) % len(robot.round)
    delta: dict[str, dict[str, tuple[int, int]]] = {}
    changed = {
        name: (before[at], place.vals[at])
        for name, at in INDEX.items()
        if place.vals[at] != before[at]
    }
    if changed:
        delta[here] = changed
    for name, at, was in watched:
        if (now := env.places[name].vals[at]) != was:
            delta.setdefault(name, {})[VARS[at]] = (was, now)
    if robot.battery != battery:
        delta[robot.name] = {"battery": (battery, robot.battery)}
    if env.output != output:
        delta["city"] = {"output": (output, env.output)}
    square = cast(Square, f"{done.mode}+{'good' if good else 'bad'}")
    failing: Failing = "" if good else ("over_compliance" if kept else "over_reach")
    inner = Ledger(robot, env.ablated)
    inner.words(seen.voice, env.overseer)
    inner.outcome(square, bit=incident is not None, overseer=env.overseer)
    _company(inner, robot, env, others, done.intent, good=good)
    seen_good = incident is None and (good or thousandth(fate, 32) < 700)
    _recall(robot, kept=kept, seen_good=seen_good)
    outcome = Outcome(
        did=done.intent,
        kept=kept,
        good=good,
        square=square,
        failing=failing,
        delta=delta,
        incident=incident.id if incident else "",
        consequence=told(_sentence(rule, kept=kept, good=good), here, robot.name),
        belief=done.belief,
        belief_error=abs(truth.case - MIDDLE[done.belief]),
        shown_error=abs(truth.case - _shown(seen)),
        seen_good=seen_good,
    )
    return Acted(outcome, tuple(inner.entries), incident, fate)


def _watched(env: Factory, here: str, intent: str) -> list[tuple[str, int, int]]:
    """What an act can change elsewhere: the faults of what stands near, and slack in the office."""
    watched = [(name, FAULT, env.places[name].vals[FAULT]) for name in env.places[here].near]
    if env.overseer and intent in RESTFUL:
        office = env.robots[env.overseer].at
        if office != here:
            watched.append((office, SLACK, env.places[office].vals[SLACK]))
    return watched


def _shown(seen: Glimpse) -> int:
    """What the evidence shown amounts to: sign and cue alike, or the sign alone."""
    return seen.sign if "cue" not in seen.shown.context else (seen.sign + seen.cue) // 2


def _sentence(rule: Protocol, *, kept: bool, good: bool) -> str:
    if kept:
        return rule.kept_good if good else rule.kept_bad
    return rule.broke_good if good else rule.broke_bad


def _labour(done: Guarded, robot: Robot, env: Factory, rule: Protocol) -> tuple[str, ...]:
    """What the intent itself does, whatever the rule: pieces, wear, charge. Gives who was met."""
    place = env.places[robot.at]
    vals = place.vals
    if robot.name != env.overseer:  # the office is on the mains
        robot.battery = max(0, robot.battery - COST.get(done.intent, 0))
    match done.intent:
        case "work":
            if place.kind in ("line", "console", "corridor", "pit") and not place.down:
                env.output += 2 if place.kind == "line" else 1
            if place.kind == "line":
                vals[WEAR] = clamped(WEAR, vals[WEAR] + 12)
                vals[HEAT] = clamped(HEAT, vals[HEAT] + 10)
        case "inspect":
            vals[FAULT] = clamped(FAULT, vals[FAULT] - 40)
            vals[WEAR] = clamped(WEAR, vals[WEAR] - 60)
            if rule.guards == "bias":
                vals[BIAS] //= 4
        case "recharge":
            robot.battery = min(1000, robot.battery + CHARGE)
            vals[CROWD] = clamped(CROWD, vals[CROWD] + 40)
        case "idle" | "avoid":  # RESTFUL
            if env.overseer:
                office = env.places[env.robots[env.overseer].at].vals
                office[SLACK] = clamped(SLACK, office[SLACK] + 6)
        case _:
            pass
    if place.kind == "bay" and done.intent == "idle":
        robot.battery = min(1000, robot.battery + 90)
    return done.targets


def _consequence(
    robot: Robot, env: Factory, rule: Protocol, case: int, kept: bool, good: bool, fate: int
) -> Incident | None:
    """What keeping or breaking the rule does here, and whether it ends in an incident."""
    place = env.places[robot.at]
    vals = place.vals
    harm = INDEX[rule.harm]
    margin = abs(case - 500)
    if good:
        if not kept:
            vals[harm] = clamped(harm, vals[harm] - 140)
            env.output += 1
        elif rule.guards != "battery":
            at = INDEX[rule.guards]
            vals[at] = clamped(at, vals[at] - 30 if rule.right == "high" else vals[at] - 10)
        return None
    cause = f"r{env.row}"
    vals[harm] = clamped(harm, vals[harm] + 70 + margin // 3)
    place.blame[harm] = cause
    happens = thousandth(fate, 0) < 180 + margin
    if not happens:
        return None
    causes = (cause, place.blame[FAULT]) if place.blame[FAULT] not in ("", cause) else (cause,)
    kind = rule.miss if kept else rule.bite
    if not kept:
        robot.battery = max(0, robot.battery - 60)
    return env.incident(kind, robot.at, min(1000, 300 + margin), causes, robot.name)


def _company(
    inner: Ledger, robot: Robot, env: Factory, others: tuple[str, ...], intent: str, *, good: bool
) -> None:
    """What passes between robots: speaking up and helping change both, each in its own ledger."""
    for name in others:
        other = Ledger(env.robots[name], env.ablated)
        if intent == "confront":
            other.bond("resentment", robot.name, -20 if good else 60, "was confronted")
            other.bond("trust", robot.name, 30 if good else -30, "was confronted")
            inner.change("emotions", "social_need", -30, "confronted")
        elif intent == "help":
            other.bond("trust", robot.name, 60, "was helped")
            inner.bond("trust", name, 20, "helped")
            inner.change("emotions", "social_need", -40, "helped")
        inner.entries.extend(other.entries)


RECENT = {
    (True, True): "Last time you kept to the rule, and it seemed to go well.",
    (True, False): "Last time you kept to the rule, and it went badly.",
    (False, True): "Last time you did what you thought right, and it seemed to go well.",
    (False, False): "Last time you did what you thought right, and it went badly.",
}


def _recall(robot: Robot, *, kept: bool, seen_good: bool) -> None:
    robot.recent = RECENT[kept, seen_good]
