"""A task from its line to its end, with real commands in the sandbox and a scripted model."""

from pathlib import Path

import pytest

from loopforge.app import open_aside
from loopforge.core.turn_events import Answered
from loopforge.core.work.work_vocabulary import TaskClassified, TaskProgressed
from loopforge.errors import Changed, NotLetIn, Unknown
from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.runtime.ports import Question, Tool, ToolCall
from loopforge.work.task_state import PREFIX
from tests.held_clock import HeldClock
from tests.work.conftest import Step, Workshop, in_order, kinds, says, uses, working


async def test_a_task_plans_acts_and_ends_with_a_result(place: Path) -> None:
    """It makes a file, runs it, sees the output, and says so; every turn is on record."""
    script = in_order(
        {
            **uses("work_write", path="hello.py", text="print(6 * 7)\n"),
            "plan": ["write it", "run it"],
        },
        uses("work_run", command="python3 hello.py"),
        says("done", "hello.py prints 42.", evidence="It printed 42."),
    )
    async with working(place, script) as shop:
        id = await shop.give("Write a Python script hello.py that prints 42, and run it")
        state = await shop.state(id)
        assert shop.file(id, "hello.py").read_text() == "print(6 * 7)\n"
        assert state.stage == "finished"
        assert str(state.finished.result) == "hello.py prints 42." if state.finished else False
        assert [str(step) for step in state.plan] == ["write it", "run it"]
        assert [(use.tool, use.outcome) for use in state.uses] == [
            ("work_write", "returned"),
            ("work_run", "returned"),
        ]
        assert "42" in state.uses[-1].value
        assert [one.nth for one in await shop.bodies(id, TaskProgressed)] == [1, 2, 3]
        (taken,) = await shop.bodies(id, TaskClassified)
        assert (taken.role, taken.by) == ("python-coder", "rules")
        assert kinds(await shop.events(id))[-5:] == [
            "task.finished",
            "task.workspace_saved",
            "task.summarized",
            "task.scored",
            "task.reflected",
        ]
        assert (await shop.app.ledger.verify()).sound


async def test_a_review_gets_a_second_opinion(place: Path) -> None:
    """Another role, of a model of its own, says what it thinks of it; that stands in the result."""
    asked_for: list[bool] = []

    def script(asked: Question) -> Step:
        if asked.schema is not None:
            return says("done", "app.py:3 leaks a file.")
        asked_for.append("second opinion" in str(asked.messages[-1]))
        return "It does, and line 9 too." if asked_for[-1] else "So it was."

    async with working(place, script) as shop:
        id = await shop.give("Review the code in app.py")
        state = await shop.state(id)
        assert state.classified is not None
        assert state.classified.role == "code-reviewer"
        assert state.finished is not None
        result = str(state.finished.result)
        assert result.startswith("app.py:3 leaks a file.\n\n**A second opinion (")
        assert result.endswith("It does, and line 9 too.")
        assert asked_for[0]


async def test_who_has_no_second_opinion_to_give_is_told_of(place: Path) -> None:
    """Its model is down, or says nothing: the review is taken as it is, and says so."""
    peers = [ScriptedAnswer(outcome="failed", cause="unreachable"), ScriptedAnswer(text=" ")]
    why = ["no model answered", "it said nothing"]

    def script(asked: Question) -> Step:
        if asked.schema is not None:
            return says("done", "app.py:3 leaks a file.")
        return peers.pop(0) if "second opinion" in str(asked.messages[-1]) else "So it was."

    async with working(place, script) as shop:
        for each in why:
            state = await shop.state(await shop.give("Review the code in app.py"))
            assert state.finished is not None
            result = str(state.finished.result)
            assert result.startswith("app.py:3 leaks a file.\n\n*No second opinion by ")
            assert result.endswith(f": {each}.*")


async def test_what_is_said_during_a_task_steers_it(place: Path) -> None:
    """It is before the mate in the next turn, and on record as heeded."""
    shop: Workshop
    pace = HeldClock()

    async def steer(id: str) -> None:
        await shop.tasks.say(id, "ana", "use tabs")
        pace.let_go()

    heard: list[bool] = []
    left = [uses("work_list"), uses("work_list"), says("done", "Done.")]

    def script(asked: Question) -> Step:
        if "state" not in (asked.schema or {}).get("properties", {}):
            return {}
        heard.append("use tabs" in str(asked.messages))
        if len(heard) == 1:
            shop.app.work.ports.tasks.spawn(steer(shop.given), "steering")
        return ScriptedAnswer(data=left.pop(0), wait=1)

    async with working(place, script, pace=pace) as shop:
        shop.given = await shop.tasks.open("Fix app.py in Python", "ana")
        await shop.rest(shop.given)
        state = await shop.state(shop.given)
        assert state.stage == "finished"
        assert heard == [False, True, True]
        assert [len(one.heeded) for one in state.progress] == [0, 1, 0] or state.pending == {}


