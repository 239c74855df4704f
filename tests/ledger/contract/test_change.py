"""What every ledger promises of changing tables beside its events."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from sqlalchemy import select
from sqlalchemy.engine import Connection

from loopforge.errors import Conflict, LedgerError
from loopforge.ledger.database.table_schema import spent
from loopforge.ledger.sql_ledger import SqlLedger
from tests.ledger.saying import ROOM, Scribbler, opened, text_of


def spending(meter: str) -> Callable[[Connection], str]:
    """A change that counts one call; gives back its meter."""

    def work(tables: Connection) -> str:
        row = {"meter": meter, "day": "2026-11-27", "picos": 0, "calls": 1, "uses": 0}
        tables.execute(spent.insert().values(**row, unpriced=0))
        return meter

    return work


def faulty(tables: Connection) -> None:
    """A change that writes, and then raises."""
    spending("faulty")(tables)
    raise LedgerError("This does not fit.")


async def spent_in(ledger: SqlLedger) -> set[str]:
    """The meters that count something."""
    return set(await ledger.look(lambda tables: tables.scalars(select(spent.c.meter)).all()))


@asynccontextmanager
async def held_up(ledger: SqlLedger) -> AsyncIterator[None]:
    """What is asked for in this block is not begun before its end: then it comes all at once."""
    go = threading.Event()
    waiting = asyncio.ensure_future(ledger.change(lambda _: go.wait()))
    await asyncio.sleep(0)
    try:
        yield
        await asyncio.sleep(0.05)
    finally:
        go.set()
        await waiting


async def test_changes_and_appends_at_once(ledger_url: str) -> None:
    """Each of many changes and appends that come together gets its own result, and is kept."""
    scribbler = Scribbler()
    async with opened(ledger_url) as ledger:
        async with held_up(ledger):
            works = [
                each
                for nth in range(5)
                for each in (
                    asyncio.ensure_future(ledger.change(spending(f"m{nth}"))),
                    asyncio.ensure_future(ledger.append(ROOM, [scribbler.heard(f"line {nth}")])),
                )
            ]
        found = await asyncio.gather(*works)
        assert found[::2] == ["m0", "m1", "m2", "m3", "m4"]
        assert await spent_in(ledger) == {"m0", "m1", "m2", "m3", "m4"}
        assert [event.seq for event in await ledger.read(ROOM)] == [1, 2, 3, 4, 5]
        assert (await ledger.verify()).sound


async def test_a_change_that_raises_takes_nobody_with_it(ledger_url: str) -> None:
    """What a change wrote before it raised is taken back; what came beside it stands, once."""
    scribbler = Scribbler()
    async with opened(ledger_url) as ledger:
        async with held_up(ledger):
            works = [
                asyncio.ensure_future(each)
                for each in (
                    ledger.append(ROOM, [scribbler.heard("before")]),
                    ledger.change(spending("good")),
                    ledger.change(faulty),
                    ledger.append(ROOM, [scribbler.heard("after")]),
                )
            ]
        _, good, fault, _ = await asyncio.gather(*works, return_exceptions=True)
        assert good == "good"
        assert isinstance(fault, LedgerError)
        assert "does not fit" in str(fault)
        assert await spent_in(ledger) == {"good"}
        assert [text_of(event) for event in await ledger.read(ROOM)] == ["before", "after"]
        assert (await ledger.verify()).sound


@pytest.mark.parametrize("beside", ["refused by its place", "there already"])
async def test_a_refused_append_takes_no_change_with_it(ledger_url: str, beside: str) -> None:
    """A change stands although the append beside it is refused, or the database's own key says no."""
    scribbler = Scribbler()
    async with opened(ledger_url) as ledger:
        (first,) = await ledger.append(ROOM, [scribbler.heard("there")])
        async with held_up(ledger):
            changing = asyncio.ensure_future(ledger.change(spending("good")))
            if beside == "there already":
                twice = scribbler.heard("again")
                facts = [twice, twice]
                append = asyncio.ensure_future(ledger.append("room:other", facts))
            else:
                fact = [scribbler.heard("late")]
                append = asyncio.ensure_future(ledger.append(ROOM, fact, expect=first.seq + 5))
        refused, good = await asyncio.gather(append, changing, return_exceptions=True)
        assert isinstance(refused, Conflict)
        assert good == "good"
        assert await spent_in(ledger) == {"good"}
        assert await ledger.heads() == {ROOM: 1}
