"""A database that somebody else keeps locked, for longer than anybody waits."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from loopforge.core.room_vocabulary import Heard
from loopforge.core.turn_events import TurnEnded
from loopforge.errors import LedgerBusy
from loopforge.ledger_opening import open_ledger_of
from loopforge.models.scripted_model import ScriptedAnswer
from tests.rooms.conftest import Home, living

pytestmark = pytest.mark.sqlite
BRIEF, LONG = 0.1, 120.0
"""Real seconds for which the ledger is told to wait for a lock."""


@contextmanager
def locked(home: Path) -> Iterator[None]:
    """Another program holds the write lock."""
    with closing(sqlite3.connect(home / "data" / "loopforge.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


async def patient(home: Home, seconds: float) -> None:
    """Let the ledger wait so long for a lock."""
    pragma = f"PRAGMA busy_timeout = {round(seconds * 1000)}"
    await home.app.ledger.change(lambda connection: connection.exec_driver_sql(pragma).all())


async def test_an_answer_that_cannot_be_written_is_not_lost(tmp_path: Path) -> None:
    """A mate's answer that met a lock is written when the lock is gone: once, by one turn."""
    slow = ScriptedAnswer(text="There you are.", wait=5)
    async with living(tmp_path, lambda question: slow) as home:
        await patient(home, BRIEF)
        await home.says("ana", "@maya hello")
        await home.clock.advance(2)
        with locked(tmp_path):
            await home.clock.advance(10)  # it has answered, and cannot say so
            assert await home.said() == []
        await home.passes(60)
        assert await home.said() == ["maya"]
        ended = [one.outcome for one in await home.bodies(TurnEnded)]
        assert ended == ["done"]
        assert (await home.app.ledger.verify()).sound


async def test_a_line_that_cannot_be_written_is_refused_and_may_be_said_again(
    tmp_path: Path,
) -> None:
    """Who says it reads what to do; said once more, it is heard once and answered."""
    async with living(tmp_path) as home:
        await patient(home, BRIEF)
        await home.enter("ana")
        with locked(tmp_path), pytest.raises(LedgerBusy, match="again"):
            await home.says("ana", "@maya hello", source="t:1")
        await home.hears("ana", "@maya hello", source="t:1")
        assert len(await home.bodies(Heard)) == 1
        assert await home.said() == ["maya"]


async def test_what_is_said_meanwhile_waits_its_turn(tmp_path: Path) -> None:
    """A short lock delays a line and refuses nothing."""
    async with living(tmp_path) as home:
        await patient(home, LONG)
        await home.enter("ana")
        with locked(tmp_path):
            saying = asyncio.ensure_future(home.says("ana", "@maya hello"))  # noqa: TID251
            while not home.app.ledger.working:
                await asyncio.sleep(0)
            await home.app.ledger.heads()  # who only reads is not held up meanwhile
            assert not saying.done()
        assert isinstance((await saying).body, Heard)
        await home.rest()
        assert await home.said() == ["maya"]


async def test_a_home_opens_and_can_be_read_while_it_is_locked(tmp_path: Path) -> None:
    """Somebody who writes does not hinder those who only read."""
    async with living(tmp_path) as home:
        await home.hears("ana", "@maya hello")
        settings = home.app.settings
    with locked(tmp_path):
        async with open_ledger_of(settings) as ledger:
            assert len(await ledger.read("room:commons", kinds=["room.heard"])) == 1
            assert (await ledger.verify()).sound