async def test_a_question_pauses_it_and_an_answer_goes_on(place: Path) -> None:
    """It holds no thread while it waits, also over a restart; a line of a person goes on."""
    script = in_order(says("question", "Which port?"))
    async with working(place, script) as shop:
        id = await shop.give("Write a Python server in serve.py")
        state = await shop.state(id)
        assert (state.stage, str(state.asked and state.asked.question)) == (
            "waiting",
            "Which port?",
        )
        other = await shop.give("run echo hi", thread=state.thread)
        assert (await shop.state(other)).stage == "finished"
    async with working(place, in_order(says("done", "On 80."))) as shop:
        assert (await shop.state(id)).stage == "waiting"
        assert await shop.tasks.say(id, "ana", "80") == "The task goes on with that."
        state = await shop.rest(id)
        assert (state.stage, str(state.finished and state.finished.result)) == (
            "finished",
            "On 80.",
        )


async def test_a_second_task_of_a_thread_waits_in_line(place: Path) -> None:
    """It says behind whom; when that one stands still it goes on, under a larger number."""
    script = in_order(uses("work_run", command="sleep 60"))
    async with working(place, script) as shop:
        first = await shop.tasks.open("Fix app.py in Python", "ana", thread="t")
        await shop.until(first, "effect.running")
        second = await shop.tasks.open("run echo hi", "ana", thread="t")
        await shop.until(second, "task.queued")
        beside = await shop.give("run echo beside")
        assert (await shop.state(beside)).stage == "finished"
        assert (await shop.state(second)).behind == first
        await shop.tasks.stop(first, "ana")
        await shop.until(second, "task.summarized")
        assert (await shop.state(second)).fence == 2
        assert (await shop.state(first)).stage == "stopped"


async def test_stop_ends_what_runs_and_resume_goes_on(place: Path) -> None:
    """The command and its children end; a summary from the record follows; it goes on from there."""
    script = in_order(
        uses("work_write", path="a.txt", text="kept"),
        uses("work_run", command="sleep 300 & sleep 300"),
        says("done", "Enough."),
    )
    async with working(place, script) as shop:
        id = await shop.tasks.open("Fix app.py in Python", "ana")
        await shop.until(id, "effect.running", 2)
        assert await shop.tasks.stop(id, "ana") == "Stopped. `resume` goes on from here."
        state = await shop.rest(id)
        assert [use.outcome for use in state.uses] == ["returned", "cancelled"]
        cut = "Cut off by the stop: work_run, which may have changed files, too."
        assert cut in str(state.summary)
        assert "Files changed: a.txt" in str(state.summary)
        assert state.checkpoint is not None
        assert state.checkpoint.checkpoint == "2"
        assert await shop.tasks.resume(id, "ana") == "It goes on."
        assert (await shop.rest(id)).stage == "finished"
        assert shop.file(id, "a.txt").read_text() == "kept"


@pytest.mark.parametrize(
    ("environ", "more", "kind"),
    [
        ({"LOOPFORGE_WORK_TOKENS": "1000"}, {}, "tokens"),
        ({}, {"budget": 0.1}, "money"),
        ({}, {}, "turns"),
    ],
)
async def test_a_limit_ends_it_and_resume_goes_on(
    environ: dict[str, str], more: dict[str, float], kind: str, place: Path
) -> None:
    """Of turns, tokens and money; what was done is summed up; it goes on when somebody says so."""
    count = 0

    def script(asked: Question) -> Step:
        nonlocal count
        if "state" not in (asked.schema or {}).get("properties", {}):
            return {}
        count += 1
        text = f"{count}\n" * (1000 if kind == "tokens" else 1)
        return ScriptedAnswer(
            data=uses("work_write", path="a.txt", text=text),
            cost="0.04" if kind == "money" else "0",
        )

    async with working(place, script, environ) as shop:
        id = await shop.give("Write a tiny Python file a.py", **more)
        state = await shop.state(id)
        assert state.halted is not None
        assert (state.stage, state.halted.kind) == ("stopped", kind)
        assert str(state.summary).startswith(f"Stopped after {state.turns} turn")
        turns = state.turns
        await shop.tasks.resume(id, "ana", 0.1)
        assert (await shop.rest(id)).turns > turns


