"""Metered ports: `Models` and `Tools`, wrapped where a home is put together: nobody passes them.

    question -> about what it takes -> reserved -> asked (of the cheapest tier, where a budget is
    low; of nobody, where it is spent) -> settled by what was really used

Whatever asks a model in a home asks here: turns, titles, tools that look at pictures. Only the
Factory's runs have models, and bounds, of their own. What a tool cost is what it says; what it had
models do was counted there. Where a budget is spent no tool is touched, and who wanted it is told.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from loopforge.budgets.budget_reservation import SOON, Budgets, Reservation, wait_for_settlement
from loopforge.budgets.spending_store import SpendingAmounts
from loopforge.core.limits.budget_limits import Charge, budget_spent_notice
from loopforge.core.limits.money_amounts import DOLLAR, picos_from_dollars
from loopforge.core.text.erasable_text import Words
from loopforge.core.turn_events import Attempt, Usage
from loopforge.errors import LedgerError
from loopforge.runtime.background_tasks import BackgroundTasks, run_shielded
from loopforge.runtime.ports import (
    ANEW,
    AnswerListener,
    ModelFacts,
    ModelReply,
    Models,
    PricedModels,
    Question,
    Route,
    Tool,
    ToolCall,
    ToolResult,
    Tools,
)

log = logging.getLogger(__name__)
UNPAID = "unpaid"
"""What came of an attempt that no budget allowed: nobody was asked."""
CHEAPEST = 1
"""The tier that is stepped down to; where it has no model, the next one answers for it."""


class HeardSoFar:
    """Hears an answer come for somebody, and remembers how far it came, and whose it is."""

    def __init__(self, hear: Callable[[str], None]) -> None:
        self.hear, self.pieces, self.asked = hear, list[str](), ""
        self.tries = list[Attempt]()

    def __call__(self, piece: str) -> None:
        """A piece came."""
        if piece != ANEW:
            self.pieces.append(piece)
        self.hear(piece)

    def asking(self, model: str) -> None:
        """It is this model's answer that comes."""
        self.asked = model

    def tried(self, attempt: Attempt) -> None:
        """What came so far was of a try that is over."""
        self.tries.append(attempt)
        self.pieces.clear()


class HeardSlow(HeardSoFar):
    """The same for somebody who is told, too, that nothing comes."""

    def __init__(self, hear: Callable[[str], None], attentive: AnswerListener) -> None:
        super().__init__(hear)
        self.slow, self.paid = attentive.slow, attentive.paid


class SpendingCount:
    """Settles what was used; what cannot be written down then is owed, and counted first later."""

    def __init__(self, budgets: Budgets) -> None:
        self._budgets = budgets
        self._owed = deque[tuple[Reservation, SpendingAmounts]]()

    async def settle(self, reserved: Reservation, amounts: SpendingAmounts) -> None:
        """Count what was used. What came is not lost because that cannot be written down now."""
        try:
            await self._budgets.settle(reserved, amounts)
        except LedgerError as error:
            self._owed.append((reserved, amounts))
            log.warning("what was used is counted before anything is used again: %s", error)

    async def pay_owed(self) -> None:
        """Count what could not be counted before: else a turn that cannot be written goes on."""
        while self._owed:
            owed = self._owed.popleft()
            try:
                _, stopped = await run_shielded(self._budgets.settle(*owed), "a debt is paid")
            except BaseException:
                self._owed.appendleft(owed)
                raise
            if stopped:
                raise asyncio.CancelledError


