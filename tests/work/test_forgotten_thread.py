"""What becomes of a room whose task was forgotten: it is a room like any other."""

from pathlib import Path

import pytest

from loopforge.core.room_vocabulary import Heard, LineDeleted, LineEdited, Said
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


async def test_what_a_room_was_told_of_a_forgotten_task_is_deleted_there(place: Path) -> None:
    """However short it is: the mate's lines of the task, and no line of anybody else."""
    steps = (WAITS, says("done", "It is on 80."))
    async with commons(place, in_order(*steps)) as room:
        await room.hears("otto, write a Python server in serve.py")
        await room.hears("80")
        (task,) = await room.tasks()
        assert len(await room.said()) == 3
        told = await room.app.work.forgetting.forget(task, room.ana)
        assert told == "Forgotten, with all its files and what it said in its room."
        await room.rest()
        said = [Said, LineEdited]
        assert {one.text.text for kind in said for one in await room.bodies(kind)} == {None}
        assert len(await room.bodies(LineDeleted)) == 3
        heard = [str(one.text) for one in await room.bodies(Heard)]
        assert heard == ["otto, write a Python server in serve.py", "80"]
        assert (await room.app.work.forgetting.forget(task, room.ana)).startswith("It is forgotten")
        assert len(await room.bodies(LineDeleted)) == 3


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


async def test_who_deletes_a_line_that_steered_a_task_is_told_of_its_files(place: Path) -> None:
    """They may hold its words, and are not looked into; of a line that none was shown, nothing is."""
    wrote = uses("work_write", path="serve.py", text="PORT = 4711\n")
    async with commons(place, in_order(WAITS, wrote, says("done", "It is up."))) as room:
        await room.hears("otto, write a Python server in serve.py")
        line = await room.hears("take the port 4711")
        other = await room.hears("maya, is it late?")
        for one in (other, line):
            await room.app.front.rooms.delete("commons", room.ana, one.id)
            await room.app.forgetting.finish("room:commons")
            await room.rest()
            told = [text for text in await room.said() if "That line is gone" in text]
            assert len(told) == (one is line)
        assert told[0].startswith("otto: ")
        assert "I changed 1 file." in told[0]
        (task,) = await room.tasks()
        assert room.shop.file(task, "serve.py").read_text() == "PORT = 4711\n"
