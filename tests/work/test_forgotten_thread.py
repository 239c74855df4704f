"""What becomes of a room whose task was forgotten: it is a room like any other."""

from pathlib import Path

import pytest

from loopforge.core.room_vocabulary import LineEdited
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.runtime.ports import Tool, ToolCall
from loopforge.work.task_state import PREFIX
from tests.rooms.conftest import write_mates
from tests.work.conftest import in_order, says, uses
from tests.work.test_thread_tasks import OTTO, commons

WAITS = says("question", "Which port?")
RUNS = uses("work_run", command="sleep 300")


@pytest.mark.parametrize("step", [WAITS, RUNS])
async def test_a_task_that_is_forgotten_in_the_midst_stands_still(
    place: Path, step: dict[str, object]
) -> None:
    """What runs ends, its files go, and its room may have the next one."""
    async with commons(place, in_order(step, says("done", "Here."))) as room:
        await room.says("otto, write a Python server in serve.py")
        await room.app.front.rooms.settled("commons")
        (task,) = await room.tasks()
        await room.shop.until(task, "task.asked" if step is WAITS else "effect.running")
        await room.app.ledger.erase(ErasureRequest(stream=PREFIX + task))
        await room.shop.until(task, "task.stopped")
        await room.rest()
        state = await room.shop.state(task)
        assert (state.stage, state.running, state.open) == ("stopped", {}, "")
        await room.app.work.forgetting.sweep()
        assert not room.shop.file(task, "").exists()
        await room.hears("otto, write a Python server in serve.py")
        _, second = await room.tasks()
        assert (await room.shop.state(second)).stage == "finished"
        assert (await room.app.ledger.verify()).sound


async def test_a_room_is_deleted_whose_task_was_forgotten_before(place: Path) -> None:
    """That one is over already; a line that would correct it is for the room's mates."""
    async with commons(place, in_order(WAITS)) as room:
        await room.hears("otto, write a Python server in serve.py")
        (task,) = await room.tasks()
        await room.shop.tasks.stop(task, "ana")
        await room.rest()
        await room.app.work.forgetting.forget(task, "ana")
        await room.hears("otto: no, just answer")
        assert (await room.said())[-1].startswith("otto: ")
        await room.app.closing.close_room("commons", room.ana)
        assert (await room.app.rooms.house.state("room:commons")).closed


async def test_a_line_that_asked_does_not_say_again_what_was_erased(place: Path) -> None:
    """It says how it was answered, without the words that are forgotten."""
    tool = Tool(name="send", summary="Sends.", asks=True)
    write_mates(place, ("maya",), otto=OTTO.replace("work_run]", "work_run, send]"))

    async def send(_: ToolCall) -> str:
        return "sent"

    script = in_order(uses("send", to="lantern"), says("done", "Here."))
    async with commons(place, script) as room:
        room.app.tools.add(tool, send)
        task = await room.gives("otto, write a Python server in serve.py", "turn.ended")
        line = await room.line_of("lantern")
        (effect,) = (await room.shop.state(task)).allowing
        await room.app.ledger.erase(ErasureRequest(events=(effect,)))
        await room.shop.tasks.allow(task, "ana", owner=True, yes=False)
        await room.rest()
        edits = [one for one in await room.bodies(LineEdited) if one.line == line]
        assert str(edits[-1].text).endswith("said no.")
        assert "lantern" not in str(edits[-1].text)


async def test_a_deleted_line_leaves_nothing_in_the_task_that_it_steered(place: Path) -> None:
    """What the task took in of it, and what the mate made of it, goes along; the task stays."""
    script = in_order(WAITS, says("done", "It listens on marmoladic-4711 now."))
    async with commons(place, script) as room:
        await room.hears("otto, write a Python server in serve.py")
        (task,) = await room.tasks()
        line = await room.hears("take the port marmoladic-4711")
        assert len(await room.app.ledger.read(PREFIX + task, kinds=["task.steered"])) == 1
        assert room.holding(b"marmoladic")
        assert (await room.shop.state(task)).stage == "finished"
        await room.app.front.rooms.delete("commons", room.ana, line.id)
        await room.rest()
        await room.app.forgetting.finish("room:commons")
        assert room.holding(b"marmoladic") == []
        assert (await room.shop.state(task)).stage == "finished"
        assert (await room.app.ledger.verify()).sound
