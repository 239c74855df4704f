"""The budgets of a home: those of its settings, and those that people set, as a fold of the ledger.

Setting and removing stand in the stream "home"; what another process sets is heard like one's own.
Does not know what is spent.
"""

import asyncio
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

from loopforge.core.events import Event
from loopforge.core.home_events import STREAM, BudgetRemoved, BudgetSet
from loopforge.core.limits.budget_limits import (
    Budget,
    Charge,
    Limit,
    Scope,
    Unit,
    binding_limits,
    local_day,
)
from loopforge.core.limits.money_amounts import DOLLAR
from loopforge.errors import Unknown
from loopforge.runtime.ports import Ledger
from loopforge.runtime.system_clock import Stamp

KINDS = ("home.budget_set", "home.budget_removed")


class BudgetRules(NamedTuple):
    """What the settings say: whose days they are, the first mark (a share), the default budgets."""

    zone: ZoneInfo
    mark: float = 0.8
    defaults: tuple[Budget, ...] = ()

    def day(self, now: datetime) -> date:
        """Which day it is here."""
        return local_day(now, self.zone)


def by_default(scope: Scope, unit: Unit, amount: float) -> Iterator[Budget]:
    """A default budget of a day, in dollars or in numbers; 0 is none."""
    whole = round(amount * DOLLAR) if unit == "dollars" else int(amount)
    if whole:
        yield Budget(scope=scope, unit=unit, amount=whole, default=True)


class BudgetBook:
    """The budgets in force. `rules` are changed with the settings."""

    def __init__(self, ledger: Ledger, stamp: Stamp, rules: BudgetRules) -> None:
        self.rules, self._ledger, self._stamp = rules, ledger, stamp
        self._set: dict[tuple[str, ...], Budget] = {}
        self._seq, self._reading = -1, asyncio.Lock()
        self._meanwhile = list[Event]()
        ledger.subscribe(self._follow, streams=STREAM, kinds=KINDS)

    async def budgets(self) -> list[Budget]:
        """All of them; one that is set takes the place of the default for the same."""
        await self._read()
        own = {one.key for one in self._set.values()}
        return [*self._set.values(), *(one for one in self.rules.defaults if one.key not in own)]

    async def limits(self, charge: Charge) -> list[Limit]:
        """Those that bind a charge."""
        return binding_limits(await self.budgets(), charge)

    async def put(self, budget: Budget, actor: str) -> None:
        """Set a budget."""
        await self._read()
        await self._add(BudgetSet(budget=budget), actor)

    async def remove(self, budget: Budget, actor: str) -> None:
        """Take away the one for the same, whatever its amount. Raises Unknown."""
        await self._read()
        if budget.key not in self._set:
            raise Unknown(
                f"Nobody set a budget {budget.name}. Those of the settings are changed there; "
                "setting a budget for the same takes their place."
            )
        await self._add(BudgetRemoved(budget=self._set[budget.key]), actor)

    async def _add(self, body: BudgetSet | BudgetRemoved, actor: str) -> None:
        events = await self._ledger.append(STREAM, [self._stamp.fact(body, actor=actor)])
        self._take(events)

    async def _read(self) -> None:
        """What was set before this process began."""
        if self._seq >= 0:
            return
        async with self._reading:
            if self._seq < 0:
                events = await self._ledger.read(STREAM, kinds=KINDS)
                self._seq = 0
                self._take([*events, *self._meanwhile])

    def _follow(self, _stream: str, events: Sequence[Event]) -> None:
        if self._seq >= 0:
            self._take(events)
        else:  # it may be set while what was set before is read
            self._meanwhile += events

    def _take(self, events: Sequence[Event]) -> None:
        for event in events:
            if event.seq <= self._seq:
                continue
            self._seq = event.seq
            match event.body:
                case BudgetSet(budget=budget):
                    self._set[budget.key] = budget
                case BudgetRemoved(budget=budget):
                    self._set.pop(budget.key, None)
