"""For scripts: one robot, one step, one day, for scripts and notebooks.

env = Factory(open_scenario("first_shift"), seed=7)
env.begin_step(0)
robot = env.robots["Sprocket"]
plan = decide_robot_action_plan(build_agent_perception(robot, env, 0))
"""

from typing import Any

from loopforge.core.factory_vocabulary import Change, Minded
from loopforge.core.reflection import AgentReflection
from loopforge.lab.run.robot_minds import decide_robot_action_plan, decide_supervisor_action_plan
from loopforge.lab.run.run_log import JsonlActionLogger, log_action
from loopforge.lab.run.step_loop import decided_row
from loopforge.lab.world.action_effects import ActionEffect, apply_guarded_plan
from loopforge.lab.world.city_state import Factory, Robot
from loopforge.lab.world.daily_reflection import (
    apply_reflection_to_traits,
    build_agent_reflection,
    summarize_agent_day,
)
from loopforge.lab.world.plan_guard import guard_plan
from loopforge.lab.world.robot_perception import shape_perception
from loopforge.lab.world.supervisor_message import set_supervisor_message


def decide_robot_action(agent: Robot, env: Factory, step: int) -> dict[str, Any]:
    """What this robot means to do now, as a plain dict; the world is not touched."""
    return decide_robot_action_plan(shape_perception(agent, env, step).shown).to_dict()


def decide_supervisor_action(
    supervisor: Robot, env: Factory, step: int, summary: str = ""
) -> dict[str, Any]:
    """What the Supervisor means to do and say now, as a plain dict; the world is not touched.

    `summary`, where one is given, is what it is told of the floor.
    """
    from msgspec.structs import replace

    seen = shape_perception(supervisor, env, step).shown
    shown = replace(seen, world_summary=summary) if summary else seen
    return decide_supervisor_action_plan(shown).to_dict()


def log_action_step(
    logger: JsonlActionLogger, agent: Robot, env: Factory, plan: object, policy: str = "own"
) -> ActionEffect:
    """Let the world act on a plan, and write the complete row of it to an action log."""
    seen, at = shape_perception(agent, env, env.step), agent.at
    guarded = guard_plan(plan, agent, env, seen)
    acted = apply_guarded_plan(guarded, agent, env, seen)
    if agent.name == env.overseer:
        set_supervisor_message(guarded.plan, env)
    row = decided_row(agent, at, env, seen, guarded, Minded(policy), acted)
    log_action(logger, row)
    env.row += 1
    return acted


def run_daily_reflection_for_agent(
    agent: Robot, env: Factory
) -> tuple[AgentReflection, tuple[Change, ...]]:
    """Summarize the day, reflect on it, and apply that; the reflection and the changes."""
    reflection = build_agent_reflection(summarize_agent_day(agent, env))
    changes = apply_reflection_to_traits(agent, reflection, env)
    agent.today, agent.beliefs = [], []
    return reflection, changes
