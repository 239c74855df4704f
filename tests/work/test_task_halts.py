"""What ends a task until somebody says go on: time, budgets of the home, a stop in the queue.

And what does not: somebody who speaks during its last turn.
"""

import asyncio
import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from loopforge.app import open_aside
from loopforge.core.model_trouble import Cause
from loopforge.core.turn_events import Answered, Asked, Perceived
from loopforge.core.work.work_vocabulary import TaskClassified, TaskDelayed, TaskFinished
from loopforge.errors import BadLine, Changed
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.runtime.ports import Question, Tool, ToolCall
from loopforge.runtime.system_clock import SystemClock
from loopforge.work import work_parts
from loopforge.work.model_choice import TierHistory
from loopforge.work.task_state import PREFIX, TaskState
from loopforge.work.task_transcript import lines_of
from loopforge.work.threads.thread_posts import told_of
from tests.held_clock import HeldClock
from tests.rooms.test_budgets import CENT, budget
from tests.work.conftest import Step, in_order, kinds, says, uses, working
from tests.work.test_task_forgetting import holding


class LeapingClock(SystemClock):
    """One that goes on by itself, and leaps where a test says so."""

    leapt = timedelta()

    def now(self) -> datetime:
        """UTC, aware."""
        return super().now() + self.leapt


async def test_an_hour_of_work_ends_it_and_resume_gives_another(place: Path) -> None:
    """The time of the limit counts anew; what was done meanwhile stays, and how long it took."""
    clock, count = LeapingClock(), 0

    def script(asked: Question) -> Step:
        nonlocal count
        clock.leapt += timedelta(minutes=25)
        count += 1
        return uses("work_write", path=f"{count}.txt", text="x") if asked.schema else "So."

    async with working(place, script, clock=clock) as shop:
        id = await shop.give("Write a Python file a.py")
        state = await shop.state(id)
        assert state.halted is not None
        assert (state.halted.kind, state.turns) == ("time", 3)
        await shop.tasks.resume(id, "ana")
        state = await shop.rest(id)
        assert state.turns == 6
        assert state.worked_seconds(clock.now()) >= 6 * 25 * 60
        assert shop.file(id, "1.txt").exists()


async def test_who_wants_it_otherwise_after_a_limit_has_it_go_on(place: Path) -> None:
    """The limit counts anew, as after `resume`; else it stood still again before its first turn."""
    clock = LeapingClock()

    def script(asked: Question) -> Step:
        clock.leapt += timedelta(minutes=25)
        if "state" in (asked.schema or {}).get("properties", {}):
            return uses("work_write", path="a.txt", text="x")
        return "So."

    async with working(place, script, clock=clock) as shop:
        id = await shop.give("Write a Python file a.py")
        assert (await shop.state(id)).stage == "stopped"
        await shop.tasks.say(id, "ana", "no, just answer")
        assert (await shop.rest(id)).stage == "finished"


async def test_without_more_money_it_does_not_go_on_where_its_own_is_spent(place: Path) -> None:
    """It is said how to give it some; it began again, and stood still before its first turn."""

    def script(asked: Question) -> Step:
        work = "state" in (asked.schema or {}).get("properties", {})
        return ScriptedAnswer(data=uses("work_list") if work else {}, cost="0.06")

    async with working(place, script) as shop:
        id = await shop.give("Write a tiny Python file a.py", thread="room:x", budget=0.1)
        state = await shop.state(id)
        with pytest.raises(Changed, match=rf"cost its \$0\.1\..* resume {id[-8:]} --budget 1"):
            await shop.tasks.resume(id, "ana")
        with pytest.raises(Changed):
            await shop.tasks.resume(id, "ana", 0.01)
        told = [told_of(event, state) for event in await shop.events(id)]
        assert sum("--budget 1`." in one for one in told) == 2
        assert not any("/resume" in one for one in told)
        assert max(one.count("it cost") for one in told) == 1
        assert await shop.tasks.resume(id, "ana", 1) == "It goes on."


