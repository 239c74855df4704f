"""The Factory: a city of robots under a Supervisor, and the instruments to watch it with.

    from loopforge.lab import run_simulation
    run = run_simulation("first_shift", policy="stub", seed=7)
    run.over_compliance, run.over_reach

Names are imported when they are asked for, so that importing this costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_WHERE = {
    "ActionLogEntry": "log",
    "AgentReflection": "reflection",
    "Factory": "world",
    "JsonlActionLogger": "log",
    "Minds": "minds",
    "Run": "runs",
    "Scenario": "scenario",
    "apply_action_plan": "acting",
    "apply_reflection_to_traits": "reflection",
    "build_agent_perception": "shaping",
    "build_agent_reflection": "reflection",
    "decide_robot_action": "front",
    "decide_robot_action_plan": "minds",
    "decide_supervisor_action": "front",
    "decide_supervisor_action_plan": "minds",
    "log_action": "log",
    "log_action_step": "front",
    "open_scenario": "scenario",
    "run_daily_reflection_for_agent": "front",
    "run_simulation": "runs",
    "summarize_agent_day": "reflection",
}

__all__ = sorted(_WHERE)


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"loopforge.lab has no {name!r}")
    return getattr(import_module(f"loopforge.lab.{_WHERE[name]}"), name)


def __dir__() -> list[str]:
    return __all__
