"""Who goes on with a task that does not get on: each reason is on record, and said in its room."""

from pathlib import Path

import pytest

from loopforge.core.work.work_vocabulary import (
    TaskEscalated,
    TaskNudged,
    TaskProgressed,
    TaskSteered,
    TaskStopped,
)
from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.runtime.ports import Question
from loopforge.work.task_transcript import lines_of
from loopforge.work.threads.thread_posts import told_of
from tests.work.conftest import Step, in_order, says, uses, working
from tests.work.test_thread_tasks import commons

LADDER = {"LOOPFORGE_WORK_LADDER": "little, large"}
SAME = uses("work_run", command="cat a.txt || true")
REASONS: dict[str, list[Step]] = {
    "confidence": [{**uses("work_run", command=f"cat {n}.txt"), "confidence": 0} for n in "abcd"],
    "errors": [uses("work_run", command=f"python3 nowhere-{n}.py") for n in range(3)],
    "idle": [uses("work_list", path=f"folder-{n}") for n in range(5)],
    "stuck": [says("stuck", "I do not know this language.")],
    "corrections": [says("question", "With tabs?"), says("question", "With spaces?")],
}
LINES = ("that's wrong: no space at all", "No, not like that")


@pytest.mark.sample(3)
@pytest.mark.parametrize("reason", [*REASONS])
async def test_each_reason_brings_the_next_model(place: Path, reason: str) -> None:
    """It says why in words, in the room as well, and the next model is asked."""
    async with commons(place, in_order(*REASONS[reason]), LADDER) as room:
        await room.hears("Otto, fix app.py in Python")
        (task,) = await room.tasks()
        for line in LINES if reason == "corrections" else ():
            await room.hears(line)
        (first, *_) = await room.shop.bodies(task, TaskEscalated)
        assert (first.reason, first.after) == (reason, "little")
        assert any(str(first.why) in said for said in await room.said())
        assert "little" in [one.route.model for one in room.shop.models.asked]


async def test_whoever_answered_is_named_where_the_next_model_did_not(place: Path) -> None:
    """A model that stands in for one that is down is not taken for it, in no word of the record."""
    stuck = says("stuck", "I cannot.")
    dead = ScriptedAnswer(data=stuck, model="tiny", fallback=True)
    async with working(place, in_order(stuck, dead, dead), LADDER) as shop:
        state = await shop.state(await shop.give("Fix app.py in Python"))
        assert [one.model for one in state.progress][1:] == ["tiny", "tiny"]
        (_, second) = state.escalated
        assert str(second.why).startswith(
            "large goes on in place of tiny, for little did not answer"
        )
        assert state.asked is not None
        assert "large did not answer, so tiny did: it says" in str(state.asked.question)


async def test_who_writes_by_commands_is_not_idle(place: Path) -> None:
    """What a command changed is told to the mate, counts as written, and is summed up."""
    made = ["echo 1 > a.txt", "sed -i s/1/2/ a.txt", "mkdir -p 'b c/__pycache__'; cp a.txt 'b c'"]
    quiet = ["touch 'b c/__pycache__/x.pyc'; cat a.txt", "rm a.txt"]
    many = "touch {1..8}.md"
    steps = [uses("work_run", command=each) for each in [*made, *quiet, *made, many]]
    async with working(place, in_order(*steps), LADDER) as shop:
        state = await shop.state(await shop.give("Fix app.py in Python"))
        assert (state.escalated, list(state.written)[:2]) == ([], ["a.txt", "b c/a.txt"])
        assert "Files changed (10, the last of them): 1.md, 2.md" in str(state.summary)
        heads = [use.value.splitlines()[0].partition("; ")[2] for use in state.uses[:5]]
        one, two = "changed: a.txt]", "changed: 'b c/a.txt']"
        assert heads == [one, one, two, "", one]


async def test_a_circle_is_told_first_and_then_brings_the_next_model(place: Path) -> None:
    """In a task that need change no file: four times the same, a word on it, four times more."""
    async with working(place, in_order(*[SAME] * 9), LADDER) as shop:
        id = await shop.give("Look with SQL which rows of the database are doubled, and tell me")
        state = await shop.state(id)
        first = state.escalated[0]
        assert (first.reason, state.entries[0].kind) == ("stuck", "heard")
        assert "although it was told so" in str(first.why)
        assert sum(one.kind == "result" for one in state.entries) == 9