class MeteredModels:
    """These models, within these budgets."""

    def __init__(self, models: Models, budgets: Budgets, tasks: BackgroundTasks) -> None:
        self._models, self._budgets, self._tasks = models, budgets, tasks
        self._priced = models if isinstance(models, PricedModels) else None
        self._count = SpendingCount(budgets)

    async def ask(self, question: Question, hear: Callable[[str], None]) -> ModelReply:
        """Ask, where budgets allow it and what was asked before is counted. Raises LedgerError."""
        await self._count.pay_owed()
        wanted = self.estimate(question)
        held = SpendingAmounts(picos=picos_from_dollars(wanted.cost) or 0, calls=1)
        reserved = await self._budgets.reserve(question.charge, held)
        if reserved.level == "spent":
            return _unpaid(reserved)
        note = reserved.note
        heard = HeardSlow(hear, hear) if isinstance(hear, AnswerListener) else HeardSoFar(hear)
        if reserved.level == "low" and note and (cheaper := self._cheaper(question, wanted)):
            question, note = cheaper, replace(note, stepped=True)

        try:
            reply = await self._models.ask(question, heard)
        except BaseException:  # stopped: it was paid for as far as it came
            route = replace(question.route, model=heard.asked or question.route.model)
            usage = self.estimate(replace(question, route=route), "".join(heard.pieces))
            if isinstance(heard, HeardSlow):
                heard.paid(usage, heard.tries)
            tries = [one.usage for one in heard.tries if one.usage]
            paying = self._count.settle(reserved, _amounts([*tries, usage]))
            self._tasks.spawn(paying, "what was cut off is paid")
            raise
        amounts = _amounts([usage for _, usage in reply.usages])
        paying = self._count.settle(reserved, amounts)
        await wait_for_settlement(reserved, self._tasks.spawn(paying, "an answer is paid"))
        return replace(reply, budget=note)

    def _cheaper(self, question: Question, wanted: Usage) -> Question | None:
        """The same of the cheapest tier; None where that is what it asks, or would not hold it."""
        if question.sound:
            return None  # only a model that hears can write it down
        route = replace(question.route, tier=CHEAPEST, model="")
        before, after = self._models.facts(question.route), self._models.facts(route)
        if after.name == before.name or after.window < wanted.read + question.max_tokens:
            return None
        cheaper = replace(question, route=route)
        costs = [picos_from_dollars(one.cost) for one in (self.estimate(cheaper), wanted)]
        dearer = None not in costs and costs[0] >= costs[1]  # type: ignore[operator]
        return None if dearer else cheaper

    async def paid(self, reply: ModelReply) -> None:
        """The owner had a model tried out: that counts for the home, and is never refused."""
        await self._budgets.count(Charge(), _amounts([usage for _, usage in reply.usages]))

    def estimate(self, question: Question, heard: str | None = None) -> Usage:
        """See `PricedModels.estimate`; nothing of models that do not know."""
        return Usage() if self._priced is None else self._priced.estimate(question, heard)

    async def count(self, route: Route, texts: Sequence[str]) -> list[int]:
        """Counting costs nothing."""
        return await self._models.count(route, texts)

    def facts(self, route: Route) -> ModelFacts:
        """What is known of a model."""
        return self._models.facts(route)


def _amounts(usages: Sequence[Usage]) -> SpendingAmounts:
    """One question that took this, over all its tries."""
    used = [one for one in usages if one.read or one.written or one.cost]
    costs = [picos_from_dollars(one.cost) for one in used]
    unpriced = sum(cost is None for cost in costs)
    return SpendingAmounts(picos=sum(filter(None, costs)), calls=1, unpriced=unpriced)


def _unpaid(reserved: Reservation) -> ModelReply:
    """Nobody was asked."""
    note = reserved.note
    assert note is not None
    why = Words(f"no model was asked: {note.budget} is used up ({note.used})", public=True)
    busy = note.resumes == SOON
    tried = Attempt(
        model=note.budget, outcome=UNPAID, detail=why, cause="busy" if busy else "budget"
    )
    return ModelReply(outcome="failed", attempts=(tried,), budget=note)


# ---------------------------------------------------------------- metered tools


class MeteredTools:
    """These tools, within these budgets."""

    def __init__(self, tools: Tools, budgets: Budgets, tasks: BackgroundTasks) -> None:
        self._tools, self._budgets, self._tasks = tools, budgets, tasks
        self._count = SpendingCount(budgets)

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
        """Use it, where budgets allow that and what was used before is counted.

        What there is not is neither used nor counted. Raises LedgerError.
        """
        if all(one.name != tool for one in self.known()):
            return await self._tools.call(tool, call)
        await self._count.pay_owed()
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
            paying = self._count.settle(reserved, amounts)
            await wait_for_settlement(
                reserved, self._tasks.spawn(paying, "a use of a tool is paid")
            )
        return worked, given