async def test_the_same_error_three_times_brings_the_next_model(place: Path) -> None:
    """The reason is on record and told; at the top of the list a precise question is asked."""
    failing = [uses("work_run", command=f"ls nowhere-{nth}; exit 2") for nth in range(9)]
    environ = {"LOOPFORGE_WORK_LADDER": "little, large"}
    async with working(place, in_order(*failing), environ) as shop:
        id = await shop.give("Fix app.py in Python")
        state = await shop.state(id)
        assert [(one.before, one.after) for one in state.escalated] == [
            ("scripted", "little"),
            ("little", "large"),
        ]
        assert {one.reason for one in state.escalated} <= {"errors", "confidence"}
        assert "large goes on in place of little" in str(state.escalated[-1].why)
        assert state.stage == "waiting"
        assert state.asked is not None
        assert state.asked.top
        assert "nowhere" in str(state.asked.tried)
        routes = [one.route.model for one in shop.models.asked if one.schema]
        assert list(dict.fromkeys(routes)) == ["", "little", "large"]


async def test_a_circle_is_nudged_before_another_model_goes_on(place: Path) -> None:
    """It is told what it does again and again; nothing it knew is dropped."""
    again = [uses("work_run", command="cat a.txt || true") for _ in range(4)]
    async with working(place, in_order(*again, says("done", "Ah."))) as shop:
        id = await shop.give("Fix app.py in Python")
        state = await shop.state(id)
        assert state.nudged == 1
        assert state.stage == "finished"
        assert (await shop.app.ledger.verify()).sound
        last = str(shop.models.asked[-2].messages)
        assert "You did the same 4 times" in last
        assert last.count("[work_run]") == 4


async def test_a_reply_takes_a_task_as_something_else(place: Path) -> None:
    """A person said "no, just answer": that is on record as a correction, and it is answered."""
    async with working(place, in_order(says("question", "Which one?"))) as shop:
        id = await shop.give("Write a Python parser in parser.py")
        told = await shop.tasks.say(id, "ana", "no, just answer")
        assert told == "It is taken otherwise from now on: simple."
        await shop.rest(id)
        taken = await shop.bodies(id, TaskClassified)
        assert [(one.flow, one.by) for one in taken] == [
            ("sequential-thinking", "rules"),
            ("simple", "person"),
        ]
        assert (await shop.state(id)).stage == "finished"


async def test_the_glass_is_broken_by_the_owner_alone(place: Path) -> None:
    """Straight to that model, and what was skipped is on record; for others it is a task as any."""
    async with working(place, in_order()) as shop:
        owners = await shop.give("@tier-3 what is 2 + 2?")
        (taken,) = await shop.bodies(owners, TaskClassified)
        assert (taken.flow, taken.tier) == ("breakglass", 3)
        assert "planning" in taken.skipped
        assert shop.models.asked[-1].route.tier == 3
        others = await shop.tasks.open("@tier-3 what is 2 + 2?", "bo")
        await shop.rest(others)
        taken = (await shop.bodies(others, TaskClassified))[-1]
        assert taken.flow != "breakglass"
        assert str(taken.reason).startswith(
            "Only the owner of this home has @tier-3 asked past all else. "
        )


async def test_thumbs_move_confidence_and_down_brings_the_next_model(place: Path) -> None:
    """Kept across what it says; results that people took or refused give a figure."""
    environ = {"LOOPFORGE_WORK_LADDER": "little, large"}
    async with working(place, in_order(), environ) as shop:
        id = await shop.give("Write a Python file a.py")
        before = (await shop.state(id)).confidence
        assert await shop.tasks.rate(id, "ana", up=True) == min(100, before + 15)
        assert await shop.tasks.rate(id, "ana", up=False) == min(100, before + 15) - 20
        assert (await shop.state(id)).model == "little"
        assert await shop.tasks.approve(id, "ana") == "Approved."
        score, bins = await shop.tasks.calibration()
        assert score is not None
        assert [one.tasks for one in bins] == [1]


async def test_what_a_model_thinks_of_a_task_is_asked_where_words_are_not_clear(
    place: Path,
) -> None:
    """Its answer is on record with its reason; one that makes no sense leads to plain work."""
    answers: list[Step] = [
        {
            "type": "data",
            "role": "dba",
            "complexity": "SIMPLE",
            "flow": "sequential-thinking",
            "reason": "data",
        },
        ScriptedAnswer(outcome="malformed", text="hm"),
    ]

    def script(asked: Question) -> Step:
        if asked.schema and "role" in asked.schema["properties"]:
            return answers.pop(0)
        return says("done", "Done.") if asked.schema else "So."

    async with working(place, script) as shop:
        for role, by in (("dba", "model"), ("general", "default")):
            id = await shop.give("Please take care of the logs")
            (taken,) = await shop.bodies(id, TaskClassified)
            assert (taken.role, taken.by) == (role, by)
            assert (await shop.state(id)).stage == "finished"


