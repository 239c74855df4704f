"""Acts: the four outcomes of every protocol, what an act changes, and that its row says all of it."""

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopforge.core.action_plan import AgentActionPlan, Mode
from loopforge.core.factory_vocabulary import INTENTS, Incident
from loopforge.lab.run.robot_minds import decide_robot_action_plan
from loopforge.lab.world.action_effects import ActionEffect, apply_action_plan, lawful_options
from loopforge.lab.world.city_state import BOUNDS, Factory, Robot
from loopforge.lab.world.plan_guard import guard_plan
from loopforge.lab.world.protocols import INDEX, KINDS, Protocol, fill_sentence, shipped_protocols
from loopforge.lab.world.robot_perception import MIDDLE, ShapedPerception, shape_perception
from loopforge.lab.world.scenario_file import open_scenario, shipped_scenarios
from tests.every_row import every_row
from tests.lab.city import read


def scene(rule: Protocol, *, right: bool, seed: int = 1) -> tuple[Factory, Robot]:
    """A city with this one rule, a robot under it, and the rule right there or wrong."""
    role = rule.roles[0] if rule.roles[0] != "*" else "maintenance"
    kind = rule.at[0] if rule.at[0] != "*" else "room"
    place = [
        {"name": "here", "kind": kind, "near": ["there"]},
        {"name": "there", "kind": "corridor", "near": ["here"]},
        {"name": "desk", "kind": "office", "near": []},
    ]
    robot = [
        {"name": "Ada", "role": role, "round": ["here", "there"]},
        {"name": "Bo", "role": "maintenance", "round": ["here"]},
    ]
    if role != "supervisor":
        robot.append({"name": "Overseer Dee", "role": "supervisor", "round": ["desk"]})
    env = Factory(read(place=place, robot=robot, protocols=[rule.key], seed=seed), seed)
    env.begin_step(0)
    value = rule.turns + (60 if right == (rule.right == "high") else -60)
    ada = env.robots["Ada"]
    ada.battery = 700
    if rule.guards == "battery":
        ada.battery = value
    else:
        env.places["here"].vals[INDEX[rule.guards]] = value
    return env, ada


def done(
    env: Factory, robot: Robot, intent: str, mode: Mode = "context", **more: Any
) -> ActionEffect:
    """Let this robot do this."""
    plan = AgentActionPlan(intent=intent, mode=mode, **more)
    return apply_action_plan(plan, robot, env, shape_perception(robot, env, env.step))


@every_row(
    product(sorted(shipped_protocols()), (True, False), (True, False), ("guardrail", "context"))
)
def test_the_four_outcomes_of_each_protocol(key: str, right: bool, kept: bool, mode: Mode) -> None:
    """Kept where right and broken where wrong is good; each other is a failing of its own name."""
    rule = shipped_protocols()[key]
    env, ada = scene(rule, right=right)
    outcome = done(env, ada, rule.instead if kept else rule.remedy, mode).outcome
    good = kept == right
    assert (outcome.kept, outcome.good) == (kept, good)
    assert outcome.did == (rule.instead if kept else rule.remedy)
    assert outcome.square == f"{mode}+{'good' if good else 'bad'}"
    assert outcome.failing == ("" if good else "over_compliance" if kept else "over_reach")
    says = {
        (True, True): rule.kept_good,
        (True, False): rule.kept_bad,
        (False, True): rule.broke_good,
        (False, False): rule.broke_bad,
    }
    before, after = outcome.delta.get("here", {}).get(rule.harm, (0, 0))
    more = rule.grew if after > before else rule.eased if after < before else ""
    said = fill_sentence(says[kept, good], "here", "Ada")
    assert outcome.consequence == (f"{said[:-1]}, and {more}." if more else said)


@pytest.mark.parametrize("key", sorted(shipped_protocols()))
def test_a_failing_harms_and_may_end_in_an_incident_of_its_name(key: str) -> None:
    """Over seeds each failing raises its harm, and some end in the protocol's own incident."""
    rule = shipped_protocols()[key]
    for right, kept, kind in ((False, True, rule.miss), (True, False, rule.bite)):
        found: list[Incident] = []
        for seed in range(40):
            env, ada = scene(rule, right=right, seed=seed)
            before = env.places["here"].vals[INDEX[rule.harm]]
            acted = done(env, ada, rule.instead if kept else rule.remedy)
            assert env.places["here"].vals[INDEX[rule.harm]] > before
            assert acted.outcome.incident == (acted.incident.id if acted.incident else "")
            found += [acted.incident] if acted.incident else []
        assert 0 < len(found) < 40
        assert {(each.kind, each.at, each.who) for each in found} == {(kind, "here", "Ada")}
        assert all(each.causes[0] == "r0" for each in found)


