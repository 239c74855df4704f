"""Budgets and usage in a room: what was spent here, what may be, and what keepers allow.

Everybody sees what they themselves were answered and what bounds them; who may change the room sees
what it spent, and may set budgets of its own. Theirs hold beside what the home says.
"""

from collections.abc import Sequence
from datetime import date

from loopforge.budgets.budget_reservation import Budgets
from loopforge.budgets.model_usage import UsageRow, UsageView
from loopforge.chat.commands.command_request import CommandRequest
from loopforge.chat.room.permissions import may
from loopforge.chat.room.room_store import stream_of
from loopforge.chat.room_loop import SCRIBE
from loopforge.chat.server import Rooms
from loopforge.core.limits.budget_limits import (
    Budget,
    Charge,
    LimitStanding,
    budget_reset_text,
    describe_budget,
    format_amount,
    read_budget,
)
from loopforge.core.mates.mate_file import mate_name
from loopforge.runtime.ports import Clock

ITSELF = "the room itself"
"""Who thinks where it is about the room, such as about its title."""
OPEN = ("room", "places", "person", "people", "guests")
"""Budgets that anybody here is told of whom they bind; of others the owner alone."""
NONE = "none"


class BudgetCommands:
    """Tells what was spent, and sets what may be."""

    def __init__(self, rooms: Rooms, budgets: Budgets, meter: UsageView, clock: Clock) -> None:
        self._rooms, self._budgets, self._meter, self._clock = rooms, budgets, meter, clock
        self.table = {"usage": self.usage, "budget": self.budget}

    # ------------------------------------------------------------ what was spent

    async def usage(self, asked: CommandRequest) -> str:
        """Tokens and cost today and this month: one's own; of the room for who may change it.

        Days are UTC, which is said where those of budgets are others.
        """
        state = await self._rooms.state(asked.room)
        told: list[str] = []
        if asked.person:
            selves = list({asked.person, self._rooms.same(asked.person)})
            for when, since in self._spans():
                row = await self._meter.total(since=since, people=selves)
                said = _sums(row) if row.calls else "nothing was asked of a model"
                told.append(f"For you, {when}: {said}.")
        if may(state, asked.person, "change", keeper=asked.keeper, owner=asked.owner):
            streams = [stream_of(asked.room)]
            for when, since in self._spans():
                rows = await self._meter.by(("mate",), since=since, streams=streams)
                told += self._used(f"In this room, {when}", rows)
        return "\n".join(told)

    def _spans(self) -> tuple[tuple[str, date], tuple[str, date]]:
        today = self._clock.now().date()
        utc = "" if self._budgets.book.rules.zone.key == "UTC" else " (UTC)"
        return ((f"today{utc}", today), (f"this month{utc}", today.replace(day=1)))

    def _used(self, when: str, rows: Sequence[UsageRow]) -> list[str]:
        if not rows:
            return [f"{when}: nothing was asked of a model."]
        return [f"{when}:", *(f"  {self._name(row.mate)}: {_sums(row)}" for row in rows)]

    def _name(self, handle: str) -> str:
        return ITSELF if handle == SCRIBE else mate_name(self._rooms.mates, handle)

    # ------------------------------------------------------------ what may be spent

    async def budget(self, asked: CommandRequest) -> str:
        """How the budgets stand that bind whoever asks here; or one more for this room, or less."""
        if not asked.argument:
            return await self._told(asked)
        first, *rest = asked.argument.split()
        ours = not asked.owner and bool(asked.person)
        words = ["0", *rest] if first == NONE else [first, *rest]
        budget = read_budget(words, "room", asked.room, keepers=ours)
        actor = f"person:{asked.person}" if asked.person else "runtime"
        if first == NONE:
            await self._budgets.book.remove(budget, actor)
            return f"This room has no such budget of its own any more ({budget.unit})."
        await self._budgets.book.put(budget, actor)
        return f"Set: {describe_budget(budget)}."

    async def _told(self, asked: CommandRequest) -> str:
        surface = asked.surface or "web"
        state = await self._rooms.state(asked.room)
        place = next(iter(state.places), surface)
        charge = Charge(
            stream=stream_of(asked.room),
            person=self._rooms.same(asked.person) if asked.person else "",
            surface=place,
            guest=self._rooms.is_guest(asked.person),
            owner=asked.owner,
        )
        found = [
            *await self._budgets.standings(charge),
            *await self._rooms.quota.standings(charge),
        ]
        every = asked.owner or not asked.person
        told = [self._standing(one) for one in found if every or one.limit.budget.scope in OPEN]
        return "\n".join(told) or "No budget limits mates here, as far as you may see."

    def _standing(self, one: LimitStanding) -> str:
        budget: Budget = one.limit.budget
        used = format_amount(budget.unit, one.gone)
        rules = self._budgets.book.rules
        over = ""
        if one.gone >= budget.amount:
            resumes = budget_reset_text(budget.period, rules.day(self._clock.now()), rules.zone)
            over = f", which is all: it goes on {resumes}"
        return f"{describe_budget(budget)}: {used} used{over}."


def _sums(row: UsageRow) -> str:
    return f"{row.read:,} tokens read, {row.written:,} written, {row.price}"
