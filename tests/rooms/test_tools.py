"""Tools in a living room: used within a turn, waited for, stopped, and taken up after a crash."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from loopforge.chat.room.room_store import stream_of
from loopforge.chat.why.turn_replay import replay_turn
from loopforge.core.effect_states import EffectProposed
from loopforge.core.room_vocabulary import LineDeleted, Weighed, Weight
from loopforge.core.text.erasable_text import Words
from loopforge.core.turn_events import (
    Called,
    Judged,
    LineRun,
    Perceived,
    Planned,
    TurnEnded,
    Verdict,
)
from loopforge.ledger.sql_ledger import open_ledger
from loopforge.models.scripted_model import Script, ScriptedAnswer
from loopforge.policies.prompt_building import LISTING
from loopforge.runtime.effects.effect_worker import DIED
from loopforge.runtime.ports import Question, Tool, ToolCall
from tests.rooms.conftest import START, Home, living, write_mates
from tests.rooms.oven import Oven, installed
from tests.rooms.test_talking import speaker
from tests.sim_clock import SimClock

MATE = """---
name: {name}
role: mate
tools: [oven]
---
You are {name}.
"""
SHOWN = '{"step":0,"name":"Maya","role":"mate","context":{"tools":"oven","model":"full"}}'


def baker(question: Question) -> dict[str, object]:
    """Maya bakes when she is asked to, and says what she knows of the oven."""
    if speaker(question) != "maya":
        return {"say": "Hello."}
    results = [text for _, text in question.messages if text.startswith("[result of")]
    if not results and "bake" in str(question.messages):
        return {"say": "", "tool": "oven", "arguments": '{"degrees": 180}'}
    return {"say": f"The oven says: {results[-1] if results else 'nothing'}"}


@asynccontextmanager
async def kitchen(
    path: Path, script: Script = baker, *, start: datetime = START, **tool: Any
) -> AsyncIterator[tuple[Home, Oven]]:
    """A home whose mates have an oven; `tool` are its properties."""
    for name in ("maya", "merlin", "zuzu"):
        write_mates(path, (), **{name: MATE.format(name=name.capitalize())})
    with installed(**tool) as oven:
        async with living(path, script, clock=SimClock(start)) as home:
            yield home, oven


async def baking(home: Home, oven: Oven) -> None:
    """Wait until the oven is in use."""
    while not oven.baked:
        await home.clock.advance(1)


async def ended(home: Home) -> list[str]:
    """How turns ended."""
    return [one.outcome for one in await home.bodies(TurnEnded)]


async def test_a_mate_uses_a_tool_and_answers_in_the_same_turn(tmp_path: Path) -> None:
    """What it gave is shown to the model, the room gets one answer, and the turn replays."""
    async with kitchen(tmp_path, patience=100.0) as (home, oven):
        await home.hears("ana", "@maya bake me a cake")
        assert (await home.lines())[1:] == ["maya: The oven says: [result of oven: golden brown]"]
        assert oven.baked == [180]
        (turn,) = [event for event in await home.events() if isinstance(event.body, Perceived)]
        found = await replay_turn(home.app.ledger, home.app.policies, turn.id)
        assert found.outcome == "same", found.detail
        assert await home.kinds("effect.") == [
            "effect.proposed",
            "effect.approved",
            "effect.running",
            "effect.returned",
        ]


async def test_a_mate_is_told_what_a_tool_does_and_wants(tmp_path: Path) -> None:
    """Its summary and the schema of its arguments stand in the front of the prompt."""
    async with kitchen(tmp_path) as (home, _):
        await home.hears("ana", "@maya hello")
        front = home.models.asked[0].messages[LISTING][1]
        assert 'oven: Bakes. Its arguments: {"degrees": {"type": "integer"}}' in front


async def test_long_work_ends_the_turn_and_its_end_wakes_the_mate(tmp_path: Path) -> None:
    """It says at once that the work goes on; later it is shown the end, and says that."""
    async with kitchen(tmp_path) as (home, _):
        await home.hears("ana", "@maya bake me a cake")
        first = (await home.lines())[-1]
        assert first.startswith("maya: The oven says: [result of oven, deferred: It is not done")
        await home.hears("bo", "@merlin hello")
        assert (await home.said())[-1] == "merlin", "others are answered meanwhile"
        await home.passes(60)
        assert (await home.lines())[-1] == ("maya: The oven says: [result of oven: golden brown]")
        assert (await home.said()).count("maya") == 2


async def test_what_ends_while_its_turn_still_thinks_is_shown_in_the_next(tmp_path: Path) -> None:
    """A tool that was told to go on, and ended before the turn did, wakes its mate all the same."""

    def script(question: Question) -> ScriptedAnswer:
        answer = baker(question)
        return ScriptedAnswer(data=answer, wait=90 if "deferred" in str(answer) else 0)

    async with kitchen(tmp_path, script) as (home, oven):
        await home.hears("ana", "@maya bake me a cake")
        said = [line for line in await home.lines() if line.startswith("maya")]
        assert len(said) == 2
        assert "golden brown" in said[-1]
        assert oven.done == 1


async def test_wrong_arguments_reach_no_tool(tmp_path: Path) -> None:
    """The model is told which argument is wrong, and why, in the same turn."""

    def script(question: Question) -> dict[str, object]:
        if "[result of" in str(question.messages):
            return baker(question)
        return {"say": "", "tool": "oven", "arguments": '{"degrees": "hot"}'}

    async with kitchen(tmp_path, script) as (home, oven):
        await home.hears("ana", "@maya bake me a cake")
        assert oven.baked == []
        assert "argument 'degrees' is not as it wants it" in (await home.lines())[-1]
        assert await home.kinds("effect.") == ["effect.proposed", "effect.denied"]


# ---------------------------------------------------------------- stop


async def test_stop_ends_a_turn_and_its_tool_at_once(tmp_path: Path) -> None:
    """The turn says "stopped", the tool is cancelled, and nothing comes of it later."""
    async with kitchen(tmp_path, patience=100.0) as (home, oven):
        await home.says("ana", "@maya bake me a cake")
        await baking(home, oven)
        began = home.clock.ticks()
        await home.hears("ana", "stop")
        assert home.clock.ticks() - began < 1
        await home.passes(100)
        assert await ended(home) == ["stopped"]
        assert (await home.kinds("effect."))[-1] == "effect.stopped"
        assert oven.done == 0
        assert await home.said() == []


async def test_stop_ends_work_that_outlasted_its_turn(tmp_path: Path) -> None:
    """Nobody is woken by it; who is asked later knows that it was stopped."""
    async with kitchen(tmp_path) as (home, oven):
        await home.hears("ana", "@maya bake me a cake")
        await home.says("ana", "stop")
        await home.passes(100)
        assert (await home.kinds("effect."))[-1] == "effect.stopped"
        assert (oven.done, await home.said()) == (0, ["maya"])
        await home.hears("ana", "@maya what now?")
        assert "[result of oven, stopped: a person said stop]" in (await home.lines())[-1]


async def test_a_room_that_is_closed_stops_its_effects_and_forgets_them(tmp_path: Path) -> None:
    """Nothing runs on for a room that is no more, and no word of it stays."""
    async with kitchen(tmp_path) as (home, oven):
        await home.hears("ana", "@maya bake me a cake")
        await home.app.closing.close_room(home.room, home.people["ana"])
        assert await home.app.ledger.open_effects() == []
        await home.clock.advance(100)
        assert oven.done == 0
        proposed = next(e.body for e in await home.events() if isinstance(e.body, EffectProposed))
        assert proposed.arguments.text is None


async def test_deleted_lines_take_along_what_was_done_for_them(tmp_path: Path) -> None:
    """The turn about them is stopped, with its tool."""
    async with kitchen(tmp_path, patience=100.0) as (home, oven):
        line = await home.says("ana", "@maya bake me a cake")
        await baking(home, oven)
        await home.app.rooms.delete(home.room, home.people["ana"], line.id)
        await home.rest()
        assert await ended(home) == ["stopped"]
        assert (await home.kinds("effect."))[-1] == "effect.stopped"


# ---------------------------------------------------------------- side by side


async def test_a_slow_tool_in_one_room_holds_up_no_other(tmp_path: Path) -> None:
    """Each room has its lane, each effect its own."""
    async with kitchen(tmp_path, patience=100.0) as (home, oven):
        await home.says("ana", "@maya bake me a cake")
        await baking(home, oven)
        home.room = "other"
        await home.enter("ana")
        await home.hears("ana", "@maya hello")
        assert await home.said() == ["maya"]
        await home.hears("ana", "stop")
        home.room = "commons"
        await home.rest()
        assert oven.done == 1, "a stop there stops nothing here"
        assert await home.said() == ["maya"]


# ---------------------------------------------------------------- after a crash


@pytest.mark.parametrize(
    ("idempotent", "baked", "told"),
    [(True, 1, "oven: golden brown"), (False, 0, f"oven, unknown: {DIED}")],
)
async def test_what_was_under_way_when_the_program_died(
    tmp_path: Path, idempotent: bool, baked: int, told: str
) -> None:
    """It begins anew only if that does no harm; its mate is told the end, or that it is unknown."""
    async with kitchen(tmp_path, idempotent=idempotent) as (home, _):
        await home.hears("ana", "@maya bake me a cake")
        assert (await home.kinds("effect."))[-1] == "effect.running"
    later = START + timedelta(hours=1)
    async with kitchen(tmp_path, idempotent=idempotent, start=later) as (home, oven):
        await home.passes(60)
        assert oven.done == baked
        assert (await home.lines())[-1] == f"maya: The oven says: [result of {told}]"


async def test_a_turn_that_died_while_its_tool_ran_is_told_what_came_of_it(
    tmp_path: Path,
) -> None:
    """The turn is taken up, and waits for the tool that begins anew."""
    async with kitchen(tmp_path, patience=100.0) as (home, oven):
        await home.says("ana", "@maya bake me a cake")
        await baking(home, oven)
    later = START + timedelta(hours=1)
    async with kitchen(tmp_path, patience=100.0, start=later) as (home, oven):
        await home.rest()
        assert (await home.lines())[1:] == ["maya: The oven says: [result of oven: golden brown]"]
        assert await ended(home) == ["done"]


async def test_a_tool_of_a_turn_that_was_stopped_before_a_death_stays_stopped(
    tmp_path: Path,
) -> None:
    """The line that had it used was deleted, and the home died before that came to the tool."""
    async with kitchen(tmp_path, patience=100.0) as (home, oven):
        line = await home.says("ana", "@maya bake me a cake")
        await baking(home, oven)
        place, stamp = home.app.settings.database_url, home.app.stamp
    ledger = await open_ledger(place, stamp.clock, stamp.dice)
    gone = stamp.fact(LineDeleted(line=line.id, by="p"), actor="person:p")
    await ledger.append("room:commons", [gone])
    await ledger.close()
    later = START + timedelta(hours=1)
    async with kitchen(tmp_path, patience=100.0, start=later) as (home, oven):
        await home.finishes()
        assert (await home.kinds("effect."))[-1] == "effect.stopped"
        assert (oven.baked, await ended(home)) == ([], ["stopped"])


async def test_a_turn_of_before_that_died_while_its_acts_tool_ran_is_closed(
    tmp_path: Path,
) -> None:
    """An earlier program's plan stands, and its tool may have run: nothing of it is made again."""
    async with kitchen(tmp_path) as (home, _):
        line = await home.hears("ana", "hm")
        stamp, actor = home.app.stamp, "mate:maya"
        began = stamp.fact(
            Perceived(
                mate="maya",
                policy="talk/2",
                mind="0",
                line=line.id,
                summons="name",
                step=0,
                shown=Words(SHOWN),
                lines=LineRun(more=()),
            ),
            actor=actor,
        )
        turn = began.id
        bodies = (
            Planned(turn=turn, intent="think", mode="context", plan=Words("{}")),
            Judged(turn=turn, verdicts=(Verdict(act="use_tool", allowed=True),)),
            Called(turn=turn, nth=1000, tool="oven", arguments=Words("{}")),
        )
        await home.app.lanes.close()
        called = Weight(mate="maya", line=line.id, score=90, summons="name", verdict="speak")
        weighed = stamp.fact(Weighed(upto=line.seq, weights=(called,)), actor="room")
        facts = [weighed, began, *(stamp.fact(body, actor=actor) for body in bodies)]
        await home.app.ledger.append(stream_of(home.room), facts)
    async with kitchen(tmp_path, start=START + timedelta(hours=1)) as (home, oven):
        await home.rest()
        assert (await ended(home))[-1] == "diverged"
        assert (await home.app.rooms.state(home.room)).open == {}
        assert oven.baked == []