async def test_it_does_not_work_while_it_waits_for_a_yes(place: Path) -> None:
    """Whoever thinks about a use of a tool for hours finds that it goes on, and no limit met."""

    async def send(_: ToolCall) -> str:
        return "sent"

    (place / "roles").mkdir()
    role = "---\nname: Pia\nhandle: python-coder\nrole: coder\ntools: [send]\n---\nYou code."
    (place / "roles" / "python-coder.md").write_text(role)
    clock, script = LeapingClock(), in_order(uses("send"), says("done", "Sent."))
    async with working(place, script, clock=clock) as shop:
        shop.app.tools.add(Tool(name="send", summary="Sends.", asks=True, owner=True), send)
        id = await shop.tasks.open("Fix app.py in Python", "ana")
        await shop.until(id, "turn.ended")
        clock.leapt += timedelta(hours=3)
        await shop.tasks.allow(id, "ana", owner=True)
        state = await shop.rest(id)
        assert (state.stage, state.spent_seconds < 60) == ("finished", True)


@pytest.mark.parametrize(
    ("cause", "tries", "why"),
    [
        ("busy", 1, "the model is too busy just now"),
        ("busy", 6, "the model is too busy just now"),
        ("broken", 1, "the model's server failed"),
    ],
)
async def test_a_model_that_is_asked_too_often_or_fails_is_waited_for(
    place: Path, cause: Cause, tries: int, why: str
) -> None:
    """The task says so and goes on by itself; the wait is none of its time, and has an end."""
    clock, busy = LeapingClock(), ScriptedAnswer(outcome="failed", cause=cause)
    async with working(place, in_order(*[busy] * tries, says("done", "So.")), clock=clock) as shop:
        id = await shop.give("Fix app.py in Python")
        state = await shop.state(id)
        while state.delayed is not None:
            assert state.stage == "working"
            clock.leapt += timedelta(minutes=9)
            shop.app.lanes.wake(PREFIX + id)
            state = await shop.rest(id)
        waits = await shop.bodies(id, TaskDelayed)
        events = [one for one in await shop.events(id) if isinstance(one.body, TaskDelayed)]
        assert told_of(events[0], state) == lines_of(events[0])[0] == f"It waits: {waits[0].why}."
        assert "For the owner: the serv" in lines_of(events[0], owner=True)[1]
        assert str(waits[0].why) == f"{why}; it is asked again after 30 seconds"
        assert (len(waits), state.stage, state.spent_seconds < 60) == (
            (1, "finished", True) if tries == 1 else (5, "stopped", True)
        )


async def test_a_limit_that_lasts_for_hours_is_told_with_when_to_try_again(place: Path) -> None:
    """The task does not wait so long by itself: it stands still, and says until about when."""
    spent = ScriptedAnswer(outcome="failed", cause="busy", asks=5 * 3600)
    async with working(place, in_order(spent)) as shop:
        state = await shop.state(await shop.give("Fix app.py in Python"))
        told = "the model is too busy just now; it is worth another try in about 5 hours"
        assert (state.stage, str(state.halted and state.halted.why)) == ("stopped", told)


@pytest.mark.parametrize(
    "first",
    [ScriptedAnswer(outcome="failed", cause="busy"), ScriptedAnswer(text="So.", wait=300)],
    ids=["busy", "stopped"],
)
async def test_options_are_paid_once_whatever_becomes_of_what_is_made_of_them(
    place: Path, first: ScriptedAnswer
) -> None:
    """What two models proposed stands on record, and serves the next turn; a person's word ends that."""
    made = [first]

    def script(asked: Question) -> Step:
        if "Proposal 1" not in str(asked.messages):
            return ScriptedAnswer(text="A or B", model=f"tier{asked.route.tier}")
        return made.pop() if made else "Take A."

    async def purposes() -> list[str]:
        return [asked.purpose for asked in await shop.bodies(id, Asked)]

    async with working(place, script) as shop:
        id = await shop.tasks.open("Pros and cons of tabs?", "ana", owner=True)
        await shop.until(id, "turn.asked", 3)
        if first.wait:
            await shop.tasks.stop(id, "ana")
        await shop.rest(id)
        await shop.tasks.resume(id, "ana")
        await shop.rest(id)
        assert await purposes() == ["options", "options", "consolidate", "consolidate"]
        assert "Proposal 2:\\nA or B" in str(shop.models.asked[3].messages)
        state = await shop.state(id)
        assert state.finished is not None
        assert (str(state.finished.result), state.turns) == ("Take A.", 1 if first.wait else 2)
        await shop.tasks.say(id, "ana", "And what of spaces?")
        await shop.rest(id)
        assert (await purposes())[4:] == ["options", "options", "consolidate"]


