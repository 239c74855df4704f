"""A database that is locked for a moment: what a room decides on its task is done all the same."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loopforge.core.room_vocabulary import LineEdited, PersonReacted, Said
from loopforge.core.work.work_vocabulary import TaskStopped
from loopforge.errors import LedgerBusy
from loopforge.work.threads import thread_posts
from tests.work.conftest import in_order, says, uses
from tests.work.test_thread_tasks import Commons, commons

LOCKED = LedgerBusy("The database stayed locked; nothing was written.")


def locked_once(
    room: Commons,
    monkeypatch: pytest.MonkeyPatch,
    meant: Callable[[Any], bool],
    error: Exception = LOCKED,
) -> list[str]:
    """Have the first writing of such a body refused; the list holds where that was."""
    append, refused = room.app.ledger.append, list[str]()

    async def busy(stream: str, facts: Any, **more: Any) -> Any:
        if not refused and any(meant(fact.body) for fact in facts):
            refused.append(stream)
            raise error
        return await append(stream, facts, **more)

    monkeypatch.setattr(room.app.ledger, "append", busy)
    return refused


@pytest.mark.parametrize("by", ["word", "sign"])
async def test_a_stop_of_the_room_comes_to_its_task(
    place: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    """By a word or a sign: it is written when that can be done again, and the task does not go on."""
    long = uses("work_run", command="sleep 60")
    async with commons(place, in_order(long, long)) as room:
        await room.says("otto, write a Python script that sleeps")
        await room.app.front.rooms.settled("commons")
        (task,) = await room.tasks()
        await room.shop.until(task, "effect.running")
        refused = locked_once(room, monkeypatch, lambda body: isinstance(body, TaskStopped))
        if by == "word":
            await room.says("stop")
        else:
            line = await room.line_of("Starting work")
            halt = PersonReacted(person=room.ana, to=line, emoji="🛑")
            await room.app.front.rooms.add("commons", room.ana, halt)
        await room.shop.until(task, "task.stopped")
        await room.rest()
        assert refused == [f"task:{task}"]
        assert (await room.shop.state(task)).stage == "stopped"


async def test_what_a_task_asks_a_room_is_asked_all_the_same(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When that can be written again, and once: a task that waits has no event by which it would."""
    async with commons(place, in_order(says("question", "In which colour?"))) as room:
        refused = locked_once(
            room, monkeypatch, lambda body: isinstance(body, Said) and "colour" in str(body.text)
        )
        await room.hears("otto, write a Python script that paints")
        await room.rest()
        assert refused == ["room:commons"]
        said = [
            str(getattr(e.body, "text", ""))
            for e in await room.app.ledger.read("room:commons", kinds=["room.said"])
        ]
        assert sum("In which colour?" in text for text in said) == 1


async def test_the_message_of_progress_goes_on(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it could not be edited once, it is when that can be done, while the task is at work."""
    monkeypatch.setattr(thread_posts, "PAUSE", 0.1)
    some = [uses("work_run", command=f"sleep 1.{nth}") for nth in range(8)]
    async with commons(place, in_order(*some)) as room:
        refused = locked_once(room, monkeypatch, lambda body: isinstance(body, LineEdited))
        await room.says("otto, write a Python script that sleeps")
        async with asyncio.timeout(60):
            while not await room.app.ledger.read("room:commons", kinds=["room.line_edited"]):
                await asyncio.sleep(0.01)
        (task,) = await room.tasks()
        assert refused == ["room:commons"]
        assert (await room.shop.state(task)).at_work


async def test_a_mistake_in_telling_keeps_nothing_else_from_being_told(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is said of the task next brings what could not be said."""

    def meant(body: object) -> bool:
        return isinstance(body, Said) and "A haiku." in str(body.text)

    async with commons(place, in_order(says("done", "A haiku."))) as room:
        refused = locked_once(room, monkeypatch, meant, RuntimeError("a mistake"))
        await room.hears("otto, write a haiku into a Python script")
        await room.rest()
        assert refused == ["room:commons"]
        (task,) = await room.tasks()
        await room.app.work.tasks.say(task, room.ana, "thank you")
        await room.rest()
        said = await room.app.ledger.read("room:commons", kinds=["room.said"])
        assert sum(meant(event.body) for event in said) == 1, task
