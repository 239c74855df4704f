"""The budgets in force, as they are read first."""

from collections.abc import Callable, Sequence
from typing import Any
from zoneinfo import ZoneInfo

from loopforge.budgets.budget_book import BudgetBook, BudgetRules
from loopforge.core.events import Event
from loopforge.core.home_events import STREAM, BudgetSet
from loopforge.core.limits.budget_limits import Budget
from tests.rooms.test_budgets import CENT, budget
from tests.runtime.conftest import Stage, stage

__all__ = ["stage"]


class Overtaken:
    """A ledger to which somebody writes while what it was asked for is on its way."""

    def __init__(self, stage: Stage, written: Budget) -> None:
        self._stage, self._written = stage, written

    def subscribe(self, *given: Any, **named: Any) -> Callable[[], None]:
        """As ever."""
        return self._stage.ledger.subscribe(*given, **named)

    async def read(self, *given: Any, **named: Any) -> Sequence[Event]:
        """What stood there; more does by now."""
        found = await self._stage.ledger.read(*given, **named)
        fact = self._stage.stamp.fact(BudgetSet(budget=self._written), actor="person:olu")
        await self._stage.ledger.append(STREAM, [fact])
        return found


async def test_what_is_set_while_the_others_are_read_holds(stage: Stage) -> None:
    """It was in no answer to the first question, and is in force all the same."""
    late = budget("home", CENT)
    ledger: Any = Overtaken(stage, late)
    book = BudgetBook(ledger, stage.stamp, BudgetRules(ZoneInfo("UTC")))
    assert await book.budgets() == [late]