async def test_resume_asks_a_model_at_once_that_is_waited_for(place: Path) -> None:
    """Whoever knows better need not wait as long as its service wanted."""
    busy = ScriptedAnswer(outcome="failed", cause="busy")
    async with working(place, in_order(busy, says("done", "So."))) as shop:
        id = await shop.give("Fix app.py in Python")
        assert (await shop.state(id)).delayed is not None
        await shop.tasks.resume(id, "ana")
        assert (await shop.rest(id)).stage == "finished"


async def test_who_waits_for_a_yes_is_asked_nothing_else(place: Path) -> None:
    """It changed no file for five turns, the last of which wants a tool: a yes has it go on."""

    async def send(_: ToolCall) -> str:
        return "sent"

    (place / "roles").mkdir()
    role = (
        "---\nname: Pia\nhandle: python-coder\nrole: coder\ntools: [send, work_run]\n---\nYou code."
    )
    (place / "roles" / "python-coder.md").write_text(role)
    looks = [uses("work_run", command=f"echo {nth}") for nth in range(4)]
    async with working(place, in_order(*looks, uses("send"), says("done", "Sent."))) as shop:
        shop.app.tools.add(Tool(name="send", summary="Sends.", asks=True, owner=True), send)
        id = await shop.tasks.open("Fix app.py in Python", "ana")
        await shop.until(id, "turn.ended", 5)
        assert not {"task.asked", "task.escalated"} & {*kinds(await shop.events(id))}
        await shop.tasks.allow(id, "ana", owner=True)
        assert (await shop.rest(id)).stage == "finished"


@pytest.mark.parametrize("at", ["turn.asked", "effect.running"])
async def test_it_does_not_work_while_its_home_is_down(place: Path, at: str) -> None:
    """Taken up the next morning it has the time that it had, whatever it was at in the evening."""
    clock, pace = LeapingClock(), HeldClock()

    def script(_: Question) -> Step:
        clock.leapt += timedelta(minutes=25)
        step = uses("work_run", command="sleep 60")
        return ScriptedAnswer(data=step, wait=1) if at == "turn.asked" else step

    async with working(place, script, clock=clock, pace=pace) as shop:
        id = await shop.tasks.open("Fix app.py in Python", "ana")
        await shop.until(id, at)
    clock.leapt += timedelta(hours=8)
    async with working(place, in_order(says("done", "Done.")), clock=clock) as shop:
        state = await shop.rest(id)
        assert state.stage == "finished"
        assert (state.spent_seconds > 1400) == (at == "effect.running")
        assert state.spent_seconds < 1800


async def test_one_command_that_was_stopped_runs_when_it_goes_on(place: Path) -> None:
    """And another one, or a question, that somebody replies to its end is no word into the wind."""
    async with working(place, in_order(says("done", "Nothing did."))) as shop:
        id = await shop.tasks.open("run ls a.txt || sleep 60", "ana")
        await shop.until(id, "effect.running")
        await shop.tasks.stop(id, "ana")
        await shop.rest(id)
        shop.file(id, "a.txt").write_text("here")
        await shop.tasks.resume(id, "ana")
        await shop.rest(id)
        assert str((await shop.bodies(id, TaskFinished))[-1].result).endswith(" s]\na.txt")
        for said, result in (
            ("run cat a.txt", "here"),
            ("again", "here"),
            ("why?", "Nothing did."),
        ):
            assert (
                "It is taken otherwise" in await shop.tasks.say(id, "ana", said) or said != "why?"
            )
            await shop.rest(id)
            assert str((await shop.bodies(id, TaskFinished))[-1].result).endswith(result)
        assert len((await shop.state(id)).uses) == 4
        with pytest.raises(BadLine, match="behind @tier-3"):
            await shop.tasks.open("@tier-3", "ana", owner=True)