async def test_without_a_model_it_stands_still_and_can_go_on(place: Path) -> None:
    """Nobody answered: that is told, and resuming tries again."""
    down = [ScriptedAnswer(outcome="failed", cause="unreachable")]

    def script(asked: Question) -> Step:
        return down.pop() if down else says("done", "Done.") if asked.schema else "So."

    async with working(place, script) as shop:
        id = await shop.give("Fix app.py in Python")
        state = await shop.state(id)
        assert state.halted is not None
        assert (state.stage, state.halted.kind) == ("stopped", "model")
        await shop.tasks.resume(id, "ana")
        assert (await shop.rest(id)).stage == "finished"


async def test_a_command_beside_the_host_works_on_nothing(place: Path) -> None:
    """It gives a task, which the process that runs the home does, once."""
    async with working(place, in_order()) as shop:
        async with open_aside(shop.app.settings) as aside:
            id = await aside.work.tasks.open("run echo hi >> a.txt", "ana")
            await aside.lanes.settled(PREFIX + id)
            assert await aside.ledger.read(PREFIX + id, after=1) == []
            await shop.app.ledger.follow()
            await shop.rest(id)
        assert (await shop.state(id)).stage == "finished"
        assert shop.file(id, "a.txt").read_text() == "hi\n"


async def test_a_tool_that_asks_first_waits_for_a_yes(place: Path) -> None:
    """The task waits with it, holding nothing up; a yes is for exactly that use, and counts once."""
    ran: list[str] = []

    async def send(call: ToolCall) -> str:
        ran.append(str(call.arguments["to"]))
        return "sent"

    (place / "roles").mkdir()
    role = "---\nname: Pia\nhandle: python-coder\nrole: coder\ntools: [send]\n---\nYou code."
    (place / "roles" / "python-coder.md").write_text(role)
    script = in_order(uses("send", to="bo"), uses("send", to="cy"), says("done", "Sent."))
    async with working(place, script) as shop:
        tool = Tool(name="send", summary="Sends.", asks=True, owner=True)
        shop.app.tools.add(tool, send)
        id = await shop.tasks.open("Fix app.py in Python", "ana")
        await shop.until(id, "turn.ended")
        assert [use.tool for use in (await shop.state(id)).allowing.values()] == ["send"]
        with pytest.raises(NotLetIn):
            await shop.tasks.allow(id, "bo", owner=False)
        assert "runs" in await shop.tasks.allow(id, "ana", owner=True)
        await shop.until(id, "turn.ended", 2)
        assert ran == ["bo"]
        assert "does not run" in await shop.tasks.allow(id, "ana", owner=True, yes=False)
        await shop.rest(id)
        assert ran == ["bo"]
        assert (await shop.state(id)).stage == "finished"
        with pytest.raises(Changed):
            await shop.tasks.allow(id, "ana", owner=True)


async def test_stop_cuts_off_a_model_in_the_middle_of_its_answer(place: Path) -> None:
    """What came of it stays on record as cancelled, and nobody is asked again until it goes on."""
    slow = ScriptedAnswer(data=says("done", "Late."), wait=300)
    async with working(place, lambda asked: slow if asked.schema else "So.") as shop:
        id = await shop.tasks.open("Fix app.py in Python", "ana")
        await shop.until(id, "turn.asked")
        await shop.tasks.stop(id, "ana")
        assert (await shop.rest(id)).stage == "stopped"
        assert [one.outcome for one in await shop.bodies(id, Answered)] == ["cancelled"]
        assert len(shop.models.asked) <= 1


async def test_a_mate_that_is_named_does_it_in_the_role(place: Path) -> None:
    """Its character and the role's are both before the model; one that is not there is told."""
    (place / "mates").mkdir()
    mate = "---\nname: Maya\nhandle: maya\nrole: friend\n---\nYou are Maya of the slugs."
    (place / "mates" / "maya.md").write_text(mate)
    async with working(place, in_order()) as shop:
        id = await shop.give("Fix app.py in Python", mate="maya")
        system = shop.models.asked[0].messages[0][1]
        assert "Maya of the slugs" in system
        assert "you are the Python coder" in system
        assert {one.actor for one in await shop.events(id) if one.kind == "turn.ended"} == {
            "mate:maya"
        }
        with pytest.raises(Unknown, match="no mate 'zed'"):
            await shop.give("Fix it", mate="zed")
