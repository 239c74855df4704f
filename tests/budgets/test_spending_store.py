"""Spending: however many ask at once and are killed, no more is spent than a budget and one call.

The store alone, over real databases; what wraps models and tools is tested beside it.
"""

import asyncio
import tempfile
from collections.abc import Sequence
from datetime import date, timedelta
from itertools import count
from pathlib import Path
from random import Random  # noqa: TID251 - seeds of Hypothesis

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.engine import Connection

from loopforge.budgets.spending_store import (
    BudgetDecision,
    SpendingAmounts,
    SpendingHold,
    reserve,
    settle,
    spent_since,
    standings,
)
from loopforge.core.events import epoch_micros
from loopforge.core.limits.budget_limits import Budget, Limit, LimitStanding
from loopforge.ledger.database.table_schema import holds, spent
from loopforge.ledger.sql_ledger import SqlLedger
from tests.examples import few
from tests.ledger.saying import NOON, ROOM, opened

DAY = date(2026, 11, 21)
MOST = 10_000
HOME = Limit("home", Budget(scope="home", unit="dollars", amount=MOST))
CALLS = Limit("room:commons", Budget(scope="room", subject="commons", unit="calls", amount=40))
METERS = ("home", ROOM)
ids = count(1)


def hold(turn: str, process: str, picos: int, *, minutes: int = 0) -> SpendingHold:
    """One question's hold, at noon and so many minutes, for ten minutes."""
    now = epoch_micros(NOON + timedelta(minutes=minutes))
    until = epoch_micros(NOON + timedelta(minutes=minutes + 10))
    amounts = SpendingAmounts(picos=picos, calls=1)
    return SpendingHold(f"h{next(ids)}", process, turn, ROOM, METERS, DAY, now, until, amounts)


async def held(
    ledger: SqlLedger, wanted: SpendingHold, limits: Sequence[Limit] = (HOME,), mark: float = 0.8
) -> BudgetDecision:
    """What reserving says."""
    return await ledger.change(lambda found: reserve(found, wanted, limits, mark))


async def paid(ledger: SqlLedger, wanted: SpendingHold, amounts: SpendingAmounts) -> None:
    """It is settled."""
    await ledger.change(lambda found: settle(found, wanted.id, wanted.meters, DAY, amounts))


async def used(ledger: SqlLedger, *limits: Limit) -> list[tuple[int, int]]:
    """What is used and held of limits."""
    found = await ledger.look(lambda tables: standings(tables, limits or (HOME,), DAY))
    return [(one.used, one.held) for one in found]


async def test_what_is_held_gives_way_to_what_was_spent(ledger_url: str) -> None:
    """A hold counts from its reserving; settled, what was spent counts in its place, on each meter.

    The first mark and the last are met where held and spent come to them.
    """
    async with opened(ledger_url) as ledger:
        first = hold("t1", "a", 7_000)
        assert await held(ledger, first) == BudgetDecision("free", LimitStanding(HOME, 0))
        assert await used(ledger, HOME, CALLS) == [(0, 7_000), (0, 1)]
        await paid(ledger, first, SpendingAmounts(picos=8_500, calls=1))
        assert await used(ledger, HOME, CALLS) == [(8_500, 0), (1, 0)]
        second = hold("t2", "a", 5_000)
        assert (await held(ledger, second)).level == "low"
        refused = await held(ledger, hold("t3", "a", 1))
        assert refused.level == "spent"
        assert refused.by is not None
        assert (refused.by.used, refused.by.held) == (8_500, 5_000)
        assert await used(ledger) == [(8_500, 5_000)]


async def test_a_room_is_told_once_that_a_budget_is_spent(ledger_url: str) -> None:
    """By the turn that came upon it first, and by that again if it is taken up after a crash."""
    async with opened(ledger_url) as ledger:
        await paid(ledger, hold("", "a", 0)._replace(id=""), SpendingAmounts(picos=MOST))
        tells = [(await held(ledger, hold(turn, "a", 1))).tell for turn in ("t1", "t2", "t1")]
        assert tells == [True, False, True]


async def test_what_the_dead_held_counts_in_full(ledger_url: str) -> None:
    """When their turn is taken up by another process, or when the hold's time is over.

    Who settles after that adds nothing.
    """
    async with opened(ledger_url) as ledger:
        lost, late = hold("t1", "dead", 300), hold("t2", "dead", 500)
        for one in (lost, late):
            await held(ledger, one)
        await held(ledger, hold("t1", "alive", 10))
        assert await used(ledger) == [(300, 510)]
        await held(ledger, hold("t3", "alive", 20, minutes=11))
        assert await used(ledger) == [(810, 20)]
        await paid(ledger, late, SpendingAmounts(picos=100, calls=1))
        assert await used(ledger) == [(810, 20)]
        rows = await ledger.look(lambda tables: spent_since(tables, DAY))
        assert ("home", DAY.isoformat(), SpendingAmounts(picos=810, calls=3)) in rows


async def _rush(seed: int, estimate: int, kills: float, url: str) -> tuple[int, int, int]:
    """A hundred turns over three processes: spent in truth, told by the store, let through."""
    dice, truth, through = Random(seed), 0, 0
    async with opened(url) as one, opened(url) as two, opened(url) as three:
        ledgers = (one, two, three)

        async def turn(nth: int) -> None:
            nonlocal truth, through
            for life in range(3):
                where = dice.randrange(3)
                wanted = hold(f"t{nth}", f"p{where}.{life}", estimate)
                if (await held(ledgers[where], wanted)).level == "spent":
                    return None
                through += 1
                cost = dice.randint(0, estimate)
                truth += cost
                await asyncio.sleep(0)
                if dice.random() >= kills:
                    return await paid(ledgers[where], wanted, SpendingAmounts(picos=cost, calls=1))
            return None

        await asyncio.gather(*(turn(nth) for nth in range(100)))
        ((spent, still),) = await used(one)
    return truth, spent + still, through


@settings(max_examples=few(4), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    seed=st.integers(0, 2**32),
    estimate=st.integers(1, MOST),
    kills=st.sampled_from([0.0, 0.2, 0.7]),
)
def test_a_hundred_turns_and_kills_overshoot_by_no_more_than_one_call(
    seed: int, estimate: int, kills: float
) -> None:
    """Three processes on one database, a hundred turns at once, some killed and taken up again.

    What was spent in truth stays below the budget and one call's estimate; what the store says of
    it is never less than the truth.
    """
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'l.db'}"
        truth, told, through = asyncio.run(_rush(seed, estimate, kills, url))
    assert truth <= told < MOST + estimate
    assert through >= min(100, MOST // estimate)


async def test_a_rush_from_three_processes_keeps_to_the_budget(ledger_url: str) -> None:
    """The same on either database, where each process has a connection of its own."""
    for seed, estimate in ((1, 90), (2, 900), (3, 4_000)):
        truth, told, through = await _rush(seed, estimate, 0.3, ledger_url)
        assert truth <= told
        assert through > 0
        async with opened(ledger_url) as ledger:
            assert told < MOST + estimate
            await ledger.change(_emptied)


def _emptied(connection: Connection) -> None:
    for table in (spent, holds):
        connection.execute(table.delete())
