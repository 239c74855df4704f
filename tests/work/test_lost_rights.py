"""What was lost while a tool of a task waited for a yes: nothing is done that may not be any more."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from loopforge.app import App, open_aside
from loopforge.core.effect_states import EffectFailed
from loopforge.core.room_vocabulary import Heard, Right, RightsSet
from loopforge.core.text.erasable_text import Words
from loopforge.errors import Changed
from loopforge.runtime.ports import Tool, ToolCall
from tests.rooms.conftest import write_mates
from tests.work.conftest import Script, in_order, uses
from tests.work.test_thread_tasks import OTTO, Commons, commons

ORDER = "otto, write a Python server in serve.py"
SENDS = OTTO.replace("work_run]", "work_run, send]")


def installed(app: App) -> list[str]:
    """Let there be the tool `send`; to whom it sent."""
    sent: list[str] = []

    async def send(call: ToolCall) -> str:
        sent.append(str(call.arguments["to"]))
        return "sent"

    app.tools.add(Tool(name="send", summary="Sends.", asks=True), send)
    return sent


@asynccontextmanager
async def office(place: Path, script: Script) -> AsyncIterator[tuple[Commons, list[str]]]:
    """A room whose otto sends what people said yes to; and to whom."""
    async with commons(place, script) as room:
        yield room, installed(room.app)


@pytest.mark.parametrize(
    ("file", "why"),
    [(OTTO, "Otto may not use send in this task any more"), ("", "There is no mate otto any more")],
)
async def test_nobody_can_say_yes_to_a_tool_that_was_taken_away(
    place: Path, file: str, why: str
) -> None:
    """From the mate's file, or with it: whoever tries is told so, and a no ends the question."""
    write_mates(place, ("maya",), otto=SENDS)
    mate = place / "mates" / "otto.md"
    async with office(place, in_order(uses("send", to="all"))) as (room, _):
        task = await room.gives(ORDER, "turn.ended")
    mate.write_text(file) if file else mate.unlink()
    async with office(place, in_order()) as (room, sent):
        with pytest.raises(Changed, match=why):
            await room.does("approve")
    assert sent == []
    mate.write_text(SENDS)
    async with office(place, in_order()) as (room, sent):
        await room.does("deny", "not now")
        assert (await room.shop.state(task)).stage == "finished"
    assert sent == []


async def test_a_yes_that_nobody_carried_out_yet_is_held_against_what_is_so_then(
    place: Path,
) -> None:
    """It was said while the home was down, and the tool was taken away before its start."""
    write_mates(place, ("maya",), otto=SENDS)
    async with office(place, in_order(uses("send", to="all"))) as (room, _):
        task = await room.gives(ORDER, "turn.ended")
    async with open_aside(room.app.settings) as aside:
        installed(aside)
        await aside.work.tasks.allow(task, "ana", owner=True)
    (place / "mates" / "otto.md").write_text(OTTO)
    async with office(place, in_order()) as (room, sent):
        await room.rest()
        assert sent == []
        (failed,) = await room.shop.bodies(task, EffectFailed)
        assert str(failed.value) == (
            "send was not used, though somebody said yes to it: "
            "Otto may not use send in this task any more."
        )
        assert (await room.shop.state(task)).stage == "finished"


async def given_by_bo(room: Commons) -> tuple[str, str]:
    """A task of Bo, who may have two tools used, that asks for one of them; who he is, and its id."""
    bo = (await room.app.front.rooms.enter("commons", "Bo", "terminal")).you
    await sets(room, bo, "tools", "work_run", "send")
    return bo, await given(room, bo)


async def given(room: Commons, bo: str) -> str:
    """The task of Bo, who said it in the room."""
    heard = Heard(person=bo, text=Words(ORDER), surface="terminal")
    await room.app.front.rooms.hear("commons", heard)
    await room.app.front.rooms.settled("commons")
    (task,) = await room.tasks()
    await room.shop.until(task, "turn.ended")
    return task


