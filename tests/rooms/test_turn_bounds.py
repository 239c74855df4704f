"""Bounds of a turn in a living room: which is met, what the mate is told, and that it answers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from loopforge.chat.why.turn_replay import replay_turn
from loopforge.core.effect_states import EffectDenied, EffectRunning
from loopforge.core.limits.turn_bounds import TurnBounds
from loopforge.core.turn_events import Asked, Perceived, Returned
from loopforge.errors import InputError
from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.runtime.ports import Question
from loopforge.runtime.turn_meter import spent_before
from tests.rooms.conftest import Home, living, write_mates
from tests.rooms.oven import Oven, installed

MATE = """---
name: Maya
role: mate
tools: [{tool}]
bounds: {bounds}
---
You are Maya.
"""


def gluttonous(question: Question) -> ScriptedAnswer:
    """Uses its tool as long as it may, and then says what it was told last."""
    asked = question.messages[-1][1]
    if question.tools:
        name = next(tool.name for tool in question.tools if tool.name in ("clock", "oven"))
        calls = [{"tool": name, "arguments": "{}"}]
        return ScriptedAnswer(data={"say": "", "calls": calls}, cost="0.01")
    return ScriptedAnswer(data={"say": asked.rpartition("\n")[2]})


@asynccontextmanager
async def kitchen(
    path: Path, bounds: str, tool: str = "clock", **oven_: Any
) -> AsyncIterator[tuple[Home, Oven]]:
    """A home whose mate uses a tool as long as it may; `bounds` are those of its file."""
    write_mates(path, (), maya=MATE.replace("{bounds}", bounds).replace("{tool}", tool))
    with installed(**{"patience": 100.0, **oven_}) as oven:
        async with living(path, gluttonous) as home:
            yield home, oven


@pytest.mark.parametrize(
    ("bounds", "tool", "used", "told"),
    [
        ("{calls: 2}", "clock", 2, "tools may be used 2 times in a turn here"),
        ("{seconds: 100}", "oven", 2, "tools may take 100 seconds of a turn here"),
        ("{output: 20}", "clock", 1, "tools may give 20 characters in a turn here"),
        ("{depth: 0}", "clock", 0, "calls may stand 0 deep here, and too many led to this one"),
        ("{money: 0.03}", "clock", 2, "a turn may cost $0.03 here"),
        ("{}", "clock", 8, "tools may be used 8 times in a turn here"),
    ],
)
async def test_a_turn_has_no_more_done_than_its_bounds(
    tmp_path: Path, bounds: str, tool: str, used: int, told: str
) -> None:
    """Whichever is met, the mate is told which, is offered no tool any more, and answers."""
    async with kitchen(tmp_path, bounds, tool) as (home, _):
        await home.hears("ana", "@maya what time is it?")
        bound = f"No tool can be used any more: {told}."
        said = (await home.lines())[1]
        assert said == f"maya: {bound} Answer with what you have; say what is missing."
        assert len(await home.bodies(EffectRunning)) == used
        denied = [each.rule for each in await home.bodies(EffectDenied)]
        late = not used or "money" in bounds  # met before a call, not by it
        assert denied == ["bounds"] * late


async def test_where_a_turn_may_use_no_tool_none_is_offered(tmp_path: Path) -> None:
    """By its file or by the room: it is asked once, and uses none in vain."""
    async with kitchen(tmp_path, "{calls: 0}") as (home, _):
        await home.hears("ana", "@maya what time is it?")
        assert len(await home.bodies(Asked)) == 1
        assert await home.bodies(EffectDenied) == []
    async with kitchen(tmp_path / "room", "{}") as (home, _):
        await home.enter("ana")
        await home.does("ana", "bounds", "calls 0")
        await home.hears("ana", "@maya what time is it?")
        assert len(await home.bodies(Asked)) == 1


async def test_the_strictest_of_mate_room_and_home_holds(tmp_path: Path) -> None:
    """People set a room's where they see it, and take it back; what is left is on record."""
    async with kitchen(tmp_path, "{calls: 3}") as (home, _):
        await home.enter("ana")
        told = await home.does("ana", "bounds", "calls 1, money 0.5")
        assert told.startswith("Limits of tools in one turn: in this room calls 1,")
        assert "in this home calls 8, depth 6, seconds 120, output 40000." in told
        await home.hears("ana", "@maya what time is it?")
        (returned,) = await home.bodies(Returned)
        assert returned.left.startswith("0 uses of tools, 120 seconds, 39,9")
        assert returned.left.endswith(" characters of what they give and $0.4900")
        with pytest.raises(InputError, match="calls is a whole number from 0 to 1,000"):
            await home.does("ana", "bounds", "calls 1.5")
        await home.does("ana", "bounds", "none")
        assert (await home.app.rooms.state(home.room)).bounds == TurnBounds()
        await home.hears("ana", "@maya what time is it?")
        assert len(await home.bodies(EffectRunning)) == 1 + 3


async def test_what_a_tool_gave_beyond_the_bound_is_cut(tmp_path: Path) -> None:
    """The mate is told that, and the bound is met."""
    async with kitchen(tmp_path, "{output: 6}", "oven") as (home, _):
        await home.hears("ana", "@maya bake")
        (returned,) = await home.bodies(Returned)
        cut = "golden\n[cut here: this turn may be told no more of what tools give]"
        assert str(returned.value) == cut


async def test_the_turn_that_a_tools_end_calls_is_one_deeper(tmp_path: Path) -> None:
    """What takes longer than a turn waits wakes its mate, whose calls were led to by one."""
    async with kitchen(tmp_path, "{depth: 1, seconds: 1}", "oven", patience=1.0) as (home, oven):
        await home.hears("ana", "@maya bake")
        await home.passes(60)
        assert len(await home.bodies(Perceived)) == 2
        assert (await home.lines())[-1].startswith("maya: No tool can be used any more: calls may")
        assert len(oven.baked) == 1


async def test_a_turn_that_is_taken_up_after_a_crash_goes_on_counting(tmp_path: Path) -> None:
    """What it used before is gone from its bounds; what its mind was told then is told again."""
    async with kitchen(tmp_path, "{calls: 2}") as (home, _):
        await home.hears("ana", "@maya what time is it?")
        every = await home.events()
        (turn,) = [event for event in every if isinstance(event.body, Perceived)]
        after = [event for event in every if getattr(event.body, "turn", "") == turn.id]
        spent = spent_before(turn, after)
        assert (spent.calls, spent.money) == (2, 0.02)
        assert spent.output == sum(len(str(one.value)) for one in await home.bodies(Returned))
        found = await replay_turn(home.app.ledger, home.app.policies, turn.id)
        assert found.outcome == "same", found.detail
