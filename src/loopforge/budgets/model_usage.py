"""Usage: what was asked of language models, for whom, and what it cost.

A view adds up the `turn.answered` of all streams as they are appended; `UsageView` reads the sums.
They stand by day, stream, mate, model, person (whose line was answered) and surface.
A call is one try at one model; it failed if it gave no usable answer. Days are UTC. Costs are whole
picodollars (10^-12), so that prices to the millionth of a dollar for a million tokens add up
exactly; what nobody knows the price of is counted as `unpriced`, never as free.

Holds no texts: who forgets what was said does not forget what it cost. Knows nothing of limits.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, date
from operator import attrgetter
from typing import Any, Literal, get_args

import msgspec
from msgspec import Struct
from sqlalchemy import BigInteger, Column, PrimaryKeyConstraint, Table
from sqlalchemy.engine import Connection

from loopforge.core.events import Event
from loopforge.core.limits.money_amounts import (
    dollars_from_picos,
    format_dollars,
    picos_from_dollars,
)
from loopforge.core.turn_events import Answered
from loopforge.ledger.database.row_insert import insert_rows
from loopforge.ledger.database.table_schema import Name, metadata
from loopforge.ledger.storage.row_codec import in_list_sql, list_parameter, sql_placeholder
from loopforge.ledger.table_access import Tables

Key = Literal["day", "stream", "mate", "model", "person", "surface"]
KEYS: tuple[Key, ...] = get_args(Key)
SUMS = ("calls", "failed", "tokens_read", "tokens_cached", "tokens_written", "cost", "unpriced")
UNKNOWN = "no price known"
NO_CALL = frozenset({"missing", "resting", "unpaid"})
"""Outcomes of attempts for which nobody was asked."""
NO_FAULT = frozenset({"answered", "cancelled"})

used = Table(
    "model_usage",
    metadata,
    *(Column(key, Name, nullable=False) for key in KEYS),
    *(Column(sum, BigInteger, nullable=False) for sum in SUMS),
    PrimaryKeyConstraint(*KEYS, name="model_usage_place"),
)


class UsageTally:
    """The view: one row for each day, stream, mate, model, person and surface."""

    name = "usage"
    version = 2
    kinds = frozenset({"turn.answered"})
    tables = (used,)
    holds_texts = False

    def apply(self, connection: Connection, events: Sequence[Event]) -> None:
        """Add up what was answered; one statement for all of it."""
        sums: dict[tuple[str, ...], list[int]] = {}
        for event in events:
            for model, figures in _counted(event.body):
                actor = event.actor.removeprefix("mate:")
                day = event.at.astimezone(UTC).date().isoformat()
                place = (day, event.stream, actor, model, *_whom(event.body))
                known = sums.setdefault(place, [0] * len(SUMS))
                for nth, figure in enumerate(figures):
                    known[nth] += figure
        if sums:
            rows = [(*place, *figures) for place, figures in sums.items()]
            insert_rows(connection, _upsert(sql_placeholder(connection)), rows)


def _upsert(one: str) -> str:
    columns = (*KEYS, *SUMS)
    adding = ", ".join(f"{sum} = model_usage.{sum} + excluded.{sum}" for sum in SUMS)
    return (
        f"INSERT INTO model_usage ({', '.join(columns)}) "  # noqa: S608
        f"VALUES ({', '.join([one] * len(columns))}) "
        f"ON CONFLICT ({', '.join(KEYS)}) DO UPDATE SET {adding}"
    )


def _counted(body: object) -> Iterator[tuple[str, tuple[int, ...]]]:
    """For each model that was asked: calls, failed, read, cached, written, cost, unpriced."""
    if not isinstance(body, Answered):
        return
    tries = [one for one in body.attempts if one.outcome not in NO_CALL]
    for one in tries:
        yield one.model, (1, int(one.outcome not in NO_FAULT), 0, 0, 0, 0, 0)
    if (
        not tries and not body.attempts
    ):  # a person said stop, or a model that keeps no record of its tries
        yield body.model, (1, int(body.outcome not in NO_FAULT), 0, 0, 0, 0, 0)
    used = [(one.model, one.usage) for one in body.attempts if one.usage]
    for model, use in (*used, (body.model, body.usage)):
        if use.read or use.written or use.cost:
            cost = picos_from_dollars(use.cost)
            figures = (use.read, use.cached, use.written, cost or 0, int(cost is None))
            yield model, (0, 0, *figures)


def _whom(body: object) -> tuple[str, str]:
    """Whom an answer was for, and by which surface; "" where nobody knows."""
    charge = body.charge if isinstance(body, Answered) else None
    return (charge.person, charge.surface.partition(":")[0]) if charge else ("", "")


class UsageRow(Struct, frozen=True, kw_only=True):
    """Sums for one place; what is not asked for of the keys is "".

    `model` is also "" where no model had answered when a person said stop. Tokens `read` include
    those `cached` by the provider. `picos` are what the priced answers cost; `unpriced` counts the
    answers that nobody knows the price of.
    """

    day: str = ""
    stream: str = ""
    mate: str = ""
    model: str = ""
    person: str = ""
    surface: str = ""
    calls: int = 0
    failed: int = 0
    read: int = 0
    cached: int = 0
    written: int = 0
    picos: int = 0
    unpriced: int = 0

    @property
    def tokens(self) -> int:
        """Read and written together."""
        return self.read + self.written

    @property
    def cost(self) -> str:
        """Dollars, exactly, of what has a price."""
        return dollars_from_picos(self.picos)

    @property
    def price(self) -> str:
        """What it cost, in words for people; rounded. Answers without a known price are counted."""
        if not self.unpriced:
            return format_dollars(self.picos)
        return (
            f"{format_dollars(self.picos)}, {self.unpriced:,} unpriced" if self.picos else UNKNOWN
        )

    @property
    def share(self) -> float:
        """How much of what was read came from a provider's cache, 0 to 1."""
        return self.cached / self.read if self.read else 0.0


