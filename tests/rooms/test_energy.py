"""Energy bounds everything that mates do without people."""

import itertools
from pathlib import Path

import pytest

from loopforge.core.room_vocabulary import Heard, Said
from loopforge.models.scripted_model import ScriptedAnswer
from loopforge.runtime.ports import Question
from tests.rooms.conftest import NAMES, living, write_mates
from tests.rooms.test_talking import speaker


@pytest.mark.sample(2)
@pytest.mark.parametrize("wait", [0.0, 600.0], ids=["at once", "one line in ten minutes"])
async def test_five_mates_alone_for_an_hour(tmp_path: Path, wait: float) -> None:
    """Five mates that always call each other say at most the set number of lines, fast or slow."""
    write_mates(tmp_path, NAMES)
    numbers = itertools.count()

    def script(question: Question) -> ScriptedAnswer:
        me = speaker(question)
        others = [name for name in NAMES if name != me]
        number = next(numbers)
        call = f"@{others[number % len(others)]} @{others[(number + 1) % len(others)]}"
        data = {"say": f"{call} what of number {number}?", "speak": True}
        return ScriptedAnswer(data=data, wait=wait)

    async with living(tmp_path, script, energy_capacity=7, energy_refill=3) as home:
        await home.says("ana", "anybody here? @maya, begin!")
        for _ in range(60):
            await home.clock.advance(60)
        await home.rest()
        heard = [e for e in await home.events() if isinstance(e.body, Heard)]
        said = [one.mate for one in await home.bodies(Said)]
        assert len(heard) == 1
        assert 3 <= len(said) <= 7
        assert len(set(said)) >= 3, "it took more than two of them"
        await home.passes(24 * 3600)
        assert await home.said() == said, "time gives nothing back"
        await home.hears("ana", "@vera go on")
        assert len(await home.said()) <= 7 + 3


async def test_a_mate_that_is_called_and_has_no_energy_says_so_once(tmp_path: Path) -> None:
    """A person who calls in a room without energy is told, once, why nobody answers."""
    async with living(tmp_path, energy_capacity=0, energy_refill=0) as home:
        for _ in range(2):
            await home.hears("ana", "@maya are you there?")
        assert await home.said() == []
        told = [line for line in await home.lines() if line.startswith("*")]
        quiet = "* Maya stays quiet: this room has no energy left for mates to speak."
        assert told == [f"{quiet} /energy shows how much there is, and sets it."]
