"""Budgets at work: what may still be spent is reserved, spent, and settled.

    async with-like: reserve -> Reservation (or that it is spent) -> settle

Who wraps models and tools asks here (metered_ports.py, metered_ports.py), and so does whoever
shows how budgets stand. Where nothing is bound nothing is held; what is spent is counted anyway.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import date, timedelta
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from loopforge.budgets import spending_store as store
from loopforge.budgets.budget_book import BudgetBook
from loopforge.budgets.spending_store import BudgetDecision, SpendingAmounts, SpendingHold
from loopforge.core.events import epoch_micros
from loopforge.core.limits.budget_limits import (
    BudgetNote,
    Charge,
    Level,
    Limit,
    LimitStanding,
    budget_note,
    budget_reset_text,
    left_words,
    meter_of,
    meters_of,
)
from loopforge.errors import LedgerError
from loopforge.ledger.table_access import WritableTables
from loopforge.runtime.background_tasks import run_shielded
from loopforge.runtime.system_clock import Stamp

T = TypeVar("T")
LONGEST = timedelta(minutes=30)
"""How long a hold stands that nobody settles; no question and no tool takes longer."""
WAITS = 60
"""Seconds that one waits where nothing but money that is held for others stands in the way."""
SOON = "as soon as what is under way is paid"


class Reservation(Struct, frozen=True, kw_only=True):
    """What was let through: what counts it, on which day, its hold ("" for none), what was said."""

    meters: tuple[str, ...]
    day: date
    hold: str = ""
    level: Level = "free"
    note: BudgetNote | None = None


async def wait_for_settlement(reserved: Reservation, paying: asyncio.Task[None]) -> None:
    """Wait until it is counted, where others go by that.

    Else until it is under way: then it is written before whatever follows on what was paid for.
    """
    await (asyncio.shield(paying) if reserved.hold else asyncio.sleep(0))


class Budgets:
    """The budgets of a home, and what is spent of them.

    `answers` gives how many answers a room or a person had today, which the chat counts, and
    `same` the one id of a person who is known by more than one.
    """

    def __init__(
        self,
        ledger: WritableTables,
        stamp: Stamp,
        book: BudgetBook,
        answers: Callable[[str], Awaitable[int]],
        same: Callable[[str], str],
    ) -> None:
        self._ledger, self._stamp, self.book = ledger, stamp, book
        self._answers, self._one = answers, same
        self._process = stamp.id()
        self.refused: dict[str, int] = {}

    # ------------------------------------------------------------ spending

    async def reserve(self, charge: Charge, amounts: SpendingAmounts) -> Reservation:
        """Hold so much for a charge; of level "spent" where a budget is, and nothing is held.

        Where only money that others hold stands in the way, it is waited for a while: less of it
        may be needed. A use or a question that is under way counts, come of it what may.
        """
        charge = self._same(charge)
        others = {"answers"} if amounts.uses else {"answers", "uses"}
        limits = [one for one in await self.book.limits(charge) if one.budget.unit not in others]
        for waited in range(WAITS + 1):
            found = await self._reserved(charge, limits, amounts)
            under_way = found.note is not None and found.note.resumes == SOON
            if not under_way or waited == WAITS:
                break
            await self._stamp.clock.sleep(1)
        if found.level == "spent" and found.note:
            self.refused[found.note.budget] = self.refused.get(found.note.budget, 0) + 1
        return found

    async def _reserved(
        self, charge: Charge, limits: Sequence[Limit], amounts: SpendingAmounts
    ) -> Reservation:
        now = self._stamp.clock.now()
        rules = self.book.rules
        found = Reservation(meters=tuple(set(meters_of(charge).values())), day=rules.day(now))
        if not limits:
            return found
        hold = SpendingHold(
            id=self._stamp.id(),
            process=self._process,
            turn=charge.turn,
            # Whoever uses a tool is told, not the room.
            stream="" if charge.tool else charge.stream,
            meters=found.meters,
            day=found.day,
            now=epoch_micros(now),
            until=epoch_micros(now + LONGEST),
            amounts=amounts,
        )
        decided = await self._decided(hold, limits)
        if decided.by is None:
            return replace(found, hold=hold.id)
        note = budget_note(decided.by, decided.level)
        if decided.level != "spent":
            return replace(found, hold=hold.id, level=decided.level, note=note)
        budget = decided.by.limit.budget
        lasting = decided.by.lasting
        resumes = budget_reset_text(budget.period, found.day, rules.zone) if lasting else SOON
        note = replace(note, resumes=resumes, told=decided.tell)
        return replace(found, level="spent", note=note)

    async def _decided(self, hold: SpendingHold, limits: Sequence[Limit]) -> BudgetDecision:
        """What budgets say of a hold. Who is stopped meanwhile leaves none, told or held."""
        mark = self.book.rules.mark
        deciding = self._ledger.change(lambda tables: store.reserve(tables, hold, limits, mark))
        decided, stopped = await run_shielded(deciding, "something is held")
        if stopped:
            with suppress(LedgerError):  # else it counts when its time is over
                await self._ledger.change(lambda tables: store.release(tables, hold), soon=False)
            raise asyncio.CancelledError
        return decided

    async def settle(self, reserved: Reservation, amounts: SpendingAmounts) -> None:
        """So much was really spent; where nothing is held for it, nobody waits to go by that."""
        place = (reserved.hold, reserved.meters, reserved.day, amounts)
        held = bool(reserved.hold)
        await self._ledger.change(lambda tables: store.settle(tables, *place), soon=held)

    async def count(self, charge: Charge, amounts: SpendingAmounts) -> None:
        """So much was spent that no budget was asked about."""
        day = self.book.rules.day(self._stamp.clock.now())
        meters = tuple(set(meters_of(self._same(charge)).values()))
        await self.settle(Reservation(meters=meters, day=day), amounts)

    # ------------------------------------------------------------ looking

    async def standings(self, charge: Charge) -> list[LimitStanding]:
        """How the limits of a charge stand now, without those on answers."""
        limits = store.counted_here(await self.book.limits(self._same(charge)))
        day = self.book.rules.day(self._stamp.clock.now())
        if not limits:
            return []
        return await self._ledger.look(lambda tables: store.standings(tables, limits, day))

    async def left(self, charge: Charge) -> str:
        """What is left for a charge, in words for a mind; "" where nothing is bound."""
        return left_words(await self.standings(charge))

    async def listing(self) -> list[LimitStanding]:
        """Every budget, the tightest first; of one for each of a kind how much is used is 0."""
        budgets = await self.book.budgets()
        limits = [Limit(meter_of(one), one) for one in budgets]
        day = self.book.rules.day(self._stamp.clock.now())
        found = await self._ledger.look(lambda tables: store.standings(tables, limits, day))
        counted = {one.limit.budget.key for one in found}
        rest = [one for one in limits if one.budget.key not in counted]
        more = [
            LimitStanding(one, await self._answers(one.meter) if one.meter else 0) for one in rest
        ]
        return sorted([*found, *more], key=lambda one: (-one.share, one.limit.budget.key))

    async def spent_since(self, since: date) -> list[tuple[str, str, SpendingAmounts]]:
        """What each meter spent on each day since one."""
        return await self._ledger.look(lambda tables: store.spent_since(tables, since))

    def _same(self, charge: Charge) -> Charge:
        return replace(charge, person=self._one(charge.person)) if charge.person else charge
