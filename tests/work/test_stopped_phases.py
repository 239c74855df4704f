"""Stop, the end of its home, and being forgotten, in each phase of each flow of a task: a table."""

from pathlib import Path
from typing import NamedTuple

import pytest

from loopforge.core.turn_events import Answered
from loopforge.core.work.work_vocabulary import TaskStopped
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.runtime.ports import Question, Tool, ToolCall
from loopforge.work.task_state import PREFIX
from tests.work.conftest import Script, Step, says, uses, working

SLOW = 300


class Phase(NamedTuple):
    """A phase of a flow: by which task one comes there, and which event says so.

    `before` and `step` are what the mate does until then, `slow` is the question that is under way.
    `over`: the task is done already.
    """

    text: str
    event: str
    times: int = 1
    step: Step | None = None
    slow: str = ""
    before: tuple[Step, ...] = ()
    over: bool = False


WORK = "Fix app.py in Python"
RUNS = uses("work_run", command="echo a >> marks; sleep 60")
PHASES = {
    "classify": Phase("Please take care of the logs", "turn.asked", slow="triage"),
    "simple": Phase("What is a monad?", "turn.asked", slow="*"),
    "glass": Phase("@tier-3 what is a monad?", "turn.asked", slow="*"),
    "options": Phase("Pros and cons of tabs?", "turn.asked", 2, slow="other"),
    "consolidate": Phase("Pros and cons of tabs?", "turn.asked", 3, slow="consolidate"),
    "plan": Phase(WORK, "turn.asked", slow="work"),
    "command": Phase(WORK, "effect.running", step=RUNS),
    "shell": Phase("run ls marks || sleep 60", "effect.running", step=RUNS),
    "yes": Phase(WORK, "effect.proposed", step=uses("send")),
    "question": Phase(WORK, "task.asked", step=says("question", "How?")),
    "peer": Phase("Review app.py", "turn.asked", 2, step=says("done", "Fine."), slow="other"),
    "reflect": Phase(WORK, "turn.asked", 2, step=says("done", "So."), slow="reflect", over=True),
    "busy": Phase(WORK, "task.delayed", step=ScriptedAnswer(outcome="failed", cause="busy")),
    "escalated": Phase(
        WORK,
        "task.escalated",
        before=(uses("work_list"), says("stuck", "I am stuck.")),
        slow="work",
    ),
}


async def send(_: ToolCall) -> str:
    """A tool that asks people first."""
    return "sent"


def purpose(asked: Question) -> str:
    """What is asked for, by what a question looks like."""
    said = str(asked.messages)
    fields = (asked.schema or {}).get("properties", {})
    for name, there in (
        ("work", "state" in fields),
        ("triage", "complexity" in fields),
        ("reflect", "insight" in fields),
        ("consolidate", "Proposal 1" in said),
    ):
        if there:
            return name
    return "other"


SEND = Tool(name="send", summary="Sends.", asks=True, owner=True)


def scripted(phase: Phase, calm: list[bool], seen: list[str]) -> Script:
    """Answers by which a task comes to this phase, and stays in it until it is `calm`."""
    left = [] if calm else [*phase.before, *([phase.step] if phase.step is not None else [])]

    def script(asked: Question) -> Step:
        what = purpose(asked)
        seen.append(what)
        if what == "work" and left:
            return left.pop(0)
        wait = SLOW if phase.slow in ("*", what) and not calm else 0
        done = says("done", "Done.") if what == "work" else {}
        return ScriptedAnswer(text="So.", data=done if asked.schema else None, wait=wait)

    return script


def write_role(place: Path) -> None:
    """The coder has a tool that asks first."""
    (place / "roles").mkdir()
    head = "name: Pia\nhandle: python-coder\nrole: coder\ntools: [send, work_run, work_list]"
    (place / "roles" / "python-coder.md").write_text(f"---\n{head}\n---\nYou code.")