@pytest.mark.parametrize("text", ["Fix app.py in Python", "@tier-3 what is 2 + 2?"])
async def test_a_budget_that_is_spent_stops_whoever_asks(place: Path, text: str) -> None:
    """Also past all else: no model is asked; with a larger one it goes on from where it stood."""
    steps = [says("done", "Done.")]

    def script(asked: Question) -> Step:
        data = steps[0] if asked.schema else None
        return ScriptedAnswer(text="" if data else "4", data=data, cost="0.02")

    async with working(place, script) as shop:
        await shop.app.budgets.book.put(budget("home", CENT), "person:owner")
        await shop.give("@tier-3 what is 1 + 1?")
        spent = len(shop.models.asked)
        id = await shop.give(text)
        state = await shop.state(id)
        assert state.halted is not None
        assert (state.stage, state.halted.kind) == ("stopped", "budget")
        assert "The budget is used up" in str(state.halted.why)
        assert len(shop.models.asked) == spent
        await shop.app.budgets.book.put(budget("home", 100 * CENT), "person:owner")
        await shop.tasks.resume(id, "ana")
        assert (await shop.rest(id)).stage == "finished"


async def test_what_is_put_past_all_is_on_record_and_has_no_tools(place: Path) -> None:
    """What was asked and answered stands in the ledger; a tool that it asks for is not there."""
    wanted = json.dumps(uses("work_run", command="touch a.txt"))
    async with working(place, lambda _: wanted) as shop:
        id = await shop.give("@tier-4 delete everything")
        (taken,) = await shop.bodies(id, TaskClassified)
        assert set(taken.skipped) == {"classification", "planning", "tools", "reflection"}
        answered, *_ = await shop.bodies(id, Answered)
        assert "touch a.txt" in str(answered.text)
        assert shop.models.asked[0].tools == ()
        assert (await shop.state(id)).uses == []
        assert not shop.file(id, "a.txt").exists()
        assert (await shop.app.ledger.verify()).sound


async def test_a_task_in_line_is_stopped_and_waits_again(place: Path) -> None:
    """Stopped it is behind nobody; resumed it stands in line once more, and has its turn."""
    script = in_order(uses("work_run", command="sleep 60"))
    async with working(place, script) as shop:
        first = await shop.tasks.open("Fix app.py in Python", "ana", thread="t")
        await shop.until(first, "effect.running")
        second = await shop.tasks.open("run echo hi", "ana", thread="t")
        await shop.until(second, "task.queued")
        await shop.tasks.stop(second, "ana")
        assert (await shop.rest(second)).stage == "stopped"
        await shop.tasks.resume(second, "ana")
        await shop.until(second, "task.queued", 2)
        await shop.tasks.stop(first, "ana")
        await shop.until(second, "task.summarized", 2)
        assert (await shop.state(second)).stage == "finished"


@pytest.mark.parametrize("stage", ["done", "question"])
async def test_what_is_said_during_its_last_turn_is_heeded_in_another(
    place: Path, stage: str
) -> None:
    """Whether it came to its end in that turn or to a question: nobody speaks to it in vain."""
    pace, left = HeldClock(), [says(stage, "So far."), says("done", "With tabs.")]
    heard: list[bool] = []

    def script(asked: Question) -> Step:
        if "state" not in (asked.schema or {}).get("properties", {}):
            return {}
        heard.append("use tabs" in str(asked.messages))
        return ScriptedAnswer(data=left.pop(0), wait=1)

    async with working(place, script, pace=pace) as shop:
        id = await shop.tasks.open("Fix app.py in Python", "ana")
        await shop.until(id, "turn.asked")
        told = await shop.tasks.say(id, "ana", "use tabs")
        assert told == "It is put before the mate in its next turn."
        pace.let_go()
        state = await shop.rest(id)
        assert heard == [False, True]
        assert (state.stage, str(state.finished and state.finished.result), state.pending) == (
            "finished",
            "With tabs.",
            {},
        )


