"""Attempts at real tasks are scored and looked back on, as it stands on record."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from loopforge import cli
from loopforge.core.room_vocabulary import PersonReacted
from loopforge.core.work.work_vocabulary import (
    AttemptScored,
    TaskLearned,
    TaskProgressed,
    TaskReflected,
)
from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.runtime.ports import Question
from loopforge.work.task_transcript import lines_of
from tests.held_clock import HeldClock
from tests.work.conftest import Script, Step, Workshop, in_order, says, uses, working
from tests.work.test_thread_tasks import commons

TASK = "Fix app.py in Python"


def looks_back(asked: Question) -> bool:
    """Whether a question is for a look back."""
    return "root_cause" in (asked.schema or {}).get("properties", {})


def sentence(text: str, *turns: int) -> dict[str, Any]:
    """A sentence of a look back."""
    return {"text": text, "turns": list(turns)}


def reflecting(work: Script, **said: Any) -> Script:
    """The same script, which looks back so."""
    bare = {
        "worked": [],
        "failed": [],
        "root_cause": sentence("It never looked.", 1),
        "strategy_change": sentence("Look first.", 1),
        "insight": sentence("Look at the files before you change one.", 1),
    }
    return lambda asked: {**bare, **said} if looks_back(asked) else work(asked)


async def shown(shop: Workshop, id: str) -> str:
    """What is said of a task to who looks at it."""
    return "\n".join(row for event in await shop.events(id) for row in lines_of(event))


async def test_an_attempt_is_scored_by_the_record_and_looked_back_on(place: Path) -> None:
    """Failing tests count, the mind's own view does not, and a sentence that is not so is flagged."""
    failing = uses(
        "work_run", command="echo 'E: no mode set'; python3 -B -m unittest nowhere; exit 1"
    )
    script = reflecting(
        in_order(failing, *[says("done", "It works.", confidence=95)] * 2),
        worked=[sentence("All tests passed.", 1)],
        failed=[sentence("The tests failed.", 1), sentence("Nothing was tried.", 7)],
    )
    async with working(place, script) as shop:
        id = await shop.give(TASK)
        (score,) = await shop.bodies(id, AttemptScored)
        (made,) = await shop.bodies(id, TaskReflected)
        assert score.completion < 30
        assert (score.own, score.off) == (95, round(95 - score.together, 1))
        assert "its last tests failed" in {one.name for one in score.reasons}
        assert (score.attempt, score.since, score.upto, score.reflects) == (1, 0, 3, True)
        assert {str(one.text): one.flag for one in made.claims if one.flag} == {
            "All tests passed.": "the tests of turn 1 failed",
            "Nothing was tried.": "there was no turn 7 in this attempt",
        }
        assert str(made.text) == "Look at the files before you change one."
        (asked,) = [one for one in shop.models.asked if looks_back(one)]
        assert "[turn 1] work_run gave:" in str(asked.messages)
        assert "no mode set" in str(asked.messages)
        text = await shown(shop, id)
        assert "the mind thought 95" in text
        assert "It worked: All tests passed. [turn 1] (the record says otherwise:" in text
        assert (await shop.app.ledger.verify()).sound


async def test_what_people_decide_has_it_scored_anew(place: Path) -> None:
    """A no counts at once, is looked back on with its reason, and takes the place of the score."""
    script = reflecting(in_order(uses("work_write", path="app.py", text="x = 1\n")))
    async with working(place, script) as shop:
        id = await shop.give(TASK)
        await shop.tasks.reject(id, "ana", reason="It is in tabs.")
        await shop.rest(id)
        asked = [str(one.messages) for one in shop.models.asked if looks_back(one)]
        assert ["It is in tabs." in one for one in asked] == [False, True]
        assert "Rejected: It is in tabs." in await shown(shop, id)
        before, after = await shop.bodies(id, AttemptScored)
        assert after.attempt == before.attempt == 1
        assert after.together < before.together - 25
        assert len(await shop.bodies(id, TaskReflected)) == 2
        state = await shop.state(id)
        assert state.attempts.score == after
        assert not state.attempts.unsettled


async def test_another_model_begins_another_attempt(place: Path) -> None:
    """What the first one did is looked back on before the next one begins."""
    failing = [uses("work_run", command=f"ls nowhere-{nth}; exit 2") for nth in range(3)]
    environ = {"LOOPFORGE_WORK_LADDER": "little, large"}
    async with working(place, reflecting(in_order(*failing)), environ) as shop:
        id = await shop.give(TASK)
        scores = await shop.bodies(id, AttemptScored)
        assert [(one.attempt, one.since, one.upto) for one in scores] == [(1, 0, 3), (2, 3, 4)]
        assert [one.attempt for one in await shop.bodies(id, TaskReflected)] == [1, 2]


@pytest.mark.parametrize(
    ("environ", "answer", "told"),
    [
        ({"LOOPFORGE_WORK_LEARNING": "off"}, {}, ""),
        ({}, ScriptedAnswer(outcome="failed", cause="unreachable"), "no model answered"),
        ({}, ScriptedAnswer(outcome="malformed", text="hm"), "the model's answer made no sense"),
    ],
)
async def test_without_a_look_back_the_score_stands(
    environ: dict[str, str], answer: Step, told: str, place: Path
) -> None:
    """Where it is switched off nobody is asked; where nobody answers, that stands on record."""
    work = in_order(uses("work_run", command="false"))
    script: Script = lambda asked: answer if looks_back(asked) else work(asked)  # noqa: E731
    async with working(place, script, environ) as shop:
        id = await shop.give(TASK)
        state = await shop.state(id)
        assert len(await shop.bodies(id, AttemptScored)) == 1
        assert [one.trouble for one in await shop.bodies(id, TaskReflected)] == (
            [told] * bool(told)
        )
        assert not state.attempts.unsettled
        assert state.stage == "finished"
        assert await shop.bodies(id, TaskLearned) == []


