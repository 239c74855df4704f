"""What an attempt taught is kept, put before the next one, and is people's to change."""

import asyncio
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from loopforge import cli
from loopforge.core.turn_events import Perceived
from loopforge.core.work.work_vocabulary import AttemptScored, TaskLearned
from loopforge.runtime.ports.memory_port import KeptItem
from tests.work.conftest import Workshop, in_order, uses, working
from tests.work.test_attempt_learning import looks_back, reflecting, sentence

TASK = "Fix app.py in Python"
INSIGHT = "Look at the files before you change one."
MATE = "python-coder"


async def insights(shop: Workshop, mate: str = MATE) -> list[KeptItem]:
    """What a mate learned."""
    return await shop.app.memory.store.items(mate, layers=("insight",))


async def told(shop: Workshop, id: str) -> str:
    """What a mate was asked first in its work on a task."""
    (event,) = [one for one in await shop.events(id) if one.kind == "turn.perceived"][:1]
    assert isinstance(event.body, Perceived)
    work = [one for one in shop.models.asked if not looks_back(one)]
    return str(work[-1].messages)


async def test_what_one_task_taught_is_put_before_the_next(place: Path) -> None:
    """With the task that taught it; it is on record, and the score names what was used."""
    async with working(place, reflecting(in_order())) as shop:
        first = await shop.give(TASK, thread="t")
        assert INSIGHT not in await told(shop, first)
        (item,) = await insights(shop)
        assert [one.insights for one in await shop.bodies(first, TaskLearned)] == [(item.id,)]
        second = await shop.give(TASK, thread="t")
        text = await told(shop, second)
        assert f"from the task {first[-8:]}: {INSIGHT}" in text
        assert "a look back on attempt 1" in text
        assert "Look first." in text
        turns = await shop.bodies(second, Perceived)
        assert [one.of for one in turns[0].recalled] == [item.id]
        (score,) = await shop.bodies(second, AttemptScored)
        assert (score.used, score.arm) == ((item.id,), "on")
        assert len(await insights(shop)) == 1
        (row,) = await shop.tasks.world.learning.book.insights(MATE)
        assert (row.task, row.worth.uses) == (first, 1)
        assert (await shop.app.ledger.verify()).sound


async def test_an_insight_goes_no_further_than_who_it_is_of(place: Path) -> None:
    """The same person elsewhere is told it; another person is not, nor a room of others."""
    async with working(place, reflecting(in_order())) as shop:
        await shop.give(TASK, thread="t")
        for person, thread, known in (
            ("ana", "u", True),
            ("bo", "u", False),
            ("bo", "t", True),
        ):
            id = await shop.tasks.open(TASK, person, thread=thread)
            await shop.rest(id)
            assert (INSIGHT in await told(shop, id)) is known, (person, thread)


async def test_what_a_room_taught_stays_there(place: Path) -> None:
    """Its people are told it in that room; who gave the task is told it nowhere else."""
    async with working(place, reflecting(in_order())) as shop:
        await shop.give(TASK, thread="room:x")
        elsewhere = await shop.give(TASK, thread="u")
        assert INSIGHT not in await told(shop, elsewhere)
        (item, *_) = await insights(shop)
        there = await shop.give(TASK, thread="room:x")
        assert INSIGHT in await told(shop, there)
        assert item.about == ("ana",)


@pytest.mark.parametrize(
    ("insight", "why"),
    [
        ("Fix app.py in Python twice.", "it holds what a person said"),
        ("The key sk-ant-abcdefghijklmnopqrstuv opens it.", "it held a secret"),
        ("All tests passed here.", "the record says otherwise"),
        ("", "it found no insight"),
    ],
)
async def test_what_is_not_its_own_is_not_kept(insight: str, why: str, place: Path) -> None:
    """Words of people, secrets, and what the record contradicts; the reason is on record."""
    script = reflecting(in_order(), insight=sentence(insight, 9 if "tests" in insight else 1))
    async with working(place, script) as shop:
        id = await shop.give(TASK)
        (learned,) = await shop.bodies(id, TaskLearned)
        assert learned.left.startswith(why)
        assert await insights(shop) == []


@pytest.mark.parametrize("arm", ["unused", "shuffled", "off"])
async def test_the_ablation_is_a_switch(arm: str, place: Path) -> None:
    """Then a task is not given what its thread taught, whatever else it is given."""
    async with working(place, reflecting(in_order())) as shop:
        await shop.give(TASK, thread="t")
        other = reflecting(in_order(), insight=sentence("Count twice.", 1))
        shop.models._script = other
        await shop.give(TASK, thread="u")
    async with working(place, reflecting(in_order()), {"LOOPFORGE_WORK_LEARNING": arm}) as shop:
        id = await shop.give(TASK, thread="t")
        text = await told(shop, id)
        assert INSIGHT not in text
        assert ("Count twice." in text) is (arm == "shuffled")
        (score,) = await shop.bodies(id, AttemptScored)
        assert score.arm == ("shuffled" if arm == "shuffled" else "off")


async def test_people_change_what_was_learned(place: Path) -> None:
    """By commands: seen with what it was worth, corrected, locked, given on, let go."""

    async def command(*words: str) -> str:
        typed = ["--home", str(place), "work", "insights", *words]
        out = await asyncio.to_thread(CliRunner().invoke, cli.root, typed)
        assert out.exit_code == 0, out.output
        return out.output

    async with working(place, reflecting(in_order())) as shop:
        first = await shop.give(TASK, thread="t")
    (row,) = json.loads(await command("list", "--json"))
    assert (row["mate"], row["text"], row["task"], row["uses"]) == (MATE, INSIGHT, first, 0)
    number = str(row["number"])
    await command("correct", MATE, number, "Count the files first.")
    await command("lock", MATE, number)
    assert "js-coder" in await command("give", MATE, number, "js-coder")
    listed = await command("list")
    assert listed.count("Count the files first.") == 2
    assert "locked" in listed
    await command("drop", MATE, number)
    async with working(place, reflecting(in_order(uses("work_list")))) as shop:
        await shop.give(TASK, thread="t")
        assert "Count the files" not in str(shop.models.asked[0].messages)
        given = await shop.give("Fix app.js in JavaScript", thread="t")
        assert "Count the files first." in await told(shop, given)


async def test_with_its_task_an_insight_is_forgotten(place: Path) -> None:
    """What rested on its words is gone from memory, and is told to nobody."""
    async with working(place, reflecting(in_order())) as shop:
        id = await shop.give(TASK, thread="t")
        await shop.app.work.forgetting.forget(id, "ana")
        assert [one.state for one in await insights(shop) if one.text.text] == []
        again = await shop.give(TASK, thread="t")
        assert INSIGHT not in await told(shop, again)
