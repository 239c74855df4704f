"""What tools cost that a task uses: counted when they are used, and held to what is left."""

from pathlib import Path

from loopforge.core.work.task_confidence import START
from loopforge.runtime.ports import Tool, ToolCall
from loopforge.work.task_timeline import TurnShown, timeline_of
from tests.rooms.conftest import write_mates
from tests.work.conftest import in_order, uses, working
from tests.work.test_lost_rights import SENDS
from tests.work.test_task_sandbox import role

PRICE = 3.0


async def test_what_people_allow_later_is_counted_and_what_is_too_dear_is_not_used(
    place: Path,
) -> None:
    """A use that its turn did not wait for is paid, too; the next one costs more than is left."""
    write_mates(place, ("maya",), otto=SENDS)
    sent: list[str] = []

    async def send(call: ToolCall) -> str:
        sent.append(str(call.arguments["to"]))
        return "sent"

    async with working(place, in_order(uses("send", to="Ana"), uses("send", to="Bo"))) as shop:
        shop.app.tools.add(Tool(name="send", summary="Sends.", asks=True, price=PRICE), send)
        id = await shop.tasks.open("Fix app.py in Python", "ana", owner=True, mate="otto", budget=5)
        await shop.until(id, "turn.ended")
        await shop.tasks.allow(id, "ana", owner=True)
        await shop.until(id, "turn.ended", 2)
        state = await shop.state(id)
        told = "Not used: it costs $3, and of the task's $5 there is $2.00 left."
        assert [use.value for use in state.uses] == ["sent", told]
        state = await shop.rest(id)
        assert (sent, float(state.dollars), float(state.progress[-1].cost)) == (["Ana"], 3.0, 3.0)
        drawn = timeline_of(await shop.events(id), START)
        costs = [float(one.cost) for one in drawn if isinstance(one, TurnShown) and one.nth]
        assert costs == [3.0, 0.0, 0.0]


async def test_what_is_under_way_is_left_no_more(place: Path) -> None:
    """A program wants two at once, and there is money for one of them."""
    role(place, "tools: [python, look]")
    both = "import asyncio\nasync def main():\n    return await asyncio.gather(look(), look())"
    code = f"{both}\nawait main()"

    async def look(_: ToolCall) -> str:
        return "seen"

    async with working(place, in_order(uses("python", code=code))) as shop:
        shop.app.tools.add(Tool(name="look", summary="Looks.", idempotent=True, price=PRICE), look)
        id = await shop.tasks.open("Fix app.py in Python", "ana", owner=True, budget=5)
        state = await shop.rest(id)
        assert "it costs $3, and of the task's $5 there is $2.00 left" in state.uses[0].value
        assert float(state.dollars) == PRICE


async def test_a_program_may_use_what_is_left(place: Path) -> None:
    """What it used is taken off once: of five dollars it uses a tool of one dollar five times."""
    role(place, "tools: [python, look]")
    code = "for _ in range(6):\n    print(look())"

    async def look(_: ToolCall) -> str:
        return "seen"

    async with working(place, in_order(uses("python", code=code))) as shop:
        shop.app.tools.add(Tool(name="look", summary="Looks.", idempotent=True, price=1.0), look)
        id = await shop.tasks.open("Fix app.py in Python", "ana", owner=True, budget=5)
        state = await shop.rest(id)
        assert state.uses[0].value.count("seen") == 5
        assert float(state.dollars) == 5.0
