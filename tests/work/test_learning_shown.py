"""Shown: a learner whose success hangs on what the attempt before taught, with and without that.

Forty plants each want a mode that nobody knows; who sets another is told which it was. A task has
one try. The learner guesses, unless it was told something: then it does what it was told first.
Whether a plant ran is known by the plants alone.
"""

import json
import re
from pathlib import Path

import pytest

from loopforge.core.statistics.rate_statistics import PairedDifference, paired_difference, wilson
from loopforge.core.work.work_vocabulary import AttemptScored
from loopforge.runtime.ports import Question, Tool, ToolCall
from loopforge.work.learning.insight_book import compare_learning_arms
from tests.work.conftest import Step, says, uses, working
from tests.work.test_attempt_learning import looks_back, sentence

MODES = "ABCDEFGH"
ROLE = "---\nname: Pia\nhandle: python-coder\nrole: coder\ntools: [set_mode]\n---\nYou run plants."
SCHEMA = {
    "type": "object",
    "properties": {"plant": {"type": "integer"}, "mode": {"type": "string"}},
}


def wanted(plant: int) -> str:
    """The mode in which a plant runs."""
    return MODES[(5 * plant + 3) % len(MODES)]


def guessed(plant: int) -> str:
    """The mode that the learner guesses, which has nothing to do with that: one of four is right."""
    return MODES[(3 * plant + 1) % len(MODES)]


class Plants:
    """The world: it knows which plants ran in which round."""

    def __init__(self) -> None:
        self.ran: dict[str, dict[int, bool]] = {}
        self.round = ""
        self.attempts: list[AttemptScored] = []

    async def set_mode(self, call: ToolCall) -> str:
        """Set a mode, once."""
        plant, mode = int(call.arguments["plant"]), str(call.arguments["mode"])
        good = mode == wanted(plant)
        self.ran.setdefault(self.round, {})[plant] = good
        if good:
            return f"[exit code 0]\nplant {plant} runs in {mode}"
        return f"[exit code 1]\nError: plant {plant} wanted {wanted(plant)}"


def learner(asked: Question) -> Step:
    """Does what it is told first, else guesses; looks back by what the plant said."""
    text = "\n".join(said for _, said in asked.messages)
    plant = int(re.findall(r"plant (\d+)", text)[-1])
    if looks_back(asked):
        mode = re.findall(r"(?:wanted|runs in) ([A-H])\b", text)[-1]
        return {
            "failed": [sentence("The command failed.", 1)] if "exit code 1" in text else [],
            "root_cause": sentence("The mode was a guess.", 1),
            "strategy_change": sentence("Use the known mode.", 1),
            "insight": sentence(f"Mode {mode} is right for number {plant}.", 1),
        }
    if "exit code" in text:
        return says("done", "The mode is set.", confidence=90)
    told = re.search(r"Mode ([A-H]) is right", text)
    return uses("set_mode", plant=plant, mode=told[1] if told else guessed(plant))


async def round_of(place: Path, plants: Plants, name: str, learning: str, count: int) -> None:
    """One task for each plant, in the plant's own thread."""
    plants.round = name
    async with working(place, learner, {"LOOPFORGE_WORK_LEARNING": learning}) as shop:
        tool = Tool(name="set_mode", summary="Sets the mode of a plant.", schema=SCHEMA)
        shop.app.tools.add(tool, plants.set_mode)
        for plant in range(count):
            await shop.give(f"Fix plant {plant} in Python", thread=f"plant-{plant}")
        plants.attempts = await shop.tasks.world.learning.book.attempts()


async def rounds(place: Path, count: int) -> Plants:
    """A first attempt at each plant, and then a second one in each arm."""
    (place / "roles").mkdir()
    (place / "roles" / "python-coder.md").write_text(ROLE)
    plants = Plants()
    for name, learning in (
        ("first", "unused"),
        ("off", "off"),
        ("on", "on"),
        ("shuffled", "shuffled"),
    ):
        await round_of(place, plants, name, learning, count)
    return plants


def difference(plants: Plants, a: str, b: str) -> PairedDifference:
    """How much more plants ran in arm `b` than in arm `a`, plant by plant."""
    return paired_difference(
        {
            plant: ((int(good), 1), (int(plants.ran[b][plant]), 1))
            for plant, good in plants.ran[a].items()
        }
    )


@pytest.mark.timeout(120)
async def test_an_insight_makes_the_next_attempt_better(place: Path) -> None:
    """All plants run with it, and none without it or with those of others; the scores say so."""
    plants = await rounds(place, 2)
    ran = {name: sum(found.values()) for name, found in plants.ran.items()}
    assert ran == {"first": 0, "off": 0, "on": 2, "shuffled": 0}
    means = {one.arm: one.mean for one in compare_learning_arms(plants.attempts)}
    assert means["on"] > means["off"] + 10
    assert means["on"] > means["shuffled"] + 10


@pytest.mark.patient
@pytest.mark.timeout(600)
async def test_forty_plants_show_it_with_intervals(place: Path) -> None:
    """Better with what was learned, not without, and not with what other tasks taught."""
    plants = await rounds(place, 40)
    rates = {name: wilson(sum(ran.values()), len(ran)) for name, ran in plants.ran.items()}
    assert all(rate.n == 40 for rate in rates.values())
    assert rates["on"].low > 0.9
    assert rates["first"].estimate == rates["off"].estimate == 0.25
    learned = difference(plants, "off", "on")
    assert learned.interval.low > 0.5
    assert learned.p < 0.001
    foreign, apart = difference(plants, "off", "shuffled"), difference(plants, "shuffled", "on")
    assert foreign.interval.low <= 0.2
    assert apart.interval.low > 0.5
    arms = compare_learning_arms(plants.attempts)
    figures = {name: (round(one.low, 2), round(one.high, 2)) for name, one in rates.items()}
    print(json.dumps({"ran": {n: sum(r.values()) for n, r in plants.ran.items()}, "95%": figures}))
    print(learned.interval, foreign.interval, apart.interval, *arms, sep="\n")
    assert {one.arm for one in arms} == {"on", "off", "shuffled"}


def test_a_first_attempt_alone_counts_for_its_task() -> None:
    """Attempts of one task are not independent; and an arm without attempts is left out."""

    def attempt(nth: int, together: float) -> AttemptScored:
        return AttemptScored(
            attempt=nth,
            mate="pia",
            completion=0,
            quality=0,
            efficiency=0,
            together=together,
        )

    (only,) = compare_learning_arms([attempt(1, 40), attempt(2, 90), attempt(1, 60)])
    assert (only.arm, only.attempts, only.mean) == ("on", 2, 50)