async def test_turns_without_a_tool_are_a_circle(place: Path) -> None:
    """In a task that need change no file, too: it is told after four, and replaced after eight."""
    shown = list[str]()
    answers = in_order(*[says("going", f"I think about it, {n}.") for n in range(8)])

    def script(asked: Question) -> Step:
        shown.append(str(asked.messages))
        return answers(asked)

    async with working(place, script, LADDER) as shop:
        state = await shop.state(await shop.give("Deploy the server with docker"))
        (told,) = await shop.bodies(state.id, TaskNudged)
        assert "You used no tool in 4 turns" in str(told.what)
        assert any("You used no tool in 4 turns" in one for one in shown)
        (first, *_) = await shop.bodies(state.id, TaskEscalated)
        assert (first.reason, first.after, state.escalated[0].turn) == (
            "stuck",
            "little",
            state.progress[7].turn,
        )


async def test_waiting_for_what_takes_long_is_not_being_stuck(place: Path) -> None:
    """It looks again and again how far a process is, and nobody tells it off."""
    looks = [uses("work_run", command="pgrep -c nothing-of-the-kind || true")] * 5
    async with working(place, in_order(*looks), LADDER) as shop:
        id = await shop.give("Look with SQL which rows of the database are doubled, and tell me")
        state = await shop.state(id)
        assert (state.nudged, state.escalated, state.stage) == (0, [], "finished")


async def test_answers_of_no_use_bring_the_next_model(place: Path) -> None:
    """Three in a row, or confidence that goes with them; at the top people are asked."""
    answer = ScriptedAnswer(outcome="malformed", text="")
    async with working(place, in_order(*[answer] * 9), LADDER) as shop:
        id = await shop.give("Look with SQL which rows of the database are doubled, and tell me")
        state = await shop.state(id)
        assert [(one.reason, one.after) for one in state.escalated] == [
            ("errors", "little"),
            ("confidence", "large"),
        ]
        assert (state.stage, state.turns) == ("waiting", 7)
        assert state.asked is not None
        assert "there is no better model to ask" in str(state.asked.question)
        assert {str(one.action) for one in state.progress} == {"Its answer made no sense."}


async def test_why_no_model_answered_is_told(place: Path) -> None:
    """To everybody in general, to the owner what is to be mended."""
    script = in_order(ScriptedAnswer(outcome="failed", cause="key"))
    async with working(place, script, LADDER) as shop:
        id = await shop.give("Fix app.py in Python")
        (event,) = [
            event
            for event in await shop.app.ledger.read(f"task:{id}")
            if isinstance(event.body, TaskStopped)
        ]
        mend = "the owner of this home has to mend something"
        assert lines_of(event) == [f"Stopped: {mend}."]
        told = f"It stands still: {mend}. /resume lets it go on."
        assert told_of(event, await shop.state(id)) == told
        key = "the key for scripted is refused: set the right one (Admin, Models says which)"
        assert lines_of(event, owner=True)[1:] == [f"For the owner: {key}."]


async def test_a_no_to_a_question_is_an_answer(place: Path) -> None:
    """It corrects nothing; a no to what is being done does."""
    script = in_order(says("question", "With tabs?"), uses("work_list"), says("done", "Done."))
    async with working(place, script, LADDER) as shop:
        id = await shop.give("Fix app.py in Python")
        await shop.tasks.say(id, "ana", "No.")
        await shop.rest(id)
        await shop.tasks.say(id, "ana", "No, use spaces")
        await shop.rest(id)
        assert [one.corrects for one in await shop.bodies(id, TaskSteered)] == [False, True]
        assert (await shop.state(id)).escalated == []


async def test_the_next_model_stands_behind_the_one_that_began(place: Path) -> None:
    """Also in the first turn, before anything is on record of it: nobody weaker goes on."""
    ladder = {"LOOPFORGE_WORK_LADDER": "little, scripted, large"}
    script = in_order(says("stuck", "I do not know this language."), says("done", "Done."))
    async with working(place, script, ladder) as shop:
        id = await shop.give("Look with SQL which rows of the database are doubled, and tell me")
        (one,) = await shop.bodies(id, TaskEscalated)
        assert (one.before, one.after) == ("scripted", "large")
        told = "large goes on in place of scripted: it says that it is stuck: I do not know this"
        assert str(one.why) == f"{told} language."
        assert [(await shop.bodies(id, TaskProgressed))[0].model] == ["scripted"]
