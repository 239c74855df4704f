"""Open effects: the view of uses of tools that are not over yet."""

from typing import cast, get_args

from sqlalchemy import Boolean, Column, PrimaryKeyConstraint, Table

from loopforge.core.effect_states import EFFECT_TABLE, HALTS, EffectEvent, EffectProposed
from loopforge.core.events import Event
from loopforge.ledger.database.table_schema import Name, metadata
from loopforge.ledger.storage.open_lifecycles import OpenLifecycles
from loopforge.runtime.ports import OpenEffect

effects = Table(
    "effects",
    metadata,
    Column("effect", Name, nullable=False),
    Column("stream", Name, nullable=False),
    Column("turn", Name, nullable=False),
    Column("tool", Name, nullable=False),
    Column("idempotent", Boolean, nullable=False),
    Column("state", Name, nullable=False),
    Column("halted", Name, nullable=False),
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
