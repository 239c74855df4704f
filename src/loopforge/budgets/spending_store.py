"""Spending: what each meter of budgets has spent, and what is held for what is under way.

    reserve -> (the money is spent) -> settle          a hold stands from the one to the other

Each is one transaction, and reserving looks, decides and holds with every other writer kept out:
so however many ask at once, in however many processes, no more is let through than one question
over a budget. What a killed process held counts as spent in full, as soon as its turn is taken up
again or the hold's time is over: it may have been. Nothing here stands in the chain; that each
call was made does.

Works on a connection, in the ledger's writing thread. Does not know what anything costs.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import cache
from typing import NamedTuple

import msgspec
from sqlalchemy import Insert, Table, delete, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection, RowMapping

from loopforge.core.limits.budget_limits import (
    Level,
    Limit,
    LimitStanding,
    Unit,
    first_day,
    level_of,
)
from loopforge.ledger.database.table_schema import holds, spent, told

COLUMN: Mapping[Unit, str] = {"dollars": "picos", "calls": "calls", "uses": "uses"}
"""What counts a unit here; answers are counted by the ledger."""
SUMS = ("picos", "calls", "uses", "unpriced")


class SpendingAmounts(NamedTuple):
    """Picodollars; questions to models; uses of tools; answers that nobody knows the price of."""

    picos: int = 0
    calls: int = 0
    uses: int = 0
    unpriced: int = 0


class SpendingHold(NamedTuple):
    """What is to be held: for which meters, as part of which turn, by which process, until when.

    `now` and `until` in microseconds since 1970; `day` is the home's.
    """

    id: str
    process: str
    turn: str
    stream: str
    meters: tuple[str, ...]
    day: date
    now: int
    until: int
    amounts: SpendingAmounts


class BudgetDecision(NamedTuple):
    """What budgets say: how far it is, by which limit, and whether the stream is to be told."""

    level: Level
    by: LimitStanding | None
    tell: bool = False


def reserve(
    connection: Connection, wanted: SpendingHold, limits: Sequence[Limit], mark: float
) -> BudgetDecision:
    """Hold it, unless a limit is spent."""
    _alone(connection)
    _settle_left(connection, wanted)
    level, by = level_of(standings(connection, limits, wanted.day), mark)
    if level == "spent":
        assert by is not None
        return BudgetDecision(level, by, by.lasting and _first(connection, wanted, by))
    connection.execute(
        holds.insert().values(
            hold=wanted.id,
            process=wanted.process,
            turn=wanted.turn,
            meters=msgspec.json.encode(wanted.meters).decode(),
            day=wanted.day.isoformat(),
            until=wanted.until,
            **_held(wanted.amounts),
        )
    )
    return BudgetDecision(level, by)


def settle(
    connection: Connection, hold: str, meters: Iterable[str], day: date, amounts: SpendingAmounts
) -> None:
    """What was really spent takes the place of a hold ("" for none).

    A hold that was over meanwhile was counted in full already.
    """
    if hold and not connection.execute(delete(holds).where(holds.c.hold == hold)).rowcount:
        return
    _add(connection, meters, day.isoformat(), amounts)


def counted_here(limits: Iterable[Limit]) -> list[Limit]:
    """Those of these limits that are counted in these tables: not those on answers."""
    return [limit for limit in limits if limit.budget.unit in COLUMN]


def release(connection: Connection, hold: SpendingHold) -> None:
    """Nothing is spent of a hold, and where a budget was, another turn is to tell its stream."""
    connection.execute(delete(holds).where(holds.c.hold == hold.id))
    if hold.stream:
        mine = (told.c.stream == hold.stream) & (told.c.turn == hold.turn)
        connection.execute(delete(told).where(mine))


def standings(connection: Connection, limits: Sequence[Limit], day: date) -> list[LimitStanding]:
    """How these limits stand on this day; those that are counted elsewhere are left out."""
    here = counted_here(limits)
    if not here:
        return []
    month, today = first_day("month", day).isoformat(), day.isoformat()
    wanted = spent.c.meter.in_(sorted({limit.meter for limit in here}))
    query = select(spent).where(wanted, spent.c.day >= month, spent.c.day <= today)
    used, held = Counter[tuple[str, str, str]](), Counter[tuple[str, str, str]]()
    for row in connection.execute(query).mappings():
        _count(used, row["meter"], row, today)
    for row in connection.execute(select(holds).where(holds.c.day >= month)).mappings():
        for meter in msgspec.json.decode(row["meters"]):
            _count(held, meter, row, today)
    places = [(each.meter, each.budget.period, COLUMN[each.budget.unit]) for each in here]
    return [
        LimitStanding(limit, used[place], held[place])
        for limit, place in zip(here, places, strict=True)
    ]


def spent_since(connection: Connection, since: date) -> list[tuple[str, str, SpendingAmounts]]:
    """Meter, day and amounts of every meter since a day."""
    rows = connection.execute(select(spent).where(spent.c.day >= since.isoformat()))
    return [(row.meter, row.day, SpendingAmounts(*row[2:])) for row in rows]


def _count(into: Counter[tuple[str, str, str]], meter: str, row: RowMapping, today: str) -> None:
    for column in COLUMN.values():
        into[meter, "month", column] += row[column]
        if row["day"] == today:
            into[meter, "day", column] += row[column]


def _held(amounts: SpendingAmounts) -> dict[str, int]:
    return {"picos": amounts.picos, "calls": amounts.calls, "uses": amounts.uses}


def _alone(connection: Connection) -> None:
    """Keep others from reserving until this transaction ends; SQLite's has the lock already."""
    if connection.dialect.name != "sqlite":
        connection.exec_driver_sql("LOCK TABLE budget_holds IN EXCLUSIVE MODE")


