"""shell: one command, as the person wrote it, by the rules of tools; no model is asked.

Another command that they reply, or "again", is run then; what else they reply is for another flow.
"""

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.perception import AgentPerception
from loopforge.core.policy import Mind, Policy, Prompts, Thinking, call
from loopforge.core.work.task_classifier import shell_command, wants_again
from loopforge.core.work.work_vocabulary import AskPerson, FinishWork, GoOn

RUNNER = "work_run"
"""The tool that runs it."""
EVIDENCE = {
    "returned": "",
    "timed_out": "The command took too long, and was ended.",
    "unknown": "Nobody knows whether the command ran.",
}
"""What speaks for its result, by what became of it."""
ASKING = """{}
The command did not run to its end. When that is mended, say `again`, and I try it again."""
"""What is asked where the machine could not run it, or not for as long as it takes."""


def commanding(_prompts: Prompts) -> Policy:
    """The mind that has one command run."""

    def policy(seen: AgentPerception) -> Thinking:
        ended, command = _ended(seen), _wanted(seen)
        if command:
            result = yield from call(RUNNER, {"command": command})
            ended = result.value, result.outcome
        said, outcome = ended
        if outcome == "deferred":
            return _planned(GoOn(did="The command goes on."))
        if outcome == "failed":
            return _planned(AskPerson(question=ASKING.format(said)))
        done = FinishWork(result=said, evidence=EVIDENCE.get(outcome, "The command did not run."))
        return _planned(done, "I had the command run that was asked for.")

    return policy


def _results(seen: AgentPerception) -> list[int]:
    """Where results stand among the lines."""
    return [nth for nth, line in enumerate(seen.lines) if line.kind == "result"]


def _ended(seen: AgentPerception) -> tuple[str, str]:
    """What the last command gave, and what became of it; nothing where none was run yet."""
    for nth in _results(seen)[-1:]:
        line = seen.lines[nth]
        came = str(line.who)
        outcome = "returned" if came == RUNNER else came.removeprefix(f"{RUNNER}, ")
        return str(line.text), outcome
    return "", ""


def _wanted(seen: AgentPerception) -> str:
    """The command that is to be run now: none was yet, it was cut off, or a person replied one."""
    same, ended = seen.context.get("command", ""), _results(seen)
    since = seen.lines[ended[-1] + 1 :] if ended else ()
    said = next((str(line.text) for line in reversed(since) if line.kind == "heard"), "")
    outcome = _ended(seen)[1]
    again = wants_again(said, asked=outcome == "failed") or outcome in ("", "cancelled")
    return shell_command(said) or (same if again else "")


def _planned(act: FinishWork | GoOn | AskPerson, narrative: str = "") -> AgentActionPlan:
    return AgentActionPlan(
        intent="run",
        mode="guardrail",
        rule="one command, as it was written",
        narrative=narrative,
        acts=(act,),
    )


MIND = Mind("shell/3", commanding, hidden=True)