class UsageView:
    """The sums, for whoever wants to see them."""

    def __init__(self, ledger: Tables) -> None:
        self._ledger = ledger

    async def total(
        self,
        since: date | None = None,
        until: date | None = None,
        streams: Sequence[str] | None = None,
        people: Sequence[str] | None = None,
    ) -> UsageRow:
        """Everything, from one day to another (both counted), in these streams or in all.

        With `people`, what was answered to these.
        """
        return (await self.by((), since, until, streams, people))[0]

    async def by(
        self,
        keys: Sequence[Key] = ("mate",),
        since: date | None = None,
        until: date | None = None,
        streams: Sequence[str] | None = None,
        people: Sequence[str] | None = None,
    ) -> list[UsageRow]:
        """One row for each day, stream, mate (and so on), or for each that comes with another.

        With "day" first, the newest first; else what cost most, then what took most tokens.
        """
        rows = await self._ledger.look(
            lambda found: _sums(found, keys, (since, until), streams, people)
        )
        if keys and keys[0] == "day":
            return rows
        return sorted(rows, key=attrgetter("picos", "tokens", "calls"), reverse=True)


def _sums(
    connection: Connection,
    keys: Sequence[Key],
    days: tuple[date | None, date | None],
    streams: Sequence[str] | None,
    people: Sequence[str] | None,
) -> list[UsageRow]:
    asked = [key for key in KEYS if key in keys]
    one, where, given = sql_placeholder(connection), ["1 = 1"], list[Any]()
    for sign, day in zip((">=", "<="), days, strict=True):
        if day is not None:
            where.append(f"day {sign} {one}")
            given.append(day.isoformat())
    for column, wanted in (("stream", streams), ("person", people)):
        if wanted is not None:
            where.append(f"{column} {in_list_sql(connection)}")
            given.append(list_parameter(connection, wanted))
    sums = [f"COALESCE(SUM({sum}), 0)" for sum in SUMS]
    query = f"SELECT {', '.join([*asked, *sums])} FROM model_usage WHERE {' AND '.join(where)}"  # noqa: S608
    if asked:
        order = ", ".join("day DESC" if key == "day" else key for key in asked)
        query += f" GROUP BY {', '.join(asked)} ORDER BY {order}"
    names = (*asked, *UsageRow.__struct_fields__[len(KEYS) :])
    found = connection.exec_driver_sql(query, tuple(given)).all()
    return [
        msgspec.convert(dict(zip(names, map(_plain, row), strict=True)), UsageRow) for row in found
    ]


def _plain(value: Any) -> str | int:
    """PostgreSQL adds whole numbers up to a Decimal."""
    return value if isinstance(value, str) else int(value)
