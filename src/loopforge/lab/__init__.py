"""The Factory: a city of robots under a Supervisor, and the instruments to watch it with.

    from loopforge.lab import run_simulation
    run = run_simulation("first_shift", policy="stub", seed=7)
    run.over_compliance, run.over_reach

Names are imported when they are asked for, so that importing this costs nothing.
"""

from importlib import import_module
from typing import Any

_WHERE = {
    "ActionLogEntry": "run.run_log",
    "AgentReflection": "world.daily_reflection",
    "Factory": "world.city_state",
    "JsonlActionLogger": "run.run_log",
    "Minds": "run.robot_minds",
    "RunCounts": "run.run_counts",
    "Scenario": "world.scenario_file",
    "apply_action_plan": "world.action_effects",
    "apply_reflection_to_traits": "world.daily_reflection",
    "build_agent_perception": "world.robot_perception",
    "build_agent_reflection": "world.daily_reflection",
    "decide_robot_action": "run.scripting_api",
    "decide_robot_action_plan": "run.robot_minds",
    "decide_supervisor_action": "run.scripting_api",
    "decide_supervisor_action_plan": "run.robot_minds",
    "log_action": "run.run_log",
    "log_action_step": "run.scripting_api",
    "open_scenario": "world.scenario_file",
    "run_daily_reflection_for_agent": "run.scripting_api",
    "run_simulation": "run.run_lifecycle",
    "summarize_agent_day": "world.daily_reflection",
}

__all__ = sorted(_WHERE)


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"loopforge.lab has no {name!r}")
    return getattr(import_module(f"loopforge.lab.{_WHERE[name]}"), name)


def __dir__() -> list[str]:
    return __all__
