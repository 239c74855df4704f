"""Lines that were deleted, of which a task was made or is steered: it does nothing with them."""

from contextlib import suppress
from pathlib import Path

import pytest

from loopforge.runtime.ports import Question
from tests.work.conftest import Step, in_order, says, uses
from tests.work.test_thread_tasks import commons

WAITS = says("question", "Which port?")
DONE = says("done", "It listens on marmoladic-4711 now.")


@pytest.mark.parametrize("steps", [[WAITS], [uses("work_run", command="sleep 300")], [DONE]])
async def test_a_deleted_line_that_gave_work_leaves_nothing_of_it(
    place: Path, steps: list[Step]
) -> None:
    """The task is forgotten with it, wherever it stands: it waits, it is at work, or it is done."""
    async with commons(place, in_order(*steps)) as room:
        line = await room.says("otto, write a Python server for marmoladic-4711 in serve.py")
        await room.app.front.rooms.settled("commons")
        (task,) = await room.tasks()
        kind = {0: "task.asked", 1: "effect.running", 2: "task.finished"}
        which = 0 if steps[0] is WAITS else 2 if steps[0] is DONE else 1
        await room.shop.until(task, kind[which])
        assert room.holding(b"marmoladic")
        await room.app.front.rooms.delete("commons", room.ana, line.id)
        await room.rest()
        await room.app.forgetting.finish("room:commons")
        await room.rest()
        await room.app.work.forgetting.sweep()
        state = await room.shop.state(task)
        assert state.forgotten
        assert not state.at_work
        assert room.holding(b"marmoladic") == []
        assert (await room.app.ledger.verify()).sound


async def test_a_deleted_line_that_no_mind_has_read_yet_steers_nothing(place: Path) -> None:
    """It was said while a tool was at work, and taken back before that ended."""
    asked = list[str]()
    steps = [uses("work_run", command="sleep 4"), says("done", "Here.")]

    def script(question: Question) -> Step:
        asked.append(str(question.messages))
        return in_order(*steps[min(len(asked), 2) - 1 :])(question)

    async with commons(place, script) as room:
        task = await room.gives("otto, write a Python server in serve.py", "effect.running")
        line = await room.says("take the port marmoladic-4711")
        await room.shop.until(task, "task.steered")
        await room.app.front.rooms.delete("commons", room.ana, line.id)
        await room.rest()
        await room.app.forgetting.finish("room:commons")
        assert not [one for one in asked if "marmoladic" in one]
        assert room.holding(b"marmoladic") == []


async def test_a_deleted_line_steers_nothing_after_a_restart_either(place: Path) -> None:
    """It was deleted before a mind read it; the process that was told so is gone."""
    steps = [uses("work_run", command="sleep 300")]
    with suppress(InterruptedError):
        async with commons(place, in_order(*steps)) as room:
            task = await room.gives("otto, write a Python server in serve.py", "effect.running")
            line = await room.says("take the port marmoladic-4711")
            await room.shop.until(task, "task.steered")
            await room.says("take the port 80")
            await room.shop.until(task, "task.steered", 2)
            await room.app.front.rooms.delete("commons", room.ana, line.id)
            raise InterruptedError
    asked = list[str]()
    answers = in_order(says("done", "Here."))

    def script(question: Question) -> Step:
        asked.append(str(question.messages))
        return answers(question)

    async with commons(place, script) as room:
        state = await room.shop.state(task)
        assert line.id not in [one.source for one in state.pending.values()]
        await room.shop.rest(task)
        assert (await room.shop.state(task)).stage == "finished"
        worked = [one for one in asked if "You work on a task" in one]
        assert [one for one in worked if "take the port 80" in one]
        assert not [one for one in worked if "marmoladic" in one]
