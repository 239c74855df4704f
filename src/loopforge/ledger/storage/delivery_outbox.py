"""The outbox: the view of deliveries that are neither accepted nor failed.

It follows `core.delivery.TABLE`: what the table does not allow is refused before it is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast, get_args

from sqlalchemy import BigInteger, Column, PrimaryKeyConstraint, Table, bindparam
from sqlalchemy.engine import Connection

from loopforge.core.delivery_states import TABLE, Attempting, DeliveryEvent, Drafted, Queued, State
from loopforge.core.events import Event
from loopforge.errors import Conflict
from loopforge.ledger.database.table_schema import Name, metadata
from loopforge.runtime.delivery_worker import Pending

deliveries = Table(
    "deliveries",
    metadata,
    Column("delivery", Name, nullable=False),
    Column("stream", Name, nullable=False),
    Column("surface", Name, nullable=False),
    Column("of", Name, nullable=False),
    Column("what", Name, nullable=False),
    Column("state", Name, nullable=False),
    Column("attempts", BigInteger, nullable=False),
    PrimaryKeyConstraint("delivery", name="deliveries_delivery"),
)

OPEN = frozenset(state for state, ways in TABLE.items() if ways)
"""The states from which something can still happen."""


class DeliveryOutbox:
    """Folds `delivery.*` events into one row for each open delivery; a draft is none."""

    name = "outbox"
    version = 1
    kinds = frozenset(
        str(body.__struct_config__.tag) for body in get_args(DeliveryEvent) if body is not Drafted
    )
    tables = (deliveries,)
    holds_texts = False

    def apply(self, connection: Connection, events: Sequence[Event]) -> None:
        """Take in events; raises Conflict for one that the table does not allow."""
        wanted = {delivery_of(event) for event in events if not isinstance(event.body, Queued)}
        before = _open(connection, wanted)
        now = dict(before)
        for event in events:
            _step(now, event)
        _store(connection, before, now)


def delivery_of(event: Event) -> str:
    """The delivery that a `delivery.*` event is about."""
    body = cast("DeliveryEvent", event.body)
    assert not isinstance(body, Drafted)
    return event.id if isinstance(body, Queued) else body.delivery


def _step(known: dict[str, Pending], event: Event) -> None:
    id, body = delivery_of(event), event.body
    if isinstance(body, Queued):
        known[id] = Pending(id, event.stream, body.surface, body.of, body.what, "queued", 0)
        return
    row = known.get(id)
    if row is None:
        raise Conflict(
            f"Delivery {id} is not open (it was accepted, it failed, or it was never queued), so "
            f"{event.kind} cannot happen to it; nothing was written."
        )
    state = TABLE[cast("State", row.state)].get(event.kind)
    if state is None:
        raise Conflict(
            f"Delivery {id} is {row.state}, so {event.kind} cannot happen to it; "
            "nothing was written."
        )
    attempts = body.nth if isinstance(body, Attempting) else row.attempts
    known[id] = row._replace(state=state, attempts=attempts)
    if state not in OPEN:
        del known[id]


def _open(connection: Connection, wanted: set[str]) -> dict[str, Pending]:
    if not wanted:
        return {}
    rows = connection.execute(deliveries.select().where(deliveries.c.delivery.in_(wanted)))
    return {row.delivery: Pending(*row) for row in rows}


_insert = deliveries.insert()
_delete = deliveries.delete().where(deliveries.c.delivery == bindparam("gone"))


def _store(connection: Connection, before: dict[str, Pending], now: dict[str, Pending]) -> None:
    gone = [id for id, row in before.items() if now.get(id) != row]
    if gone:
        connection.execute(_delete, [{"gone": id} for id in gone])
    new = [row._asdict() for id, row in now.items() if before.get(id) != row]
    if new:
        connection.execute(_insert, new)


def pending(connection: Connection) -> list[Pending]:
    """Every open delivery, oldest first."""
    return [
        Pending(*row)
        for row in connection.execute(deliveries.select().order_by(deliveries.c.delivery))
    ]