async def test_who_says_stop_has_nobody_asked(place: Path) -> None:
    """It is scored as it stands, and goes on as the same attempt."""
    slow = ScriptedAnswer(data=says("done", "Late."), wait=300)
    script = reflecting(in_order(uses("work_list"), slow, says("done", "Enough.")))
    async with working(place, script) as shop:
        id = await shop.tasks.open(TASK, "ana")
        await shop.until(id, "turn.asked", 2)
        await shop.tasks.stop(id, "ana")
        await shop.rest(id)
        assert [one.reflects for one in await shop.bodies(id, AttemptScored)] == [False]
        assert not any(looks_back(one) for one in shop.models.asked)
        await shop.tasks.resume(id, "ana")
        await shop.rest(id)
        assert [one.attempt for one in await shop.bodies(id, AttemptScored)] == [1, 1]
        assert len(await shop.bodies(id, TaskReflected)) == 1


async def test_stop_breaks_off_a_look_back(place: Path) -> None:
    """Nobody is asked any more, now or later, and the record says why there is nothing."""
    work, pace = in_order(says("done", "Done.")), HeldClock()
    back = ScriptedAnswer(data={"insight": sentence("So.", 1)}, wait=300)
    script: Script = lambda asked: back if looks_back(asked) else work(asked)  # noqa: E731
    async with working(place, script, pace=pace) as shop:
        id = await shop.tasks.open(TASK, "ana")
        await shop.until(id, "task.scored")
        await shop.until(id, "turn.asked", 2)
        said = await shop.tasks.stop(id, "ana")
        assert said == "It is finished already. Looking back on it was broken off."
        await shop.until(id, "task.reflected")
        await shop.rest(id)
        assert [one.trouble for one in await shop.bodies(id, TaskReflected)] == [
            "a person said stop"
        ]
        assert [looks_back(one) for one in shop.models.asked] == [False, True]
        assert await shop.tasks.stop(id, "ana") == "It is finished already."


@pytest.mark.parametrize("by", ["word", "sign"])
async def test_a_room_that_says_stop_breaks_off_a_look_back(place: Path, by: str) -> None:
    """By a word, or a sign on a line of the task; of one that is done, and of one that was rejected."""
    work, pace = in_order(says("done", "Done.")), HeldClock()
    back = ScriptedAnswer(data={"insight": sentence("So.", 1)}, wait=300)
    script: Script = lambda asked: back if looks_back(asked) else work(asked)  # noqa: E731
    async with commons(place, script, pace=pace) as room:
        task = await room.gives("otto: fix app.py in Python", "task.scored")
        for turns, stage in ((2, "finished"), (3, "rejected")):
            await room.shop.until(task, "turn.asked", turns)
            assert (await room.shop.state(task)).looks_back
            if by == "word":
                await room.says("stop")
            else:
                sign = PersonReacted(person=room.ana, to=await room.line_of("Done."), emoji="🛑")
                await room.app.front.rooms.add("commons", room.ana, sign)
            await room.shop.until(task, "task.reflected", turns - 1)
            await room.rest()
            state = await room.shop.state(task)
            assert (state.stage, state.looks_back) == (stage, False)
            if stage == "finished":
                await room.shop.tasks.reject(task, room.ana)
        said = [one.trouble for one in await room.shop.bodies(task, TaskReflected)]
        assert said == ["a person said stop"] * 2


async def test_what_is_said_while_it_looks_back_goes_to_the_next_turn(place: Path) -> None:
    """It steers work, not the look back: nothing that a person said is lost in it."""
    shop: Workshop
    work, pace = in_order(says("done", "Done."), says("done", "With tabs.")), HeldClock()

    async def steer() -> None:
        await shop.tasks.say(given[0], "ana", "use tabs")
        pace.let_go()

    def script(asked: Question) -> Step:
        if looks_back(asked) and not said:
            said.append(True)
            shop.app.work.ports.tasks.spawn(steer(), "steering")
            return ScriptedAnswer(data={"insight": sentence("So.", 1)}, wait=1)
        return work(asked)

    said, given = list[bool](), list[str]()
    async with working(place, script, pace=pace) as shop:
        given.append(await shop.tasks.open(TASK, "ana"))
        await shop.until(given[0], "task.finished", 2)
        await shop.rest(given[0])
        heeded = [one.heeded for one in await shop.bodies(given[0], TaskProgressed)]
        assert [len(one) for one in heeded] == [0, 1]


async def test_work_show_tells_of_it(place: Path) -> None:
    """The command shows the score, why, and the look back."""
    async with working(place, reflecting(in_order())) as shop:
        id = await shop.give(TASK)
    command = ["--home", str(place), "work", "show", id[-8:]]
    out = await asyncio.to_thread(CliRunner().invoke, cli.root, command)
    assert out.exit_code == 0, out.output
    assert "Attempt 1:" in out.output
    assert "To remember: Look at the files before you change one. [turn 1]" in out.output
