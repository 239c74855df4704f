"""The outbox: the view of deliveries that are neither accepted nor failed."""

from collections.abc import Collection
from typing import cast, get_args

from sqlalchemy import BigInteger, Column, Index, PrimaryKeyConstraint, Table, select
from sqlalchemy.engine import Connection

from loopforge.core.delivery_states import TABLE, Attempting, DeliveryEvent, Drafted, Queued
from loopforge.core.events import Event
from loopforge.ledger.database.table_schema import Name, events, metadata
from loopforge.ledger.storage.open_lifecycles import OpenLifecycles
from loopforge.runtime.delivery_worker import PAGE, PendingDelivery

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
    Index("deliveries_place", "stream", "surface", "delivery"),
)


class DeliveryOutbox(OpenLifecycles[PendingDelivery]):
    """Folds `delivery.*` events into one row for each open delivery; a draft is none."""

    name, version, noun = "outbox", 2, "Delivery"
    kinds = frozenset(
        str(body.__struct_config__.tag) for body in get_args(DeliveryEvent) if body is not Drafted
    )
    states, table, row = TABLE, deliveries, PendingDelivery

    def id_of(self, event: Event) -> str:
        """The delivery that a `delivery.*` event is about."""
        body = cast("DeliveryEvent", event.body)
        assert not isinstance(body, Drafted)
        return event.id if isinstance(body, Queued) else body.delivery

    def begun(self, event: Event) -> PendingDelivery | None:
        """What was queued."""
        body = event.body
        if not isinstance(body, Queued):
            return None
        return PendingDelivery(
            event.id, event.stream, body.surface, body.of, body.what, "queued", 0
        )

    def moved(self, row: PendingDelivery, event: Event, state: str) -> PendingDelivery:
        """Attempts are counted."""
        body = event.body
        attempts = body.nth if isinstance(body, Attempting) else row.attempts
        return row._replace(state=state, attempts=attempts)

    def but(self, connection: Connection, surfaces: Collection[str]) -> list[PendingDelivery]:
        """Everything that is open, oldest first, but what is for these surfaces."""
        return list(self._read(connection, deliveries.c.surface.not_in(surfaces)).values())

    def unseen(self, connection: Connection, stream: str, surface: str, upto: int) -> list[str]:
        """The ids of a surface's oldest open deliveries of events up to `upto`, PAGE at most."""
        query = (
            select(deliveries.c.delivery)
            .join(events, events.c.id == deliveries.c.of)
            .where(deliveries.c.stream == stream, deliveries.c.surface == surface)
            .where(events.c.seq <= upto)
            .order_by(deliveries.c.delivery)
            .limit(PAGE)
        )
        return list(connection.execute(query).scalars())