async def test_a_tool_for_other_mates_is_none_of_a_mate_that_names_it(tmp_path: Path) -> None:
    """Neither by its name nor by a pattern."""

    async def polish(_: ToolCall) -> str:
        return "Done."

    with installed():
        wanted = MATE.replace("[oven]", '[oven, wax, "w*"]').format(name="Maya")
        write_mates(tmp_path, (), maya=wanted)
        left = [{"say": "", "tool": "wax", "arguments": "{}"}, {"say": "Well."}]

        def script(_: Question) -> dict[str, object]:
            return dict(left.pop(0))

        async with living(tmp_path, script) as home:
            home.app.tools.add(Tool(name="wax", summary="Waxes.", mates=("zuzu",)), polish)
            await home.hears("ana", "@maya wax")
            assert "wax" not in [one.name for one in home.models.asked[0].tools]
            assert await home.kinds("effect.") == ["effect.proposed", "effect.denied"]


async def test_of_five_hundred_tools_a_mate_is_shown_those_that_fit(tmp_path: Path) -> None:
    """The first prompt stays under 8 kB; find_tools stands in it, and what it finds may be used."""
    names = [f"machine_{number}" for number in range(500)]
    many = MATE.replace("[oven]", '[oven, "machine_*"]')

    async def polish(_: ToolCall) -> str:
        return "Done."

    def seeking(question: Question) -> dict[str, object]:
        if "[result of machine_321" in str(question.messages):
            return {"say": "Polished."}
        if "[result of find_tools" in str(question.messages):
            return {"say": "", "tool": "machine_321", "arguments": "{}"}
        return {"say": "", "tool": "find_tools", "arguments": '{"purpose": "polish item 321"}'}

    with installed():
        for name in ("maya", "merlin", "zuzu"):
            write_mates(tmp_path, (), **{name: many.format(name=name.capitalize())})
        words_alone = {"LOOPFORGE_EMBEDDINGS_URL": "http://127.0.0.1:1/v1"}
        async with living(tmp_path, seeking, environ=words_alone) as home:
            for number, name in enumerate(names):
                wants = {"type": "object", "properties": {"item": {"description": "which item"}}}
                tool = Tool(
                    name=name,
                    summary=f"Polishes item {number}.",
                    schema=wants,
                    idempotent=True,
                    harmless=True,
                )
                home.app.tools.add(tool, polish)
            await home.hears("ana", "@maya bake me a cake in the oven")
            first = home.models.asked[0].messages
            assert sum(len(text.encode()) for _, text in first) < 8_000
            assert (await home.bodies(Perceived))[0].tokens > 600, "what tools take is counted"
            assert "find_tools: Finds more tools" in first[LISTING][1]
            assert "oven: Bakes." in first[LISTING][1]
            assert "machine_321" not in first[LISTING][1]
            assert "machine_321: Polishes item 321." in str(home.models.asked[1].messages)
            assert (await home.lines())[-1] == "maya: Polished."
            await home.hears("ana", "@maya polish item 77")
            assert "machine_77: " in home.models.asked[3].messages[LISTING][1]