async def sets(room: Commons, who: str, right: Right, *tools: str) -> None:
    """The owner says what somebody may do besides talking."""
    body = RightsSet(who=who, rights=("talk", right), tools=tools)
    await room.app.front.rooms.add("commons", "", body)
    assert room.app.work.posts is not None
    await room.app.work.posts.settled()


async def test_who_may_have_less_used_than_before_has_no_more_of_it_used(place: Path) -> None:
    """Their task stands still, what it asked is called off, and going on it has that no longer."""
    write_mates(place, ("maya",), otto=SENDS)
    script = in_order(uses("send", to="all"), uses("send", to="all"))
    async with office(place, script) as (room, sent):
        bo, task = await given_by_bo(room)
        await sets(room, bo, "stop")
        assert (await room.shop.state(task)).stage == "stopped"
        await room.rest()
        assert "whoever gave it may have less used here than before" in (await room.said())[-1]
        with pytest.raises(Changed, match="Nothing of this task waits for a yes"):
            await room.shop.tasks.allow(task, room.ana, owner=True)
        await room.does("resume")
        state = await room.shop.state(task)
        assert (state.stage, sent) == ("finished", [])
        assert state.uses[-1].value.startswith("There is no tool 'send' that you may use.")


async def test_a_task_that_stands_still_loses_the_tools_that_whoever_gave_it_loses(
    place: Path,
) -> None:
    """It was stopped before; whoever has it go on later does so without them."""
    write_mates(place, ("maya",), otto=SENDS)
    script = in_order(uses("send", to="all"), uses("send", to="all"))
    async with office(place, script) as (room, sent):
        bo, task = await given_by_bo(room)
        await room.shop.tasks.stop(task, room.ana)
        await sets(room, bo, "stop")
        await room.rest()
        told = "\n".join((await room.said())[-2:])  # each stop says so, the later one perhaps first
        assert "whoever gave it may have less used here than before" in told
        await sets(room, bo, "stop")
        stops = [event for event in await room.shop.events(task) if event.kind == "task.stopped"]
        assert len(stops) == 2, "once for each"
        await room.does("resume")
        state = await room.shop.state(task)
        assert (state.stage, sent) == ("finished", [])
        assert state.uses[-1].value.startswith("There is no tool 'send' that you may use.")


async def test_who_loses_a_tool_with_everyone_has_no_more_of_it_used(place: Path) -> None:
    """As by what is set for one person: the task stands still, and may go on without that tool."""
    write_mates(place, ("maya",), otto=SENDS)
    script = in_order(uses("send", to="all"), uses("send", to="all"))
    async with office(place, script) as (room, sent):
        bo = (await room.app.front.rooms.enter("commons", "Bo", "terminal")).you
        await sets(room, "everyone", "tools", "work_run", "send")
        task = await given(room, bo)
        await sets(room, "keepers", "stop")
        assert (await room.shop.state(task)).stage == "working"
        await sets(room, "everyone", "tools", "work_run")
        assert (await room.shop.state(task)).stage == "stopped"
        await room.rest()
        assert "whoever gave it may have less used here than before" in (await room.said())[-1]
        await room.does("resume")
        assert ((await room.shop.state(task)).stage, sent) == ("finished", [])


async def test_other_rights_than_those_it_uses_stop_no_task(place: Path) -> None:
    """More for whoever gave it, less for somebody else: it goes on as it was."""
    write_mates(place, ("maya",), otto=SENDS)
    async with office(place, in_order(uses("send", to="all"))) as (room, sent):
        bo, task = await given_by_bo(room)
        await sets(room, bo, "tools", "work_run", "send", "clock")
        await sets(room, "everyone", "stop")
        await room.shop.tasks.allow(task, room.ana, owner=True)
        await room.rest()
        assert ((await room.shop.state(task)).stage, sent) == ("finished", ["all"])