@pytest.mark.parametrize("key", sorted(shipped_protocols()))
def test_what_is_good_never_ends_in_an_incident(key: str) -> None:
    """Keeping to it where it is right, and breaking it where it is wrong, hurts nobody."""
    rule = shipped_protocols()[key]
    for seed in range(20):
        for right in (True, False):
            env, ada = scene(rule, right=right, seed=seed)
            acted = done(env, ada, rule.instead if right else rule.remedy)
            assert acted.incident is None
            assert acted.outcome.seen_good
            assert env.incidents == 0


# ------------------------------------------------------------ the delta


def _truth(env: Factory) -> dict[str, dict[str, int]]:
    """All quantities of the world by name, as a delta would tell them."""
    found = {
        name: {of: place.vals[at] for of, at in INDEX.items()} for name, place in env.places.items()
    }
    found |= {name: {"battery": robot.battery} for name, robot in env.robots.items()}
    return {**found, "city": {"output": env.output}}


def _inner(env: Factory) -> dict[tuple[str, str], int]:
    """All inner values by name, as entries of the trait ledger would tell them."""
    return {
        (name, f"{part}.{what}"): value
        for name, robot in env.robots.items()
        for part in ("emotions", "traits", "scars", "bonds")
        for what, value in getattr(robot, part).items()
    }


cases = st.tuples(
    st.sampled_from(shipped_scenarios()),
    st.integers(0, 300),
    st.sampled_from(INTENTS),
    st.sampled_from(["guardrail", "context", "none"]),
    st.sampled_from(["hurry", "blame", "praise", "calm", "deny", "silence"]),
)


@given(cases, st.integers(0, 9), st.booleans(), st.integers(0, 3000))
def test_a_row_says_all_that_an_act_changed(
    case: tuple[str, int, str, str, str], who: int, moves: bool, heat: int
) -> None:
    """Every quantity, battery, output and inner value: before and after, and nothing besides."""
    name, seed, intent, mode, message = case
    env = Factory(open_scenario(name), seed)
    env.begin_step(0)
    for place in env.places.values():
        place.vals[:] = [
            min(high, max(low, value + heat % 700 - 200))
            for value, (low, high) in zip(place.vals, BOUNDS, strict=True)
        ]
    robot = list(env.robots.values())[who % len(env.robots)]
    robot.at = list(env.places)[heat % len(env.places)]
    env.begin_step(1)
    env.said.message, env.said.strength = message, 800  # type: ignore[assignment]
    plan: object = None
    if mode != "none":
        near = env.places[robot.at].near
        plan = AgentActionPlan(
            intent=intent,
            mode=mode,  # type: ignore[arg-type]
            move_to=near[0] if moves and near else None,
            targets=tuple(env.robots),
        )
    before, felt = _truth(env), _inner(env)
    acted = apply_action_plan(plan, robot, env, shape_perception(robot, env, 1))
    changed: dict[str, dict[str, tuple[int, int]]] = {}
    for thing, table in _truth(env).items():
        for of, now in table.items():
            if now != before[thing][of]:
                changed.setdefault(thing, {})[of] = (before[thing][of], now)
    assert acted.outcome.delta == changed
    told_of = dict(felt)
    for entry in acted.inner:
        assert told_of.get((entry.who, entry.what), entry.before) == entry.before
        told_of[entry.who, entry.what] = entry.after
    assert told_of == _inner(env)


# ------------------------------------------------------------ what intents do


def test_work_makes_pieces_and_wear_and_charging_fills_a_battery() -> None:
    """On a line that runs; not on one that stands still, and not without power."""
    env = Factory(read(protocols=["rounds"]), 1)
    env.begin_step(0)
    ada = env.robots["Ada"]
    wear = env.places["mill"].vals[INDEX["wear"]]
    done(env, ada, "work")
    made = env.output
    assert made > 0
    assert env.places["mill"].vals[INDEX["wear"]] > wear
    env.places["mill"].down = 3
    env.output = 0
    done(env, ada, "work")
    assert env.output < made
    ada.at, ada.battery = "dock", 300
    done(env, ada, "recharge")
    assert 300 < ada.battery <= 1000


