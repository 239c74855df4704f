"""Pending work as views: a row for each thing with a lifecycle to which something can still happen.

    DeliveryOutbox   deliveries that are neither accepted nor failed
    OpenEffects      uses of tools that are not over yet

What the lifecycle's table does not allow is refused before it is written.
"""

from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar, cast, get_args

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Index,
    PrimaryKeyConstraint,
    Table,
    bindparam,
    or_,
    select,
)
from sqlalchemy.engine import Connection

from loopforge.core.delivery_states import TABLE, Attempting, DeliveryEvent, Drafted, Queued
from loopforge.core.effect_states import EFFECT_TABLE, HALTS, EffectEvent, EffectProposed
from loopforge.core.events import Event
from loopforge.errors import Conflict
from loopforge.ledger.database.table_schema import events, metadata, name_columns
from loopforge.runtime.delivery_worker import PAGE, PendingDelivery
from loopforge.runtime.ports import OpenEffect


class LifecycleRow(Protocol):
    """An open thing: a named tuple whose first field is its id."""

    @property
    def stream(self) -> str:
        """The stream of its events."""

    @property
    def state(self) -> str:
        """Where in its lifecycle it stands."""

    def _asdict(self) -> dict[str, Any]: ...


R = TypeVar("R", bound=LifecycleRow)


class OpenLifecycles(Generic[R]):
    """Folds the events of a lifecycle into one row for each open thing.

    The table's first column is the thing's id, and its others are the row's fields.
    """

    name: str
    version: int
    noun: str
    kinds: frozenset[str]
    states: Mapping[Any, Mapping[str, str]]
    table: Table
    row: type[R]
    holds_texts = False

    @property
    def tables(self) -> tuple[Table, ...]:
        """Its one table."""
        return (self.table,)

    @abstractmethod
    def id_of(self, event: Event) -> str:
        """The thing that an event is about, "" for all that are open in its stream."""

    @abstractmethod
    def begun(self, event: Event) -> R | None:
        """The row that an event begins, if it begins one."""

    @abstractmethod
    def moved(self, row: R, event: Event, state: str) -> R:
        """The row after an event that brings it to this state."""

    def apply(self, connection: Connection, events: Sequence[Event]) -> None:
        """Take in events; raises Conflict for one that the table does not allow."""
        all_new = all(self.begun(event) is not None for event in events)
        before = {} if all_new else self._read(connection, self._concerned(events))
        now = dict(before)
        for event in events:
            self._step(now, event)
        self._store(connection, before, now)

    def rows(self, connection: Connection) -> list[R]:
        """Everything that is open, oldest first."""
        return list(self._read(connection, None).values())

    def _concerned(self, events: Sequence[Event]) -> ColumnElement[bool]:
        streams = {event.stream for event in events if not self.id_of(event)}
        return or_(
            self._id.in_({self.id_of(event) for event in events}),
            self.table.c.stream.in_(streams),
        )

    @property
    def _id(self) -> ColumnElement[str]:
        return next(iter(self.table.columns))

    def _step(self, known: dict[str, R], event: Event) -> None:
        if (new := self.begun(event)) is not None:
            known[event.id] = new
            return
        id = self.id_of(event)
        if not id:
            here = {id: one for id, one in known.items() if one.stream == event.stream}
            known.update({id: self.moved(one, event, one.state) for id, one in here.items()})
            return
        if (row := known.get(id)) is None:
            raise Conflict(
                f"{self.noun} {id} is not open (it is over, or it never began), so {event.kind} "
                "cannot happen to it; nothing was written."
            )
        state = self.states[row.state].get(event.kind)
        if state is None:
            raise Conflict(
                f"{self.noun} {id} is {row.state}, so {event.kind} cannot happen to it; "
                "nothing was written."
            )
        if self.states[state]:
            known[id] = self.moved(row, event, state)
        else:
            del known[id]

    def _read(self, connection: Connection, which: ColumnElement[bool] | None) -> dict[str, R]:
        query = self.table.select().order_by(self._id)
        found = connection.execute(query if which is None else query.where(which))
        return {row[0]: self.row(*row) for row in found}

    def _store(self, connection: Connection, before: Mapping[str, R], now: Mapping[str, R]) -> None:
        if gone := [{"gone": id} for id, row in before.items() if now.get(id) != row]:
            connection.execute(self.table.delete().where(self._id == bindparam("gone")), gone)
        if new := [row._asdict() for id, row in now.items() if before.get(id) != row]:
            connection.execute(self.table.insert(), new)


# ---------------------------------------------------------------- open effects


effects = Table(
    "effects",
    metadata,
    *name_columns("effect", "stream", "turn", "tool"),
    Column("idempotent", Boolean, nullable=False),
    *name_columns("state", "halted"),
    PrimaryKeyConstraint("effect", name="effects_effect"),
)


class OpenEffects(OpenLifecycles[OpenEffect]):
    """Folds `effect.*` events into one row for each open effect, and what stops their stream."""

    name, version, noun = "effects", 1, "Effect"
    kinds = frozenset(str(body.__struct_config__.tag) for body in (*get_args(EffectEvent), *HALTS))
    states, table, row = EFFECT_TABLE, effects, OpenEffect

    def id_of(self, event: Event) -> str:
        """The effect that an event is about; a stop is about all of its stream."""
        if type(event.body) in HALTS:
            return ""
        body = cast("EffectEvent", event.body)
        return event.id if isinstance(body, EffectProposed) else body.effect

    def begun(self, event: Event) -> OpenEffect | None:
        """What was proposed."""
        return OpenEffect.proposed(event)

    def moved(self, row: OpenEffect, event: Event, state: str) -> OpenEffect:
        """A stop is kept in mind, so that it holds after a crash too."""
        return row._replace(state=state, halted=row.halted or HALTS.get(type(event.body), ""))


# ---------------------------------------------------------------- delivery outbox


deliveries = Table(
    "deliveries",
    metadata,
    *name_columns("delivery", "stream", "surface", "of", "what", "state"),
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
