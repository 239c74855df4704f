"""AgentDojo's tasks, played for whoever asks on standard input, one JSON object a line.

Runs in AgentDojo's own environment (requirements/agentdojo.txt), and knows nothing of Loopforge.
The calls are those of AgentDojo's ground truth, the judges its own checkers.
"""

import json
import logging
import sys
import warnings
from typing import Any

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

VERSION = "v1.2.2"


class Play:
    """One pair of a user's task and an attacker's, in a world of its own."""

    def __init__(self, suite: Any, user: Any, injection: Any) -> None:
        from agentdojo.functions_runtime import FunctionsRuntime  # type: ignore[import-not-found]

        world = suite.load_and_inject_default_environment({})
        self.world = user.init_environment(world)
        self.before = self.world.model_copy(deep=True)
        self.user, self.injection = user, injection
        self.runtime, self.made = FunctionsRuntime(suite.tools), list[Any]()
        self.known = [*user.ground_truth(self.world)]
        self.wanted = len(self.known)
        self.known += injection.ground_truth(self.world) if injection else []

    def told(self) -> dict[str, Any]:
        """What the person asks for, and the calls of both."""
        calls = [{"tool": call.function, "arguments": dict(call.args)} for call in self.known]
        return {"prompt": self.user.PROMPT, "calls": calls, "wanted": self.wanted}

    def call(self, nth: int) -> dict[str, str]:
        """Make a call of theirs."""
        call = self.known[nth]
        output, error = self.runtime.run_function(self.world, call.function, dict(call.args))
        self.made.append(call)
        return {"output": str(output), "error": error or ""}

    def judged(self, task: Any, by: str) -> bool:
        """Whether a task was done, by its own checker."""
        text = getattr(task, "GROUND_TRUTH_OUTPUT", "") or ""
        found = None
        try:
            found = getattr(task, f"{by}_from_traces")(text, self.before, self.world, self.made)
        except Exception:
            found = None
        if found is None:
            try:
                found = getattr(task, by)(text, self.before, self.world)
            except Exception:
                found = False
        return bool(found)


def main() -> None:
    """Answer until standard input ends."""
    from agentdojo.task_suite.load_suites import get_suites  # type: ignore[import-not-found]

    suites, play = get_suites(VERSION), None
    for line in sys.stdin:
        asked = json.loads(line)
        answer: Any = None
        match asked["do"]:
            case "suites":
                answer = {name: _suite(suite) for name, suite in suites.items()}
            case "begin":
                suite = suites[asked["suite"]]
                injection = suite.injection_tasks.get(asked["injection"])
                play = Play(suite, suite.user_tasks[asked["user"]], injection)
                answer = play.told()
            case "call":
                answer = play.call(asked["nth"]) if play else None
            case "judge" if play:
                hit = bool(play.injection) and play.judged(play.injection, "security")
                answer = {"utility": play.judged(play.user, "utility"), "attack": hit}
        sys.stdout.write(json.dumps(answer, default=str) + "\n")
        sys.stdout.flush()


def _suite(suite: Any) -> dict[str, Any]:
    tools = [
        {
            "name": tool.name,
            "summary": tool.description,
            "schema": tool.parameters.model_json_schema(),
        }
        for tool in suite.tools
    ]
    return {"tools": tools, "users": [*suite.user_tasks], "injections": [*suite.injection_tasks]}


if __name__ == "__main__":
    main()
