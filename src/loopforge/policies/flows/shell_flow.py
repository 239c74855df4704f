"""shell: one command, as the person wrote it, by the rules of tools; no model is asked."""

from __future__ import annotations

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.perception import AgentPerception
from loopforge.core.policy import Mind, Policy, Prompts, Thinking, call
from loopforge.core.work.work_vocabulary import AskPerson, FinishWork, GoOn

RUNNER = "work_run"
"""The tool that runs it."""
EVIDENCE = {
    "returned": "",
    "timed_out": "The command took too long, and was ended.",
    "unknown": "Nobody knows whether the command ran.",
}
"""What speaks for its result, by what became of it."""
ASKING = "{}\nThe command did not run to its end. When that is mended, say so, and I try again."
"""What is asked where the machine could not run it, or not for as long as it takes."""


def commanding(_prompts: Prompts) -> Policy:
    """The mind that has one command run."""

    def policy(seen: AgentPerception) -> Thinking:
        ended = _ended(seen)
        if ended is None:
            result = yield from call(RUNNER, {"command": seen.context.get("command", "")})
            ended = result.value, result.outcome
        said, outcome = ended
        if outcome == "deferred":
            return _planned(GoOn(did="The command goes on."))
        if outcome == "failed":
            return _planned(AskPerson(question=ASKING.format(said)))
        done = FinishWork(result=said, evidence=EVIDENCE.get(outcome, "The command did not run."))
        return _planned(done, "I had the command run that was asked for.")

    return policy


def _ended(seen: AgentPerception) -> tuple[str, str] | None:
    """What became of the command in a turn before: it took longer than a turn waits.

    None where none was run, and where a person spoke since it failed.
    """
    ended = [nth for nth, line in enumerate(seen.lines) if line.kind == "result"]
    if not ended:
        return None
    line, since = seen.lines[ended[-1]], seen.lines[ended[-1] + 1 :]
    came = str(line.who)
    outcome = "returned" if came == RUNNER else came.removeprefix(f"{RUNNER}, ")
    if outcome == "failed" and any(one.kind == "heard" for one in since):
        return None
    return str(line.text), outcome


def _planned(act: FinishWork | GoOn | AskPerson, narrative: str = "") -> AgentActionPlan:
    return AgentActionPlan(
        intent="run",
        mode="guardrail",
        rule="one command, as it was written",
        narrative=narrative,
        acts=(act,),
    )


MIND = Mind("shell/2", commanding, hidden=True)
