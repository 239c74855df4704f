"""Several tools in one answer of a mate: side by side, in turn, and over a death of the program."""

import json
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from loopforge.core.turn_events import Returned
from loopforge.models.scripted_model import Script
from loopforge.runtime.effects.effect_worker import DIED
from loopforge.runtime.ports import Question, Tool, ToolCall
from tests.rooms.conftest import START, Home, write_mates
from tests.rooms.oven import Oven
from tests.rooms.test_talking import speaker
from tests.rooms.test_tools import MATE, ended, kitchen

READ: dict[str, Any] = {"harmless": True, "idempotent": True, "patience": 100.0}
CHANGE: dict[str, Any] = {"harmless": False, "idempotent": False, "patience": 100.0}


def bakes(*degrees: object) -> Script:
    """Maya bakes so hot, all in one answer, and says what came of it."""

    def script(question: Question) -> dict[str, object]:
        if speaker(question) != "maya":
            return {"say": "Hello."}
        results = [text for _, text in question.messages if text.startswith("[result of")]
        if results:
            return {"say": " ".join(" ".join(text.split()) for text in results)}
        calls = [{"tool": "oven", "arguments": json.dumps({"degrees": each})} for each in degrees]
        return {"say": "", "calls": calls}

    return script


async def baking(home: Home, oven: Oven, *degrees: object) -> None:
    """Wait until the oven has been set so."""
    while sorted(map(str, oven.baked)) != sorted(map(str, degrees)):
        await home.clock.advance(1)
        assert oven.done == 0, oven.baked


async def given(home: Home) -> Sequence[str]:
    """What the uses of tools came to, as it stands in the record."""
    return sorted(one.outcome for one in await home.bodies(Returned))


async def test_what_only_reads_is_used_side_by_side(tmp_path: Path) -> None:
    """Three that take a minute take a minute; results come in the order they were asked for."""
    async with kitchen(tmp_path, bakes(1, 2, 3), **READ) as (home, oven):
        began = home.clock.ticks()
        await home.hears("ana", "@maya bake me a cake")
        assert home.clock.ticks() - began < 100
        assert sorted(map(str, oven.baked)) == ["1", "2", "3"]
        said = (await home.lines())[-1]
        told = [f'[result of oven: (for {{"degrees": {n}}}) | golden brown]' for n in (1, 2, 3)]
        assert said == f"maya: {' '.join(told)}"
        await home.replays()


async def test_stop_ends_all_that_run_side_by_side(tmp_path: Path) -> None:
    """Within a second, and nothing comes of any of them."""
    async with kitchen(tmp_path, bakes(1, 2, 3), **READ) as (home, oven):
        await home.says("ana", "@maya bake me a cake")
        await baking(home, oven, 1, 2, 3)
        began = home.clock.ticks()
        await home.hears("ana", "stop")
        assert home.clock.ticks() - began < 1
        await home.passes(100)
        assert (await ended(home), oven.done) == (["stopped"], 0)
        assert (await home.kinds("effect.")).count("effect.stopped") == 3


async def test_a_death_while_several_only_read(tmp_path: Path) -> None:
    """Each is an effect of its own, is made again, and the room has its one answer."""
    async with kitchen(tmp_path, bakes(1, 2), **READ) as (home, oven):
        await home.says("ana", "@maya bake me a cake")
        await baking(home, oven, 1, 2)
    later = START + timedelta(hours=1)
    async with kitchen(tmp_path, bakes(1, 2), start=later, **READ) as (home, oven):
        await home.rest()
        assert sorted(map(str, oven.baked)) == ["1", "2"]
        assert (await home.lines())[-1].count("golden brown") == 2
        assert await ended(home) == ["done"]
        assert await home.said() == ["maya"]
        assert (await home.kinds("effect.")).count("effect.proposed") == 2
        await home.replays()


async def test_a_death_in_the_first_of_two_that_change_something(tmp_path: Path) -> None:
    """Nobody knows what became of it: it is not made again, and the one behind it never begins."""
    async with kitchen(tmp_path, bakes(1, 2), **CHANGE) as (home, oven):
        await home.says("ana", "@maya bake me a cake")
        await baking(home, oven, 1)
    later = START + timedelta(hours=1)
    async with kitchen(tmp_path, bakes(1, 2), start=later, **CHANGE) as (home, oven):
        await home.rest()
        assert oven.baked == []
        said = (await home.lines())[-1]
        assert f'[result of oven, unknown: (for {{"degrees": 1}}) | {DIED}]' in said
        assert "oven was not used: the tool before it did not come back." in said
        assert (await home.kinds("effect.")).count("effect.proposed") == 1
        assert await home.said() == ["maya"]
        await home.replays()


async def test_a_wrong_one_among_several_hinders_no_other(tmp_path: Path) -> None:
    """The mate is told of each what came of it."""
    async with kitchen(tmp_path, bakes(1, "hot", 3), **READ) as (home, _):
        await home.hears("ana", "@maya bake me a cake")
        assert await given(home) == ["refused", "returned", "returned"]
        said = (await home.lines())[-1]
        assert "argument 'degrees' is not as it wants it" in said
        assert said.count("golden brown") == 2
        await home.replays()


@pytest.mark.parametrize("order", [("oven", "peek"), ("peek", "oven")])
@pytest.mark.parametrize("answer", ["approve 1", "deny 1 it is private"])
async def test_one_that_asks_first_beside_one_that_does_not(
    tmp_path: Path, order: tuple[str, str], answer: str
) -> None:
    """Both only read: one runs at once, the other waits for people, and is told when they spoke."""
    peeked = list[str]()

    def script(question: Question) -> dict[str, object]:
        if speaker(question) != "maya":
            return {"say": "Hello."}
        results = [text for _, text in question.messages if text.startswith("[result of")]
        if results:
            return {"say": " ".join(" ".join(text.split()) for text in results)}
        return {"say": "", "calls": [{"tool": each, "arguments": "{}"} for each in order]}

    async def peek(call: ToolCall) -> str:
        peeked.append(call.id)
        return "a letter from the king"

    async with kitchen(tmp_path, script, **READ) as (home, oven):
        write_mates(tmp_path, (), maya=MATE.format(name="Maya").replace("oven", "oven, peek"))
        asks = Tool(name="peek", summary="Peeks.", asks=True, harmless=True, idempotent=True)
        home.app.tools.add(asks, peek)
        await home.hears("ana", "@maya bake me a cake")
        assert await given(home) == ["deferred", "returned"]
        said = (await home.lines())[-1]
        assert "golden brown" in said
        assert "nobody has answered yet" in said
        assert (oven.done, peeked) == (1, [])
        command, _, argument = answer.partition(" ")
        await home.acts("ana", command, argument)
        told = (await home.lines())[-1]
        assert ("a letter from the king" if command == "approve" else "it is private") in told
        assert len(peeked) == (command == "approve")
        assert oven.done == 1
        await home.replays()
