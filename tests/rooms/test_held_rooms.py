"""Rooms that nobody is in are let go of, and are the same when somebody comes back."""

import asyncio
import gc
from datetime import timedelta
from pathlib import Path

import pytest

from loopforge.core.room_vocabulary import Titled
from loopforge.core.text.erasable_text import Words
from loopforge.errors import LedgerBusy
from tests.rooms.conftest import living


async def test_idle_rooms_are_let_go_of_and_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of ten rooms as many are kept as weigh no more than is held; one in use stays the same."""
    monkeypatch.setattr("loopforge.chat.room.room_store.HELD", 3 * 4)
    async with living(tmp_path) as home:
        house = home.app.rooms.house
        for nth in range(10):
            home.room = f"room-{nth}"
            await home.enter("ana", mates=("maya",))
            await home.hears("ana", f"@maya my number is {nth}")
        await home.clock.advance(86_400)
        held = await house.state("room:room-0")
        for nth in range(1, 10):
            await house.state(f"room:room-{nth}")
        gc.collect()
        known = [nth for nth in range(10) if house.known(f"room:room-{nth}") is not None]
        assert known == [0, 7, 8, 9]
        home.room = "room-0"
        await home.hears("ana", "@maya what is it?")
        assert await house.state("room:room-0") is held
        assert str(held.recent(2)[0].text) == "@maya what is it?"
        home.room = "room-4"
        await home.hears("ana", "@maya what is it?")
        again = await house.state("room:room-4")
        assert again.seq == (await home.events())[-1].seq
        assert [str(one.name) for one in again.people.values()] == ["ana"]
        assert (await home.app.ledger.verify()).findings == ()


async def test_a_room_of_many_lines_takes_the_place_of_several(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is held is bounded by lines: where one room has very many, no other is held beside it."""
    monkeypatch.setattr("loopforge.chat.room.room_store.HELD", 20)
    async with living(tmp_path) as home:
        house = home.app.rooms.house
        for nth in range(3):
            home.room = f"room-{nth}"
            await home.enter("ana")
            await home.hears("ana", "hello")
        for nth in range(20):
            await home.hears("ana", f"hello {nth}")
        await home.app.lanes.settled("room:room-2")
        gc.collect()
        assert [nth for nth in range(3) if house.known(f"room:room-{nth}") is not None] == [2]
        home.room = "room-1"
        await home.hears("ana", "hello")
        gc.collect()
        assert [nth for nth in range(3) if house.known(f"room:room-{nth}") is not None] == [1]


async def test_a_list_reads_no_room_in_which_nothing_happened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list that was shown reads again only rooms that have news: of many rooms, none is read."""
    monkeypatch.setattr("loopforge.chat.room.room_store.HELD", 1)
    async with living(tmp_path) as home:
        house, lobby = home.app.rooms.house, home.app.front.lobby
        for nth in range(4):
            home.room = f"room-{nth}"
            await home.enter("ana", mates=("maya",))
        ana = home.people["ana"]
        first = await lobby.rooms_of(ana, {})
        await house.state("room:room-0")
        gc.collect()
        assert await lobby.rooms_of(ana, {}) == first
        gc.collect()
        assert [nth for nth in range(4) if house.known(f"room:room-{nth}") is not None] == [0]
        await home.app.front.rooms.add("room-2", ana, Titled(title=Words("Bread"), by=ana))
        titles = {each.room: each.title for each in await lobby.rooms_of(ana, {})}
        assert titles["room-2"] == "Bread"


async def test_answers_are_counted_of_one_day_alone(tmp_path: Path) -> None:
    """A page of the owner's asks once how many somebody had; what is said later is held for no day."""
    async with living(tmp_path) as home:
        quota = home.app.rooms.quota
        await home.hears("ana", "@maya hello")
        ana = f"person:{home.people['ana']}"
        assert await quota.had(ana) == 1
        held = [each for each in vars(quota).values() if isinstance(each, dict)]
        assert sum(map(len, held)) > 0
        await home.clock.advance(timedelta(days=1).total_seconds())
        for nth in range(3):
            await home.hears("ana", f"@maya what is {nth} more?")
        assert sum(map(len, held)) == 0
        assert await quota.had(ana) == 3


async def test_answers_of_a_day_that_could_not_be_read_are_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A read that failed, or was broken off, leaves no day of none: whoever asks next counts all."""
    async with living(tmp_path) as home:
        await home.hears("ana", "@maya hello")
    async with living(tmp_path) as home:
        quota = home.app.rooms.quota
        for error in (LedgerBusy("locked"), asyncio.CancelledError()):

            async def broken(*_: object, error: BaseException = error) -> None:
                raise error

            with monkeypatch.context() as patched:
                patched.setattr(home.app.ledger, "look", broken)
                with pytest.raises(type(error)):
                    await quota.had("room:commons")
        assert await quota.had("room:commons") == 1
