"""Metered tools: the `Tools` port, wrapped for whoever uses them, so that each use is counted.

What a tool cost is what it says; what it had models do was counted there. Where a budget is spent
the tool is not touched, and whoever wanted it is told so.
"""

from collections.abc import Sequence
from typing import Any

from loopforge.budgets.budget_reservation import Budgets, wait_for_settlement
from loopforge.budgets.spending_store import SpendingAmounts
from loopforge.core.limits.budget_limits import budget_spent_notice
from loopforge.core.limits.money_amounts import DOLLAR
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Tool, ToolCall, ToolResult, Tools


class MeteredTools:
    """These tools, within these budgets."""

    def __init__(self, tools: Tools, budgets: Budgets, tasks: BackgroundTasks) -> None:
        self._tools, self._budgets, self._tasks = tools, budgets, tasks

    def known(self) -> tuple[Tool, ...]:
        """Every tool there is."""
        return self._tools.known()

    def misfit(self, tool: str, arguments: dict[str, Any]) -> str:
        """See `Tools.misfit`."""
        return self._tools.misfit(tool, arguments)

    async def choose(
        self, where: tuple[str, str], may: Sequence[Tool], talk: Sequence[str], window: int = 0
    ) -> Sequence[Tool]:
        """See `Tools.choose`."""
        return await self._tools.choose(where, may, talk, window)

    async def call(self, tool: str, call: ToolCall) -> tuple[bool, ToolResult]:
        """Use it, where budgets allow that. What there is not is neither used nor counted."""
        if all(one.name != tool for one in self.known()):
            return await self._tools.call(tool, call)
        reserved = await self._budgets.reserve(call.charge, SpendingAmounts(uses=1))
        if reserved.level == "spent":
            assert reserved.note is not None
            return False, ToolResult(
                text=f"{tool} was not used. {budget_spent_notice(reserved.note)}"
            )
        cost = 0.0
        try:
            worked, given = await self._tools.call(tool, call)
            cost = 0.0 if given.metered else given.cost
        finally:
            amounts = SpendingAmounts(picos=round(cost * DOLLAR), uses=1)
            paying = self._budgets.settle(reserved, amounts)
            await wait_for_settlement(
                reserved, self._tasks.spawn(paying, "a use of a tool is paid")
            )
        return worked, given