@pytest.mark.parametrize("by", ["person", "model"])
async def test_a_task_stopped_before_it_is_taken_as_anything_goes_on(place: Path, by: str) -> None:
    """By a person, or since no model could be reached: resumed, it is asked anew what it is."""
    slow = ScriptedAnswer(text="So.", wait=300)
    first = slow if by == "person" else ScriptedAnswer(outcome="failed", cause="unreachable")
    resumed = False

    def script(asked: Question) -> Step:
        if not resumed:
            return first
        return says("done", "Done.") if asked.schema else "So."

    async with working(place, script) as shop:
        id = await shop.tasks.open("Please take care of the logs", "ana")
        await shop.until(id, "turn.asked")
        if by == "person":
            await shop.tasks.stop(id, "ana")
        state = await shop.rest(id)
        assert (state.stage, state.classified) == ("stopped", None)
        assert state.halted is not None
        assert state.halted.kind == by
        resumed = True
        await shop.tasks.resume(id, "ana")
        state = await shop.rest(id)
        assert state.classified is not None
        assert state.stage == "finished"


async def test_a_key_that_somebody_types_reaches_no_prompt(place: Path) -> None:
    """Neither in the task nor in a line said during it; nor does it stand in the workspace."""
    key = "sk-zinc-harbour-4711-of-this-home"
    script = in_order(says("question", "How?"), says("done", "Done."))
    async with working(place, script, secrets=lambda: frozenset({key})) as shop:
        id = await shop.give(f"Write a Python file a.py that uses {key}")
        await shop.tasks.say(id, "ana", f"by {key}, I said")
        state = await shop.rest(id)
        assert state.stage == "finished"
        await shop.tasks.reject(id, "ana", reason=f"{key} is not in it")
        assert "that uses [redacted]" in str(state.task.text)
        assert not [one for one in shop.models.asked if key in str(one.messages)]
    assert holding(place, key.encode()) == []


async def test_a_task_stopped_while_its_home_stood_still_keeps_no_thread(place: Path) -> None:
    """The next one of its thread begins at once, and not when the lease of the dead is over."""
    async with working(place, in_order(uses("work_run", command="sleep 60"))) as shop:
        first = await shop.tasks.open("Fix app.py in Python", "ana", thread="t")
        await shop.until(first, "effect.running")
    async with open_aside(shop.app.settings) as aside:
        await aside.work.tasks.stop(first, "ana")
    async with working(place, in_order()) as shop:
        await shop.rest(first)
        second = await shop.give("run echo hi", thread="t")
        assert (await shop.state(second)).stage == "finished"


async def test_who_waits_in_line_is_next_whatever_was_forgotten_meanwhile(place: Path) -> None:
    """It need not wait until the lease of the one before it is over."""
    script = in_order(says("question", "How?"), uses("work_run", command="sleep 60"))
    async with working(place, script) as shop:
        other = await shop.give("Fix b.py in Python")
        first = await shop.tasks.open("Fix app.py in Python", "ana", thread="t")
        await shop.until(first, "effect.running")
        second = await shop.tasks.open("run echo hi", "ana", thread="t")
        await shop.until(second, "task.queued")
        await shop.app.ledger.erase(ErasureRequest(stream=PREFIX + other))
        await shop.rest(other)
        await shop.tasks.stop(first, "ana")
        async with asyncio.timeout(60):
            await shop.until(second, "task.summarized")
        assert (await shop.state(second)).stage == "finished"


async def test_a_turn_goes_on_hearing_whatever_is_forgotten_elsewhere(place: Path) -> None:
    """What it holds of its task is told of what is said, also once another task was forgotten."""
    pace = HeldClock()
    answer = ScriptedAnswer(text="It is 4.", wait=1)
    async with working(place, lambda _: answer, pace=pace) as shop:
        pace.let_go(1)
        other = await shop.give("what is 1 + 1?")
        id = await shop.tasks.open("what is 2 + 2?", "ana")
        await shop.until(id, "turn.asked")
        held = await shop.state(id)
        await shop.app.ledger.erase(ErasureRequest(stream=PREFIX + other))
        await shop.tasks.say(id, "ana", "use roman digits")
        assert [str(each.text) for each in held.pending.values()] == ["use roman digits"]
        assert await shop.state(id) is held
        pace.let_go()
        await shop.rest(id)


