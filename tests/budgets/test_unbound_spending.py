"""What no budget binds is counted too, and before anything that rests on it."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from loopforge.budgets.budget_book import BudgetBook, BudgetRules
from loopforge.budgets.budget_reservation import Budgets, Reservation
from loopforge.budgets.metered_ports import MeteredModels, MeteredTools
from loopforge.budgets.spending_store import SpendingAmounts, spent_since
from loopforge.core.limits.budget_limits import Budget, Charge
from loopforge.core.limits.money_amounts import DOLLAR
from loopforge.errors import LedgerFull
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.models.scripted_model import ScriptedModels
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Question, Tool, ToolCall, ToolResult
from tests.ledger.saying import NOON, ROOM, Scribbler, opened

CHARGE = Charge(stream=ROOM, mate="maya")
SAID = Question(messages=(("user", "hello"),), charge=CHARGE)


class OneTool:
    """The `Tools` port with a tool that does nothing for money."""

    def known(self) -> tuple[Tool, ...]:
        """It alone."""
        return (Tool(name="coin", summary="takes a coin"),)

    def misfit(self, tool: str, arguments: dict[str, Any]) -> str:
        """Everything fits."""
        return ""

    async def choose(
        self, where: tuple[str, str], may: Sequence[Tool], talk: Sequence[str], window: int = 0
    ) -> Sequence[Tool]:
        """All there is."""
        return may

    async def call(self, tool: str, call: ToolCall) -> tuple[bool, ToolResult]:
        """It costs half a dollar."""
        return True, ToolResult(text="done", cost=0.5)


async def uncounted(_: str) -> int:
    """Nobody counts answers here."""
    return 0


@asynccontextmanager
async def metered(url: str) -> AsyncIterator[tuple[SqlLedger, Budgets]]:
    """A ledger, and budgets that bind nothing."""
    stamp = Scribbler().stamp
    async with opened(url) as ledger:
        book = BudgetBook(ledger, stamp, BudgetRules(ZoneInfo("UTC")))
        yield ledger, Budgets(ledger, stamp, book, uncounted, str)


async def spent_by(ledger: SqlLedger, meter: str) -> list[SpendingAmounts]:
    """What a meter counts, by days, with all that was asked for before now."""
    await ledger.append("room:other", [Scribbler().heard("a line behind it")])
    since = (NOON - timedelta(days=1)).date()
    found = await ledger.look(lambda tables: spent_since(tables, since))
    return [amounts for name, _, amounts in found if name == meter]


async def test_an_answer_is_counted_before_what_follows_on_it(ledger_url: str) -> None:
    """What is written as soon as the answer is there stands behind its count."""
    async with metered(ledger_url) as (ledger, budgets), BackgroundTasks() as tasks:
        await MeteredModels(ScriptedModels(), budgets, tasks).ask(SAID, lambda _: None)
        (amounts,) = await spent_by(ledger, ROOM)
        assert amounts.calls == 1


async def test_an_answer_is_counted_though_all_is_closed_then(ledger_url: str) -> None:
    """The answer came, and whoever runs tasks ends them at once."""
    async with metered(ledger_url) as (ledger, budgets):
        async with BackgroundTasks() as tasks:
            await MeteredModels(ScriptedModels(), budgets, tasks).ask(SAID, lambda _: None)
        (amounts,) = await spent_by(ledger, ROOM)
        assert amounts.calls == 1


async def test_a_use_is_counted_though_all_is_closed_then(ledger_url: str) -> None:
    """The same of a tool that was used."""
    async with metered(ledger_url) as (ledger, budgets):
        async with BackgroundTasks() as tasks:
            use = ToolCall(arguments={}, charge=CHARGE)
            assert (await MeteredTools(OneTool(), budgets, tasks).call("coin", use))[0]
        (amounts,) = await spent_by(ledger, ROOM)
        assert (amounts.uses, amounts.picos) == (1, DOLLAR // 2)


class OnFullDisk(Budgets):
    """Budgets whose ledger takes nothing while `full`."""

    full = True

    async def settle(self, reserved: Reservation, amounts: SpendingAmounts) -> None:
        """Refuse it, or count it."""
        if self.full:
            raise LedgerFull("The disk is full.")
        await super().settle(reserved, amounts)


async def test_nobody_is_asked_while_the_last_answer_is_not_counted(ledger_url: str) -> None:
    """A turn that cannot be written is tried again and again; it is paid for once, and counted."""
    async with metered(ledger_url) as (ledger, budgets), BackgroundTasks() as tasks:
        full = OnFullDisk(ledger, Scribbler().stamp, budgets.book, uncounted, str)
        script = ScriptedModels()
        models = MeteredModels(script, full, tasks)
        await models.ask(SAID, lambda _: None)
        for _ in range(3):
            with pytest.raises(LedgerFull):
                await models.ask(SAID, lambda _: None)
        assert len(script.asked) == 1
        full.full = False
        await models.ask(SAID, lambda _: None)
        assert len(script.asked) == 2
        assert [each.calls for each in await spent_by(ledger, ROOM)] == [2]


async def test_a_use_that_cannot_be_counted_yet_is_told_as_it_was(ledger_url: str) -> None:
    """What it gave is not lost, within a budget; nothing is used before that is counted, once."""
    nine = Budget(scope="home", subject="", unit="dollars", period="day", amount=9 * DOLLAR)
    async with metered(ledger_url) as (ledger, budgets), BackgroundTasks() as tasks:
        await budgets.book.put(nine, "person:owner")
        full = OnFullDisk(ledger, Scribbler().stamp, budgets.book, uncounted, str)
        tools, use = MeteredTools(OneTool(), full, tasks), ToolCall(arguments={}, charge=CHARGE)
        assert await tools.call("coin", use) == (True, ToolResult(text="done", cost=0.5))
        with pytest.raises(LedgerFull):
            await tools.call("coin", use)
        full.full = False
        assert (await tools.call("coin", use))[0]
        assert [each.uses for each in await spent_by(ledger, ROOM)] == [2]


async def test_a_budget_of_uses_keeps_no_model_from_being_asked(ledger_url: str) -> None:
    """Used up, no tool is touched any more; what mates say without one goes on."""
    one_use = Budget(scope="home", unit="uses", amount=1)
    async with metered(ledger_url) as (_, budgets), BackgroundTasks() as tasks:
        await budgets.book.put(one_use, "person:owner")
        script, use = ScriptedModels(), ToolCall(arguments={}, charge=CHARGE)
        models, tools = (
            MeteredModels(script, budgets, tasks),
            MeteredTools(OneTool(), budgets, tasks),
        )
        assert (await tools.call("coin", use))[0]
        worked, told = await tools.call("coin", use)
        assert (worked, "coin was not used." in told.text) == (False, True)
        reply = await models.ask(SAID, lambda _: None)
        assert (reply.outcome, reply.budget, len(script.asked)) == ("answered", None, 1)
