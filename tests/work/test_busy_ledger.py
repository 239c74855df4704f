"""A database that is locked for a moment: what a room decides on its task is done all the same."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loopforge.core.room_vocabulary import PersonReacted
from loopforge.core.work.work_vocabulary import TaskStopped
from loopforge.errors import LedgerBusy
from tests.work.conftest import in_order, uses
from tests.work.test_thread_tasks import Commons, commons


def locked_once(
    room: Commons, monkeypatch: pytest.MonkeyPatch, meant: Callable[[Any], bool]
) -> list[str]:
    """Have the first writing of such a body refused; the list holds where that was."""
    append, refused = room.app.ledger.append, list[str]()

    async def busy(stream: str, facts: Any, **more: Any) -> Any:
        if not refused and any(meant(fact.body) for fact in facts):
            refused.append(stream)
            raise LedgerBusy("The database stayed locked; nothing was written.")
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
