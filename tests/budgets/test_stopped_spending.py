"""Who is stopped while something is written of what they spend leaves no hold, and no debt unpaid."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

import pytest
from sqlalchemy.engine import Connection

from loopforge.budgets.budget_reservation import Budgets, Reservation
from loopforge.budgets.metered_ports import MeteredModels
from loopforge.budgets.spending_store import SpendingAmounts
from loopforge.core.limits.budget_limits import Budget
from loopforge.errors import LedgerFull
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.models.scripted_model import ScriptedModels
from loopforge.runtime.background_tasks import BackgroundTasks
from tests.budgets.test_unbound_spending import CHARGE, SAID, metered, spent_by, uncounted
from tests.ledger.saying import ROOM, Scribbler

T = TypeVar("T")


class SlowTables:
    """A ledger's tables; of the nth change and those after it one hears when it is let go."""

    def __init__(self, ledger: SqlLedger, nth: int = 1) -> None:
        self._ledger, self._before = ledger, nth - 1
        self.changed, self.let_go = asyncio.Event(), asyncio.Event()

    async def look(self, work: Callable[[Connection], T]) -> T:
        """See `Tables.look`."""
        return await self._ledger.look(work)

    async def change(self, work: Callable[[Connection], T], *, soon: bool = True) -> T:
        """See `WritableTables.change`."""
        done = await self._ledger.change(work, soon=soon)
        if self._before:
            self._before -= 1
            return done
        self.changed.set()
        await self.let_go.wait()
        return done


async def test_who_is_stopped_while_it_is_reserved_leaves_no_hold(ledger_url: str) -> None:
    """It was written in the same moment: it is taken back, for nobody was asked."""
    ten = Budget(scope="home", unit="calls", amount=10)
    async with metered(ledger_url) as (ledger, budgets), BackgroundTasks() as tasks:
        await budgets.book.put(ten, "person:owner")
        slow, script = SlowTables(ledger), ScriptedModels()
        mine = Budgets(slow, Scribbler().stamp, budgets.book, uncounted, str)
        asking = tasks.spawn(MeteredModels(script, mine, tasks).ask(SAID, lambda _: None), "asks")
        await slow.changed.wait()
        asking.cancel()
        slow.let_go.set()
        with pytest.raises(asyncio.CancelledError):
            await asking
        (standing,) = await budgets.standings(CHARGE)
        assert (standing.used, standing.held, script.asked) == (0, 0, [])


class OwingBudgets(Budgets):
    """Budgets that take nothing at first; then what they take waits until it is let go."""

    def __init__(self, budgets: Budgets, ledger: SqlLedger) -> None:
        super().__init__(ledger, Scribbler().stamp, budgets.book, uncounted, str)
        self.full, self.settling, self.let_go = True, asyncio.Event(), asyncio.Event()

    async def settle(self, reserved: Reservation, amounts: SpendingAmounts) -> None:
        """Refuse it, or count it when that is let go."""
        if self.full:
            raise LedgerFull("The disk is full.")
        self.settling.set()
        await self.let_go.wait()
        await super().settle(reserved, amounts)


async def test_a_debt_that_is_being_paid_is_not_lost_to_a_stop(ledger_url: str) -> None:
    """It is counted once, though whoever came next was stopped at that."""
    async with metered(ledger_url) as (ledger, budgets), BackgroundTasks() as tasks:
        owing, script = OwingBudgets(budgets, ledger), ScriptedModels()
        models = MeteredModels(script, owing, tasks)
        await models.ask(SAID, lambda _: None)
        owing.full = False
        asking = tasks.spawn(models.ask(SAID, lambda _: None), "asks")
        await owing.settling.wait()
        asking.cancel()
        owing.let_go.set()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert len(script.asked) == 1
        await models.ask(SAID, lambda _: None)
        assert [each.calls for each in await spent_by(ledger, ROOM)] == [2]