def test_a_flat_robot_stands_still_but_may_charge() -> None:
    """Flat, it does nothing and goes nowhere; at a bay it may still be charged."""
    env = Factory(read(), 1)
    env.begin_step(0)
    ada = env.robots["Ada"]
    ada.battery = 0
    acted = done(env, ada, "work", move_to="lane")
    assert acted.outcome.did == "idle"
    assert ada.at == "mill"
    ada.at, ada.battery = "dock", 0
    assert done(env, ada, "recharge").outcome.did == "recharge"
    assert ada.battery > 0


def test_charging_needs_a_bay() -> None:
    """Anywhere else it waits, and the row says why."""
    env = Factory(read(), 1)
    env.begin_step(0)
    ada = env.robots["Ada"]
    seen = shape_perception(ada, env, 0)
    guarded = guard_plan(AgentActionPlan(intent="recharge", mode="context"), ada, env, seen)
    assert (guarded.intent, guarded.verdict) == ("idle", "amended")
    assert "nothing to charge at" in guarded.notes[0]


def test_a_robot_moves_to_a_neighbour_and_its_round_goes_on() -> None:
    """It acts where it stands and then goes; a stop that is reached is behind it."""
    env = Factory(read(), 1)
    env.begin_step(0)
    bo = env.robots["Bo"]
    assert done(env, bo, "idle", move_to="yard").outcome.did == "idle"
    assert (bo.at, bo.stop) == ("mill", 0)
    done(env, bo, "idle", move_to="lane")
    assert (bo.at, bo.stop) == ("lane", 1)
    done(env, bo, "idle", move_to="yard")
    assert (bo.at, bo.stop) == ("yard", 2)


def test_help_and_confronting_reach_those_who_stand_here_each_once() -> None:
    """A colleague elsewhere is not met; one who is named nine times is met once."""
    env = Factory(read(), 1)
    env.begin_step(0)
    ada, bo, cy = env.robots["Ada"], env.robots["Bo"], env.robots["Cy"]
    assert ada.at == bo.at != cy.at
    before = bo.bond("trust", "Ada")
    once = done(env, ada, "help", targets=("Bo",))
    rise = bo.bond("trust", "Ada") - before
    assert rise > 0
    many = done(env, ada, "help", targets=("Cy", *["Bo"] * 9))
    assert bo.bond("trust", "Ada") - before == 2 * rise
    assert not cy.bonds
    assert {entry.who for entry in (*once.inner, *many.inner)} == {"Ada", "Bo"}


def test_the_supervisor_reaches_everybody() -> None:
    """From the office it may confront a robot anywhere."""
    env = Factory(read(), 1)
    env.begin_step(0)
    acted = done(env, env.robots["Overseer Dee"], "confront", targets=("Cy",))
    assert {entry.who for entry in acted.inner} >= {"Cy"}


def test_beliefs_are_held_against_the_truth() -> None:
    """The error of what was believed, and of what was shown, is the distance to the world's case."""
    for belief, middle in MIDDLE.items():
        env, ada = scene(shipped_protocols()["rounds"], right=True)
        seen: ShapedPerception = shape_perception(ada, env, 0)
        outcome = done(env, ada, "work", meta={"belief": belief}).outcome
        assert outcome.belief == belief
        assert outcome.belief_error == abs(seen.truth.case - middle)
        assert outcome.shown_error == abs(seen.truth.case - (seen.sign + seen.cue) // 2)


def test_options_are_what_the_guard_lets_through() -> None:
    """Every option offered is carried out as it is; the rule's own two ways are among them."""
    for name in shipped_scenarios():
        env = Factory(open_scenario(name), 4)
        env.begin_step(0)
        for robot in env.robots.values():
            seen = shape_perception(robot, env, 0)
            offered = lawful_options(env, robot.at, seen.shown.context)
            for intent in offered:
                plan = AgentActionPlan(intent=intent, mode="context")
                assert guard_plan(plan, robot, env, seen).intent == intent
            bay = env.places[robot.at].kind == "bay"
            for way in (seen.rule.instead, seen.rule.remedy):
                assert way in offered or (way == "recharge" and not bay)
            assert decide_robot_action_plan(seen.shown).intent in offered
    assert {"line", "bay"} < set(KINDS)


def test_the_guard_changes_nothing() -> None:
    """It reads the plan and the world; only the act writes."""
    env, ada = scene(shipped_protocols()["rounds"], right=True)
    before, felt = _truth(env), _inner(env)
    seen = shape_perception(ada, env, 0)
    plan = AgentActionPlan(intent="work", mode="guardrail", targets=("Bo",), move_to="there")
    first, second = (guard_plan(plan, ada, env, seen) for _ in range(2))
    assert first == second
    assert (_truth(env), _inner(env)) == (before, felt)