async def test_a_stop_from_another_program_is_heard_before_a_turn_ends(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No result stands behind it, though the home had not yet looked at what others wrote."""
    monkeypatch.setattr(work_parts, "SOON", 900.0)
    pace = HeldClock()
    answer = ScriptedAnswer(text="It is 4.", wait=1)
    async with working(place, lambda _: answer, pace=pace) as shop:
        id = await shop.tasks.open("what is 2 + 2?", "ana")
        await shop.until(id, "turn.asked")
        async with open_aside(shop.app.settings) as aside:
            await aside.work.tasks.stop(id, "ana")
        pace.let_go()
        await shop.until(id, "turn.ended")
        assert "task.finished" not in kinds(await shop.events(id))
        assert (await shop.state(id)).stage == "stopped"


async def test_what_is_said_is_put_before_it_however_small_its_window(place: Path) -> None:
    """A line that nobody has been shown yet is not among those that leave a window."""
    said = ["use tabs", "name it b.py", "and be quick", "do not run it"]
    async with working(
        place, in_order(ScriptedAnswer(outcome="failed", cause="unreachable"))
    ) as shop:
        id = await shop.give("Write a Python file a.py")
        shop.models.window = 4096
        for line in said:
            await shop.tasks.say(id, "ana", line)
        await shop.tasks.resume(id, "ana")
        await shop.rest(id)
        prompt = str(shop.models.asked[1].messages)
        assert [line for line in said if line not in prompt] == []
        assert not (await shop.state(id)).pending


async def test_who_wrote_more_than_its_window_holds_is_told_which_files(place: Path) -> None:
    """Of lines that left it, it is named what it changed in them; else it wrote the same again."""
    steps = [uses("work_write", path=f"{nth}.py", text="x = 1\n" * 400) for nth in range(9)]
    async with working(place, in_order(*steps)) as shop:
        shop.models.window = 7600
        id = await shop.give("Write a Python package of nine files")
        work = [one for one in shop.models.asked if "Turn 10 of" in str(one.messages)]
        assert "of this task left the window. Changed so far: 0.py, 1.py, " in str(work[0].messages)
        assert len((await shop.state(id)).written) == 9


async def test_a_stop_just_before_a_turn_is_heard(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is asked anything for a task that is stopped while its next step is looked for."""
    async with working(place, in_order()) as shop:

        async def first(_: TierHistory, state: TaskState) -> None:
            if state.checkpoint is not None:  # else its workspace is kept first
                await shop.tasks.stop(state.id, "ana")

        monkeypatch.setattr(TierHistory, "first", first)
        id = await shop.give("Write a Python file a.py")
        assert (await shop.state(id)).stage == "stopped"
        assert shop.models.asked == []
        assert await shop.bodies(id, Perceived) == []


async def test_a_disk_that_cannot_be_used_is_told_without_where_the_home_lies(place: Path) -> None:
    """The task stands still and says why; the path stands in the log alone."""
    async with working(place, in_order()) as shop:
        (place / "workspaces").write_text("in the way")
        id = await shop.give("Write a Python file a.py")
        state = await shop.state(id)
        assert state.halted is not None
        assert str(state.halted.why) == "File exists (the log says where)"
        assert str(place) not in str([await shop.events(id)])


async def test_a_workspace_that_could_not_be_kept_is_not_said_to_be(place: Path) -> None:
    """What the task comes to says so, and not where the home lies."""
    async with working(place, in_order(says("done", "Done."))) as shop:
        (place / "data" / "checkpoints").write_text("in the way")
        id = await shop.give("Write a Python file a.py")
        summary = str((await shop.state(id)).summary)
        assert "was kept" not in summary
        assert "The workspace could not be kept: The checkpoints of this home" in summary
        assert str(place) not in str(await shop.events(id))
