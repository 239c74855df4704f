"""The same room on both databases."""

import asyncio
import logging
from contextlib import suppress
from pathlib import Path

import pytest

from loopforge.core.room_vocabulary import Heard
from loopforge.errors import HostTaken, LedgerError
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.ledger.sql_ledger import open_ledger
from tests.postgres import Cluster
from tests.rooms.conftest import START, living
from tests.seeded_dice import SeededDice
from tests.sim_clock import SimClock


async def test_a_room_lives_on_either_database(ledger_url: str, tmp_path: Path) -> None:
    """Talk, restart, search, forget and verify work the same on SQLite and on PostgreSQL."""
    async with living(tmp_path, database_url=ledger_url) as home:
        await home.hears("ana", "@maya and @merlin, which tower fell first?")
        before = await home.lines()
        assert len(before) >= 3
        clock, people = home.clock, home.people
    async with living(tmp_path, clock=clock, seed=8, database_url=ledger_url) as home:
        home.people = people
        await home.rest()
        assert await home.lines() == before
        await home.hears("ana", "@maya the spare key hangs behind the boiler")
        assert await home.app.front.search("commons", "spare key hangs", 5)
        secret = [e for e in await home.events() if isinstance(e.body, Heard)][-1]
        await home.app.ledger.erase(ErasureRequest(events=(secret.id,), by="owner"))
        assert not any("boiler" in line for line in await home.lines())
        assert (await home.app.ledger.verify()).findings == ()


@pytest.mark.postgres
async def test_one_host_on_postgresql(postgres_url: str, tmp_path: Path) -> None:
    """Two homes on one PostgreSQL database: the second is refused while the first runs."""
    async with living(tmp_path / "one", database_url=postgres_url):
        with pytest.raises(HostTaken):
            async with living(tmp_path / "two", database_url=postgres_url):
                pass
    async with living(tmp_path / "two", seed=8, database_url=postgres_url) as home:
        await home.hears("ana", "@maya hello")
        assert await home.said() == ["maya"]


@pytest.mark.postgres
async def test_who_ends_makes_way_at_once(postgres_url: str) -> None:
    """A home that is opened again right after it was closed finds nobody there."""
    ledger = await open_ledger(postgres_url, SimClock(START), SeededDice(1))
    for _ in range(50):
        claim = await ledger.claim("host")
        await claim.release()
    await ledger.close()


@pytest.mark.postgres
async def test_what_was_deleted_is_forgotten_once_the_database_is_back(
    postgres: Cluster, postgres_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It goes away right behind a deletion: nobody has to ask again, and nothing failed unseen."""
    async with living(tmp_path, lambda _: "So it is.", database_url=postgres_url) as home:
        line = await home.hears("ana", "the spare key hangs behind the boiler")
        home.app.ledger.subscribe(
            lambda _, __: postgres.refuse(postgres_url), kinds=["room.line_deleted"]
        )
        with suppress(LedgerError):
            await home.app.front.rooms.delete(home.room, home.people["ana"], line.id)
        await home.clock.advance(40)
        with pytest.raises(LedgerError, match="cannot be reached"):
            await home.says("ana", "hello?")
        postgres.refuse(postgres_url, False)
        await home.clock.advance(70)
        (heard,) = await home.bodies(Heard)
        assert heard.text.text is None
        assert "what is said to tasks" in {task.get_name() for task in asyncio.all_tasks()}
    assert [one.message for one in caplog.records if one.levelno >= logging.ERROR] == []
