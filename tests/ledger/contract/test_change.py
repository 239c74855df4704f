"""What every ledger promises of changing tables beside its events."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import func, select
from sqlalchemy.engine import Connection

from loopforge.core.delivery_states import Accepted
from loopforge.errors import Conflict, LedgerError, LedgerFull
from loopforge.ledger.database.table_schema import events, spent
from loopforge.ledger.sql_ledger import SqlLedger
from tests.ledger.saying import ROOM, Scribbler, at_once, opened, text_of


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


async def test_changes_and_appends_at_once(ledger: SqlLedger, scribbler: Scribbler) -> None:
    """Each of many changes and appends that come together gets its own result, and is kept."""
    changes = [ledger.change(spending(f"m{nth}")) for nth in range(5)]
    lines = [ledger.append(ROOM, [scribbler.heard(f"line {nth}")]) for nth in range(5)]
    both = zip(changes, lines, strict=True)
    found = await at_once(ledger, *(each for pair in both for each in pair))
    assert found[::2] == ["m0", "m1", "m2", "m3", "m4"]
    assert await spent_in(ledger) == {"m0", "m1", "m2", "m3", "m4"}
    assert [event.seq for event in await ledger.read(ROOM)] == [1, 2, 3, 4, 5]
    assert (await ledger.verify()).sound


async def test_a_change_that_raises_takes_nobody_with_it(ledger: SqlLedger) -> None:
    """What a change wrote before it raised is taken back; what came beside it stands, once."""
    scribbler = Scribbler()
    _, good, fault, _ = await at_once(
        ledger,
        ledger.append(ROOM, [scribbler.heard("before")]),
        ledger.change(spending("good")),
        ledger.change(faulty),
        ledger.append(ROOM, [scribbler.heard("after")]),
    )
    assert good == "good"
    assert isinstance(fault, LedgerError)
    assert "does not fit" in str(fault)
    assert await spent_in(ledger) == {"good"}
    assert [text_of(event) for event in await ledger.read(ROOM)] == ["before", "after"]
    assert (await ledger.verify()).sound


async def test_a_refused_append_takes_no_change_with_it(ledger: SqlLedger) -> None:
    """A change stands although an append beside it is refused: by its place, or by a key."""
    scribbler = Scribbler()
    await ledger.append(ROOM, [scribbler.heard("there")])
    twice = scribbler.heard("again")
    first, late, second, doubled = await at_once(
        ledger,
        ledger.change(spending("first")),
        ledger.append(ROOM, [scribbler.heard("late")], expect=6),
        ledger.change(spending("second")),
        ledger.append("room:other", [twice, twice]),
    )
    assert (first, second) == ("first", "second")
    assert isinstance(late, Conflict)
    assert isinstance(doubled, Conflict)
    assert await spent_in(ledger) == {"first", "second"}
    assert await ledger.heads() == {ROOM: 1}


async def test_what_a_view_refuses_takes_no_change_with_it(ledger: SqlLedger) -> None:
    """A change stands although the one append beside it tells of a delivery that never began."""
    scribbler = Scribbler()
    accepted = scribbler.fact(Accepted(delivery="nowhere", message_id="1"))
    good, refused = await at_once(
        ledger, ledger.change(spending("good")), ledger.append(ROOM, [accepted])
    )
    assert good == "good"
    assert isinstance(refused, Conflict)
    assert "is not open" in str(refused)
    assert await spent_in(ledger) == {"good"}
    assert await ledger.heads() == {}


async def test_one_by_one_nothing_overtakes(ledger: SqlLedger, scribbler: Scribbler) -> None:
    """Where each is written by itself, what was asked for before a line is there before it."""

    def lines(tables: Connection) -> int:
        return tables.scalar(select(func.count()).select_from(events)) or 0

    accepted = scribbler.fact(Accepted(delivery="nowhere", message_id="1"))
    before, _, after, refused = await at_once(
        ledger,
        ledger.change(lines),
        ledger.append(ROOM, [scribbler.heard("a line")]),
        ledger.change(lines),
        ledger.append("room:other", [accepted]),
    )
    assert (before, after) == (0, 1)
    assert isinstance(refused, Conflict)


async def test_what_does_not_fit_takes_no_change_with_it(tmp_path: Path) -> None:
    """A change and a line stand although a text beside them is too long for the file."""
    scribbler = Scribbler()
    async with opened(f"sqlite:///{tmp_path / 'ledger.db'}", max_pages=200) as ledger:
        good, full, _ = await at_once(
            ledger,
            ledger.change(spending("good")),
            ledger.append("room:other", [scribbler.heard("z" * 2_000_000)]),
            ledger.append(ROOM, [scribbler.heard("a line")]),
        )
        assert good == "good"
        assert isinstance(full, LedgerFull)
        assert await spent_in(ledger) == {"good"}
        assert await ledger.heads() == {ROOM: 1}
        assert (await ledger.verify()).sound


async def test_a_change_without_hurry_is_written_though_nobody_waits(ledger: SqlLedger) -> None:
    """Who asked for it is cancelled before it is written: it is written all the same."""
    asked = asyncio.gather(ledger.change(spending("left"), soon=False))
    await asyncio.sleep(0)
    asked.cancel()
    await ledger.append(ROOM, [Scribbler().heard("a line")])
    assert await spent_in(ledger) == {"left"}
    with pytest.raises(asyncio.CancelledError):
        await asked


async def test_a_change_without_hurry_is_never_behind(ledger: SqlLedger) -> None:
    """A change that is not wanted soon is there as soon as what was asked for after it."""
    scribbler = Scribbler()
    leisurely = ledger.change(spending("alone"), soon=False)
    assert await leisurely == "alone"  # though nothing else is written
    beside = asyncio.gather(ledger.change(spending("beside"), soon=False))
    await asyncio.sleep(0)
    await ledger.append(ROOM, [scribbler.heard("a line")])
    assert await spent_in(ledger) == {"alone", "beside"}
    await beside


async def test_a_change_without_hurry_outlives_closing(ledger_url: str) -> None:
    """A change that waits for something to come is written when the ledger is closed."""
    async with opened(ledger_url) as ledger:
        waiting = asyncio.gather(ledger.change(spending("last"), soon=False))
        await asyncio.sleep(0)
    assert list(await waiting) == ["last"]
    async with opened(ledger_url) as ledger:
        assert await spent_in(ledger) == {"last"}
