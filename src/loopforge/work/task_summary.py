"""What was done and what was not, made from the record: no model is asked.

Said when a task stands still or is over, and shown on its page.
"""

from collections import Counter

from loopforge.core.limits.money_amounts import format_dollars
from loopforge.core.text.spoken_lists import join_as_prose, pluralize
from loopforge.core.work.command_results import exit_code, exit_of_tests, runs_tests
from loopforge.policies.flows.shell_flow import RUNNER
from loopforge.work.task_state import TaskState, tool_use_argument

SHOWN = 8
"""Files, commands and steps that are named."""


def summary_of(state: TaskState) -> str:
    """The summary of a task as it stands."""
    rows = [_head(state)]
    if state.written:
        more = len(state.written) - SHOWN
        last = f" ({len(state.written):,}, the last of them)" if more > 0 else ""
        rows.append(f"Files changed{last}: {join_as_prose(tuple(state.written)[-SHOWN:])}.")
    elif any(use.outcome in ("unknown", "cancelled") and use.began for use in state.uses):
        rows.append("No file is known to be changed.")
    else:
        rows.append("No file was changed by its tools.")
    rows += _commands(state)
    if unsure := [use for use in state.uses if use.outcome == "unknown"]:
        rows.append(
            f"Of {pluralize(len(unsure), 'use')} of tools nobody knows whether it happened: "
            f"{join_as_prose([use.tool for use in unsure[-SHOWN:]])}."
        )
    stopped = [use for use in state.uses if use.outcome == "cancelled"]
    if cut := [use.tool for use in stopped if use.began]:
        named = join_as_prose(cut[-SHOWN:])
        rows.append(f"Cut off by the stop: {named}, which may have changed files, too.")
    if idle := [use.tool for use in stopped if not use.began]:
        rows.append(f"Called off by the stop before it ran: {join_as_prose(idle[-SHOWN:])}.")
    if state.running:
        rows.append(
            f"Still under way: {join_as_prose([use.tool for use in state.running.values()])}."
        )
    if state.plan:
        steps = "\n".join(f"  {nth}. {step}" for nth, step in enumerate(state.plan[:SHOWN], 1))
        rows.append(f"Its plan was:\n{steps}")
    if (kept := state.checkpoint) is not None:
        good, bad = f"was kept after turn {kept.nth}.", f"could not be kept: {kept.why}"
        rows.append(f"The workspace {good if kept.checkpoint else bad}")
    return "\n".join(rows)


def is_settled(state: TaskState) -> bool:
    """Whether nothing is left to be done without a person, and all of it was summed up."""
    if state.allowing and not state.open:
        return True
    if state.at_work or state.open or not state.saved or not state.summarized:
        return False
    if state.attempts.unsettled:
        return False
    return not (state.stage == "finished" and state.task.repo and state.offered is None)


def _head(state: TaskState) -> str:
    free = "nothing that has a price" if state.unpriced else "nothing"
    cost = format_dollars(state.cost) if state.cost else free
    turns = pluralize(state.turns, "turn")
    if state.halted is not None and state.stage == "stopped":
        return f"Stopped after {turns} ({state.halted.why}); it cost {cost}."
    if state.finished is not None:
        though = ", it says; but the tests that it ran last failed" if state.failing else ""
        sure = f"confidence {state.confidence:.0f} of 100"
        return f"Done after {turns}{though}; it cost {cost}; {sure}."
    return f"{turns.capitalize()} so far; it cost {cost}."


def _commands(state: TaskState) -> list[str]:
    """What was run, and what of it went well."""
    runs = [use for use in state.uses if exit_code(use.value) is not None]
    if not runs:
        begun = [use.tool for use in state.uses] + [use.tool for use in state.running.values()]
        ran = RUNNER in begun
        return ["No command came to its end." if ran else "No command was run."]
    ended = Counter("well" if exit_code(use.value) == 0 else "badly" for use in runs)
    said = f"Commands: {pluralize(len(runs), 'run')}, {ended['well']} ended with 0, "
    rows = [f"{said}{ended['badly']} did not."]
    commands = [(tool_use_argument(use, "command"), use.value) for use in runs]
    tests = [one for one in commands if runs_tests(one[0])]
    if tests:
        command, value = tests[-1]
        if (code := exit_of_tests(command, value)) is None:
            rows.append(f"No test was run by `{command[:120]}`.")
        else:
            how = "failed" if code else "passed"
            rows.append(f"Tests were last run by `{command[:120]}`: they {how}.")
    else:
        rows.append("No tests were run.")
    return rows