def _settle_left(connection: Connection, wanted: SpendingHold) -> None:
    """Count in full what is held by nobody any more."""
    dead = (holds.c.turn == wanted.turn) & (holds.c.turn != "")
    over = (holds.c.until <= wanted.now) | (dead & (holds.c.process != wanted.process))
    for row in connection.execute(select(holds).where(over)).all():
        connection.execute(delete(holds).where(holds.c.hold == row.hold))
        amounts = SpendingAmounts(row.picos, row.calls, row.uses)
        _add(connection, msgspec.json.decode(row.meters), row.day, amounts)


def _add(connection: Connection, meters: Iterable[str], day: str, amounts: SpendingAmounts) -> None:
    """In the order of meters, so that two who add never wait for one another."""
    rows = [{"meter": meter, "day": day, **amounts._asdict()} for meter in sorted(set(meters))]
    if not rows or not any(amounts):
        return
    connection.execute(_adding(connection.dialect.name), rows)


def _inserting(table: Table, dialect: str) -> sqlite.Insert | postgresql.Insert:
    """A home on SQLite does without the other, a tenth of all that is imported."""
    if dialect == "sqlite":
        return sqlite.insert(table)
    from sqlalchemy.dialects import postgresql

    return postgresql.insert(table)


@cache
def _adding(dialect: str) -> Insert:
    adding = _inserting(spent, dialect)
    more = {name: spent.c[name] + adding.excluded[name] for name in SUMS}
    return adding.on_conflict_do_update(index_elements=["meter", "day"], set_=more)


def _first(connection: Connection, wanted: SpendingHold, by: LimitStanding) -> bool:
    """Whether it is this turn that comes upon a spent budget of this amount first in its stream."""
    if not wanted.stream:
        return False
    budget = by.limit.budget
    since = first_day(budget.period, wanted.day).isoformat()
    name = f"{by.limit.meter} {budget.name} {budget.amount}"
    place = {"budget": name, "since": since, "stream": wanted.stream}
    adding = _inserting(told, connection.dialect.name).values(**place, turn=wanted.turn)
    adding = adding.on_conflict_do_nothing()
    if connection.execute(adding.returning(told.c.turn)).first() is not None:
        return True
    where = [told.c[name] == value for name, value in place.items()]
    return bool(connection.execute(select(told.c.turn).where(*where)).scalar_one() == wanted.turn)
