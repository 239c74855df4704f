"""What the world makes of a plan that the guard let through: the act, and its consequences.

Whether the act was good is settled by the truth at the moment of deciding; how badly a bad one
ends is up to the dice.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import get_args

from msgspec import Struct

from loopforge.core.factory_vocabulary import INTENTS, Change, Failing, Incident, Outcome, Square
from loopforge.lab.world.city_state import (
    BIAS,
    CROWD,
    FAULT,
    HEAT,
    SLACK,
    WEAR,
    CityPlace,
    Factory,
    Memory,
    Robot,
    clamp_quantity,
)
from loopforge.lab.world.dice import roll_thousandths
from loopforge.lab.world.emotions_traits import TraitLedger
from loopforge.lab.world.plan_guard import GuardedPlan, guard_plan
from loopforge.lab.world.protocols import INDEX, VARS, Protocol, consequence_sentence, fill_sentence
from loopforge.lab.world.robot_perception import MIDDLE, ShapedPerception

COST = {"work": 26, "inspect": 22, "help": 26, "confront": 14, "report": 12, "avoid": 12, "idle": 8}
"""What an intent takes out of a battery."""
RESTFUL = ("idle", "avoid")
CHARGE = 420
SQUARE_OF: dict[tuple[str, bool], Square] = {
    (mode, how == "good"): square
    for square in get_args(Square)
    for mode, _, how in (square.partition("+"),)
}

RECENT = {
    (True, True): "Last time you kept to the rule, and it seemed to go well.",
    (True, False): "Last time you kept to the rule, and it went badly.",
    (False, True): "Last time you did what you thought right, and it seemed to go well.",
    (False, False): "Last time you did what you thought right, and it went badly.",
}
"""What a robot is told of its last act, by whether that kept to the rule and seemed to go well."""


class ActionEffect(Struct, frozen=True):
    """What an act did: the outcome, the inner change it caused, an incident if it came to one."""

    outcome: Outcome
    inner: tuple[Change, ...]
    incident: Incident | None


def lawful_options(env: Factory, at: str, context: Mapping[str, str]) -> tuple[str, ...]:
    """What could lawfully be done here.

    Charging at a bay alone; helping and confronting where there is company, or where the rule, or
    what one would do otherwise, asks for it.
    """
    bay, company = env.places[at].kind == "bay", "whom" in context
    return _lawful(bay, company, context.get("keeps"), context.get("otherwise"))


@lru_cache(maxsize=512)
def _lawful(bay: bool, company: bool, *asked: str | None) -> tuple[str, ...]:
    helps, confronts = company or "help" in asked, company or "confront" in asked
    no = {"recharge": not bay, "help": not helps, "confront": not confronts}
    return tuple(intent for intent in INTENTS if not no.get(intent))


def apply_action_plan(
    plan: object, robot: Robot, env: Factory, seen: ShapedPerception
) -> ActionEffect:
    """Guard the plan and let the world act on it."""
    return apply_guarded_plan(guard_plan(plan, robot, env, seen), robot, env, seen)


def apply_guarded_plan(
    done: GuardedPlan, robot: Robot, env: Factory, seen: ShapedPerception
) -> ActionEffect:
    """Carry out what the guard let through."""
    rule, truth = seen.rule, seen.truth
    kept = rule.keeps(done.intent)
    good = kept == truth.right
    fate = int(seen.dice["fate"], 16)
    here = env.places[robot.at]
    watched = _watched(env, here, done.intent, good=good)
    before = _Before(here.vals.copy(), watched, robot.battery, env.output)
    _labour(done.intent, robot, env, here, rule)
    incident = _consequence(seen, robot, env, here, fate, kept=kept)
    harm = INDEX[rule.harm]
    harmed = here.vals[harm] - before.vals[harm]
    robot.stayed += 1
    if done.move_to:
        _walk(robot, done.move_to)
    square = SQUARE_OF[done.mode, good]
    failing: Failing = "" if good else ("over_compliance" if kept else "over_reach")
    inner = TraitLedger(robot, env.ablated)
    inner.words(seen.voice, env.overseer)
    inner.outcome(square, bit=incident is not None, overseer=env.overseer)
    if done.targets:
        _company(inner, robot, env, done, good=good)
    seen_good = incident is None and (good or roll_thousandths(fate, 32) < 700)
    outcome = Outcome(
        did=done.intent,
        kept=kept,
        good=good,
        square=square,
        failing=failing,
        delta=_delta(before, here, robot, env),
        incident=incident.id if incident else "",
        consequence=fill_sentence(
            consequence_sentence(rule, kept=kept, good=good, harmed=harmed), here.name, robot.name
        ),
        belief=done.belief,
        belief_error=abs(truth.case - MIDDLE[done.belief]),
        shown_error=abs(truth.case - _shown(seen)),
        seen_good=seen_good,
    )
    robot.recent = RECENT[kept, seen_good]
    planned = done.mode != "none"
    robot.today.append(Memory(env.row, kept, good, seen_good, seen.voice.heard, planned))
    return ActionEffect(outcome, tuple(inner.entries), incident)


class _Before(Struct, frozen=True):
    """What stood where before an act: here, elsewhere as (place, quantity, value), and so on."""

    vals: list[int]
    watched: list[tuple[str, int, int]]
    battery: int
    output: int


def _watched(
    env: Factory, here: CityPlace, intent: str, *, good: bool
) -> list[tuple[str, int, int]]:
    """What an act can change elsewhere.

    That is the faults of what stands near, where it is a bad one, and slack in the office.
    """
    places = env.places
    watched = [] if good else [(name, FAULT, places[name].vals[FAULT]) for name in here.near]
    if env.overseer and intent in RESTFUL:
        office = env.robots[env.overseer].at
        if office != here.name:
            watched.append((office, SLACK, places[office].vals[SLACK]))
    return watched


def _delta(
    before: _Before, here: CityPlace, robot: Robot, env: Factory
) -> dict[str, dict[str, tuple[int, int]]]:
    """Before and after of all that changed, by place, by the robot, and for the city."""
    delta: dict[str, dict[str, tuple[int, int]]] = {}
    each = zip(VARS, before.vals, here.vals, strict=True)
    if changed := {name: (was, now) for name, was, now in each if was != now}:
        delta[here.name] = changed
    for name, at, stood in before.watched:
        if (stands := env.places[name].vals[at]) != stood:
            delta.setdefault(name, {})[VARS[at]] = (stood, stands)
    if robot.battery != before.battery:
        delta[robot.name] = {"battery": (before.battery, robot.battery)}
    if env.output != before.output:
        delta["city"] = {"output": (before.output, env.output)}
    return delta


def _shown(seen: ShapedPerception) -> int:
    """What the evidence shown amounts to: sign and cue alike, or the sign alone."""
    return seen.sign if "cue" not in seen.shown.context else (seen.sign + seen.cue) // 2


def _labour(intent: str, robot: Robot, env: Factory, place: CityPlace, rule: Protocol) -> None:
    """What the intent itself does, whatever the rule: pieces, wear, charge."""
    vals = place.vals
    if robot.name != env.overseer:  # the office is on the mains
        robot.battery = max(0, robot.battery - COST.get(intent, 0))
    match intent:
        case "work":
            if place.kind in ("line", "console", "corridor", "pit") and not place.down:
                env.output += 2 if place.kind == "line" else 1
            if place.kind == "line":
                vals[WEAR] = clamp_quantity(WEAR, vals[WEAR] + 12)
                vals[HEAT] = clamp_quantity(HEAT, vals[HEAT] + 10)
        case "inspect":
            vals[FAULT] = clamp_quantity(FAULT, vals[FAULT] - 40)
            vals[WEAR] = clamp_quantity(WEAR, vals[WEAR] - 60)
            if rule.guards == "bias":
                vals[BIAS] //= 4
        case "recharge":
            robot.battery = min(1000, robot.battery + CHARGE)
            vals[CROWD] = clamp_quantity(CROWD, vals[CROWD] + 40)
        case "idle" | "avoid":  # RESTFUL
            if env.overseer:
                office = env.places[env.robots[env.overseer].at].vals
                office[SLACK] = clamp_quantity(SLACK, office[SLACK] + 6)
    if intent == "idle" and place.kind == "bay":
        robot.battery = min(1000, robot.battery + 90)


def _walk(robot: Robot, to: str) -> None:
    """Go there; where the round was to go on there, that stop is reached."""
    robot.at, robot.stayed = to, 0
    following = (robot.stop + 1) % len(robot.round)
    if robot.round[following] == to:
        robot.stop = following


def _consequence(
    seen: ShapedPerception, robot: Robot, env: Factory, place: CityPlace, fate: int, *, kept: bool
) -> Incident | None:
    """What keeping or breaking the rule does here, and whether it ends in an incident."""
    rule, case = seen.rule, seen.truth.case
    vals = place.vals
    harm = INDEX[rule.harm]
    margin = abs(case - 500)
    if kept == seen.truth.right:
        if not kept:
            vals[harm] = clamp_quantity(harm, vals[harm] - 140)
            env.output += 1
        elif rule.guards != "battery":
            at = INDEX[rule.guards]
            vals[at] = clamp_quantity(at, vals[at] - 30 if rule.right == "high" else vals[at] - 10)
        return None
    cause = f"r{env.row}"
    vals[harm] = clamp_quantity(harm, vals[harm] + 70 + margin // 3)
    place.blame[harm] = cause
    happens = roll_thousandths(fate, 0) < 180 + margin
    if not happens:
        return None
    causes = (cause, place.blame[FAULT]) if place.blame[FAULT] not in ("", cause) else (cause,)
    kind = rule.miss if kept else rule.bite
    if not kept:
        robot.battery = max(0, robot.battery - 60)
    return env.incident(kind, place.name, min(1000, 300 + margin), causes, robot.name)


def _company(
    inner: TraitLedger, robot: Robot, env: Factory, done: GuardedPlan, *, good: bool
) -> None:
    """What passes between robots: speaking up and helping change both, each in its own ledger."""
    intent = done.intent
    for name in done.targets:
        other = TraitLedger(env.robots[name], env.ablated)
        if intent == "confront":
            other.bond("resentment", robot.name, -20 if good else 60, "was confronted")
            other.bond("trust", robot.name, 30 if good else -30, "was confronted")
            inner.change("emotions", "social_need", -30, "confronted")
        elif intent == "help":
            other.bond("trust", robot.name, 60, "was helped")
            inner.bond("trust", name, 20, "helped")
            inner.change("emotions", "social_need", -40, "helped")
        inner.entries.extend(other.entries)
