"""shell: one command, as the person wrote it, by the rules of tools; no model is asked."""

from __future__ import annotations

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.perception import AgentPerception
from loopforge.core.policy import Mind, Policy, Prompts, Thinking, call
from loopforge.core.work.work_vocabulary import AskPerson, FinishWork, GoOn

RUNNER = "work_run"
"""The tool that runs it."""
EVIDENCE = {"returned": "", "unknown": "Nobody knows whether the command ran."}
"""What speaks for its result, by what became of it."""
ASKING = "{}\nThe command did not run. When that is mended, say so, and I try again."
"""What is asked where the machine could not run it, with what it said."""


def commanding(_prompts: Prompts) -> Policy:
    """The mind that has one command run."""

    def policy(seen: AgentPerception) -> Thinking:
        before = [line for line in seen.lines if line.kind == "result"]
        if before:  # it took longer than a turn waits, and is over now
            said, came = str(before[-1].text), str(before[-1].who)
            outcome = "returned" if came == RUNNER else came.removeprefix(f"{RUNNER}, ")
        else:
            result = yield from call(RUNNER, {"command": seen.context.get("command", "")})
            if result.outcome == "deferred":
                going = GoOn(did="The command goes on.")
                return AgentActionPlan(
                    intent="run", mode="guardrail", rule="one command", acts=(going,)
                )
            said, outcome = result.value, result.outcome
            if outcome == "failed":
                asking = AskPerson(question=ASKING.format(said))
                return AgentActionPlan(
                    intent="run", mode="guardrail", rule="one command", acts=(asking,)
                )
        done = FinishWork(result=said, evidence=EVIDENCE.get(outcome, "The command did not run."))
        return AgentActionPlan(
            intent="run",
            mode="guardrail",
            rule="one command, as it was written",
            narrative="I had the command run that was asked for.",
            acts=(done,),
        )

    return policy


MIND = Mind("shell/2", commanding, hidden=True)
