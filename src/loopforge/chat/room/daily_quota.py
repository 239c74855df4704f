"""Quota: budgets in answers: how many a place and a person had today, counted from the ledger.

A day begins at midnight in the home's time zone. An answer is a line that a mate said; it counts
for the room's place on a platform, and for the person whose line or routine it goes back to. The
owner's own answers count for the place alone. Whether more may follow, budgets say (core/limits/);
the settings have some by default. Does not know what an answer costs.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from zoneinfo import ZoneInfo

import msgspec
from msgspec.structs import replace
from sqlalchemy import select
from sqlalchemy.engine import Connection

from loopforge.budgets.budget_book import BudgetBook, BudgetRules
from loopforge.chat.room.turn_queue import ANEW, MORE
from loopforge.core.events import Event
from loopforge.core.limits.budget_limits import WHOSE, Charge, Limit, LimitStanding, Scope
from loopforge.core.room_vocabulary import AnswerWanted, Heard, LineEdited, Said, Told
from loopforge.core.text.spoken_lists import pluralize
from loopforge.core.turn_events import Perceived
from loopforge.ledger.database.table_schema import events
from loopforge.ledger.table_access import ReadableLedger
from loopforge.runtime.ports import Clock

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
COUNTED = (
    "room.heard",
    "room.told",
    "room.answer_wanted",
    "turn.perceived",
    "room.said",
    "room.line_edited",
)
ONE: dict[Scope, str] = {"places": "one place", "people": "one person", "guests": "one guest"}


class _Body(msgspec.Struct):
    """What is needed of a line and of a turn's beginning."""

    turn: str = ""
    line: str = ""
    how: str = ""
    summons: str = ""
    rang: str = ""
    person: str = ""


class Quota:
    """The counts of today, and what budgets in answers say to them.

    `same` gives the one id of a person who is known by more than one.
    """

    def __init__(
        self, ledger: ReadableLedger, clock: Clock, book: BudgetBook, same: Callable[[str], str]
    ) -> None:
        self._ledger, self._clock, self._book, self._same = ledger, clock, book, same
        self._told: set[tuple[str, str, int]] = set()
        self._day: datetime | None = None
        self._origin: dict[str, str] = {}
        self._counts: Counter[str] = Counter()
        self._reading = asyncio.Lock()
        ledger.subscribe(self._follow, kinds=COUNTED)

    def become(self, rules: BudgetRules) -> None:
        """Budgets have changed: what was told today may be told again."""
        self._book.rules, self._told = rules, set()

    def _follow(self, stream: str, added: Sequence[Event]) -> None:
        if self._day is not None and added[-1].at >= self._day + timedelta(days=1):
            self._day = None  # who asks for another day's counts reads what was said in it
            self._clear()
        for event in added if self._day is not None else ():
            match event.body:
                case Heard():
                    self._origin[event.id] = event.actor
                case Told(rang=rang, person=person) if rang and person:
                    self._origin[event.id] = f"person:{person}"
                case AnswerWanted(line=line):
                    self._origin[_wanted(line)] = event.actor
                case Perceived(line=line, summons=summons):
                    self._origin[event.id] = self._caller(line, summons)
                case Said(turn=turn) | LineEdited(turn=turn) if turn:
                    self._said(stream, event.id, turn)

    def _caller(self, line: str, summons: str) -> str:
        """Whom a turn answers; who wanted it, where a person wants a line anew or gone on from."""
        wanted = self._origin.get(_wanted(line), "") if summons in (ANEW, MORE) else ""
        return wanted or self._origin.get(line, "")

    def _said(self, stream: str, line: str, turn: str) -> None:
        if line in self._origin:
            return
        who = self._origin[line] = self._origin.get(turn, "")
        self._counts[stream] += 1
        if who:
            self._counts[who] += 1

    async def over(self, charge: Charge) -> bool:
        """Whether a line may not be answered; the charge is for the answer."""
        return any(one.used >= one.limit.budget.amount for one in await self.standings(charge))

    async def why(self, charge: Charge, name: str) -> str:
        """Why such a line is not answered; "" if it may be, or if that was said there today.

        The person of the charge has this name.
        """
        found = await self.standings(charge)
        found.sort(key=lambda one: one.limit.meter == charge.stream)  # a person first
        for limit, had in [(one.limit, one.used) for one in found]:
            if had >= limit.budget.amount:
                room = "This place" if ":" in charge.surface else "This room"
                who = room if limit.meter == charge.stream else name
                return self._once(
                    charge.stream, limit, f"{who} had {pluralize(had, 'answer')} today"
                )
        return ""

    async def standings(self, charge: Charge) -> list[LimitStanding]:
        """How the budgets in answers stand that bind a charge."""
        charge = replace(charge, person=self._same(charge.person))
        limits = [one for one in await self._book.limits(charge) if one.budget.unit == "answers"]
        if limits:
            await self._today()
        return [LimitStanding(one, self._counts[one.meter]) for one in limits]

    async def had(self, meter: str) -> int:
        """How many answers a room ("room:commons") or a person ("person:p1") had today."""
        await self._today()
        return self._counts[meter]

    def _once(self, room: str, limit: Limit, so: str) -> str:
        spent = (room, limit.meter, limit.budget.amount)
        if spent in self._told:
            return ""
        self._told.add(spent)
        whose = ONE.get(limit.budget.scope, WHOSE[limit.budget.scope])
        most = f"which is as many as this home gives {whose} in a day"
        return f"{so}, {most}. Mates answer again after midnight ({self._zone.key})."

    @property
    def _zone(self) -> ZoneInfo:
        return self._book.rules.zone

    async def _today(self) -> None:
        """Begin a new day; what was said in it before this process began is read."""
        now = self._clock.now().astimezone(self._zone)
        day = now.replace(hour=0, minute=0, second=0, microsecond=0)
        async with self._reading:
            if self._day == day:
                return
            self._clear()
            since = round((day.astimezone(UTC) - EPOCH).total_seconds() * 1_000_000)
            self._day = day  # what is said while it is read counts, too
            try:
                rows = await self._ledger.look(partial(_since, micros=since))
                for stream, id, actor, body in rows:
                    self._take_in(stream, id, actor, msgspec.json.decode(body, type=_Body))
            except BaseException:  # not read, or not to its end: whoever asks next reads it
                self._day = None
                self._clear()
                raise

    def _clear(self) -> None:
        self._origin.clear()
        self._counts.clear()
        self._told.clear()

    def _take_in(self, stream: str, id: str, actor: str, told: _Body) -> None:
        """A line, a turn's beginning, or a wish for other words, of before this process."""
        if told.turn:
            self._said(stream, id, told.turn)
        elif told.how:
            self._origin[_wanted(told.line)] = actor
        elif told.summons:
            self._origin[id] = self._caller(told.line, told.summons)
        elif told.rang:
            self._origin[id] = f"person:{told.person}" if told.person else ""
        elif not told.line:
            self._origin[id] = actor


def _wanted(line: str) -> str:
    """Where it stands who wanted other words of a line."""
    return f"wanted {line}"


def _since(connection: Connection, micros: int) -> list[tuple[str, str, str, str]]:
    """Lines and turns since a moment, in order: stream, id, actor, body."""
    wanted = events.c.kind.in_(COUNTED)
    query = select(events.c.stream, events.c.id, events.c.actor, events.c.body)
    rows = connection.execute(query.where(events.c.at >= micros, wanted).order_by(events.c.id))
    return [(row.stream, row.id, row.actor, row.body) for row in rows]
