"""A mate that types: its line comes after as long as it would take, and stop works in that time."""

import asyncio
from pathlib import Path

import pytest

from loopforge.core.room_vocabulary import Said
from loopforge.core.turn_events import TurnEnded
from loopforge.errors import InputError
from loopforge.runtime.ports import Draft, Listening, Thinking
from tests.rooms.conftest import living

FILE = "---\nname: Maya\nrole: mate\npace: 10\n---\nYou are Maya.\n"
TEXT = "Dead yeast, I would say: how warm was the water that you took for it?"


async def heard(ear: Listening, until: type[Thinking]) -> list[object]:
    """What is in the air until something of this kind is."""
    found = list[object]()
    async for what in ear:
        found.append(what)
        if isinstance(what, until):
            break
    return found


async def test_a_line_comes_when_it_could_have_been_typed(tmp_path: Path) -> None:
    """At ten characters a second, of simulated time; no draft of it is shown before."""
    (tmp_path / "mates").mkdir()
    (tmp_path / "mates" / "maya.md").write_text(FILE)
    async with living(tmp_path, lambda _: TEXT, debounce_seconds=0) as home:
        ear = home.app.front.rooms.listen(home.room)
        asked = await home.hears("ana", "@maya why?")
        (line,) = [event for event in await home.events() if isinstance(event.body, Said)]
        assert (line.at - asked.at).total_seconds() == len(TEXT) / 10
        ear.close()
        assert not [what async for what in ear if isinstance(what, Draft)]


async def test_a_room_may_be_without_pace(tmp_path: Path) -> None:
    """Where a person switches it off there, its mates answer at once; and on again, as before."""
    (tmp_path / "mates").mkdir()
    (tmp_path / "mates" / "maya.md").write_text(FILE)
    async with living(tmp_path, lambda _: TEXT, debounce_seconds=0) as home:
        await home.enter("ana")
        assert "Maya 10 characters a second" in await home.does("ana", "pace")
        assert "at once" in await home.does("ana", "pace", "off")
        asked = await home.hears("ana", "@maya why?")
        (line,) = [event for event in await home.events() if isinstance(event.body, Said)]
        assert line.at == asked.at
        assert "pace of their own" in await home.does("ana", "pace", "on")
        with pytest.raises(InputError):
            await home.does("ana", "pace", "slowly")


async def test_stop_ends_the_wait_and_nothing_is_said(tmp_path: Path) -> None:
    """What nobody has read yet is not kept, and the room does not wait for the rest of it."""
    (tmp_path / "mates").mkdir()
    (tmp_path / "mates" / "maya.md").write_text(FILE)
    async with living(tmp_path, lambda _: TEXT, debounce_seconds=0) as home:
        await home.enter("ana")
        ear = home.app.front.rooms.listen(home.room)
        asked = await home.says("ana", "@maya why?")
        began = asyncio.ensure_future(heard(ear, Thinking))  # noqa: TID251
        await home.clock.until(began)
        wait = asyncio.ensure_future(home.clock.sleep(3))  # noqa: TID251
        await home.clock.until(wait)
        await home.acts("ana", "stop")
        ear.close()
        assert not await home.bodies(Said)
        (ended,) = [event for event in await home.events() if isinstance(event.body, TurnEnded)]
        assert isinstance(ended.body, TurnEnded)
        assert ended.body.outcome == "stopped"
        assert (ended.at - asked.at).total_seconds() < 4
        assert not [line for line in await home.lines() if "gave no answer" in line]