@pytest.mark.parametrize("name", PHASES)
async def test_stop_ends_each_phase_at_once_and_once(place: Path, name: str) -> None:
    """It says so once, its thread is free for another task, and it goes on when told to."""
    phase, calm = PHASES[name], list[bool]()
    write_role(place)
    async with working(place, scripted(phase, calm, [])) as shop:
        shop.app.tools.add(SEND, send)
        id = await shop.tasks.open(phase.text, "ana", owner=True, thread="t")
        await shop.until(id, phase.event, phase.times)
        told = [await shop.tasks.stop(id, "ana") for _ in range(2)]
        state = await shop.rest(id)
        assert (state.open, state.running) == ("", {})
        stops = await shop.bodies(id, TaskStopped)
        if phase.over:
            assert (state.stage, stops) == ("finished", [])
            assert "was broken off" in told[0]
        else:
            assert [(one.kind, one.by) for one in stops] == [("person", "ana")]
            assert told[1] == "It is stopped already."
            assert str(state.summary).startswith("Stopped after")
        assert ("may have changed" in str(state.summary)) == (phase.step == RUNS)
        assert ("before it ran: send" in str(state.summary)) == (name == "yes")
        calm.append(True)
        if name == "shell":
            shop.file(id, "marks").write_text("a\n")
        other = await shop.give("run echo hi", thread="t")
        assert (await shop.state(other)).stage == "finished"
        if not phase.over:
            await shop.tasks.resume(id, "ana")
            assert (await shop.rest(id)).stage == "finished"
        assert not shop.file(id, "marks").exists() or shop.file(id, "marks").read_text() == "a\n"


@pytest.mark.parametrize("name", PHASES)
async def test_a_home_that_ends_in_any_phase_goes_on_from_there(place: Path, name: str) -> None:
    """What was answered is not asked again, and a command that may have happened runs once."""
    phase, calm, seen = PHASES[name], list[bool](), list[str]()
    write_role(place)
    async with working(place, scripted(phase, calm, seen)) as shop:
        shop.app.tools.add(SEND, send)
        id = await shop.tasks.open(phase.text, "ana", owner=True, thread="t")
        await shop.until(id, phase.event, phase.times)
    calm.append(True)
    async with working(place, scripted(phase, calm, seen)) as shop:
        shop.app.tools.add(SEND, send)
        if (await shop.state(id)).allowing:
            await shop.tasks.allow(id, "ana", owner=True)
        state = await shop.rest(id)
        if state.delayed or state.stage == "waiting":
            await shop.tasks.resume(id, "ana")
            state = await shop.rest(id)
        assert state.stage == "finished"
        answered = [(one.turn, one.nth) for one in await shop.bodies(id, Answered)]
        assert len(answered) == len({*answered})
        assert len(seen) - len(answered) <= phase.times, (seen, answered)
        assert not shop.file(id, "marks").exists() or shop.file(id, "marks").read_text() == "a\n"
        assert (await shop.app.ledger.verify()).sound


@pytest.mark.parametrize("name", PHASES)
async def test_a_task_that_is_forgotten_in_any_phase_leaves_nothing(place: Path, name: str) -> None:
    """Its words are erased while it is at work: that ends, its thread is free, its files go."""
    phase, calm = PHASES[name], list[bool]()
    write_role(place)
    async with working(place, scripted(phase, calm, [])) as shop:
        shop.app.tools.add(SEND, send)
        id = await shop.tasks.open(phase.text, "ana", owner=True, thread="t")
        await shop.until(id, phase.event, phase.times)
        await shop.app.ledger.erase(ErasureRequest(stream=PREFIX + id))
        await shop.app.work.forgetting.sweep()
        state = await shop.rest(id)
        assert (state.at_work, state.open, state.running) == (False, "", {})
        await shop.app.work.forgetting.sweep()
        assert not shop.file(id, "").exists()
        calm.append(True)
        other = await shop.give("run echo hi", thread="t")
        assert (await shop.state(other)).stage == "finished"
