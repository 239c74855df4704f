"""Receipts: the line that called a mate, and what became of what its turn said, place by place.

Read from the events themselves, so that it is the same after a restart. Does not know how people
are shown it (io/platforms/emoji_reactions.py).
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import msgspec
from sqlalchemy import Row, select
from sqlalchemy.engine import Connection

from loopforge.ledger.database.table_schema import events
from loopforge.ledger.table_access import Tables

Fate = Literal["owed", "arrived", "lost"]
FATES: dict[str, Fate] = {
    "delivery.accepted": "arrived",
    "delivery.failed": "lost",
    "delivery.uncertain": "lost",
}
KINDS = ("room.said", "turn.ended", "delivery.queued", *FATES)


class CalledTurn(NamedTuple):
    """A turn: who was called by which lines, and how (`summons`); whether it spoke, and is over.

    `fates`: what became of what it said, by place.
    """

    mate: str
    lines: tuple[str, ...]
    summons: str
    spoke: bool
    over: bool
    fates: Mapping[str, tuple[Fate, ...]]


class LineDelivery(NamedTuple):
    """A delivery: to which place, and of which turn; "" if no turn said it."""

    place: str
    turn: str


class LineReceipts:
    """What the ledger knows of turns and of what they said."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def sending(self, delivery: str) -> LineDelivery:
        """What a delivery is."""
        return await self._tables.look(lambda found: _sending(found, delivery))

    async def call(self, turn: str) -> CalledTurn | None:
        """What a turn was called by, and what became of what it said; None if it is no turn."""
        return await self._tables.look(lambda found: _call(found, turn))


def _sending(connection: Connection, delivery: str) -> LineDelivery:
    _, queued = _event(connection, delivery, "delivery.queued")
    _, said = _event(connection, queued.get("of", ""), "room.said")
    return LineDelivery(queued.get("surface", ""), said.get("turn", ""))


def _call(connection: Connection, turn: str) -> CalledTurn | None:
    row, seen = _event(connection, turn, "turn.perceived")
    if row is None:
        return None
    query = (
        select(events.c.id, events.c.kind, events.c.body)
        .where(events.c.stream == row.stream, events.c.seq > row.seq, events.c.kind.in_(KINDS))
        .order_by(events.c.seq)
    )
    lines, places, fates, over = set[str](), dict[str, str](), dict[str, Fate](), False
    for each in connection.execute(query):
        body = msgspec.json.decode(each.body)
        if each.kind in FATES:
            if body["delivery"] in places:
                fates[body["delivery"]] = FATES[each.kind]
        elif each.kind == "delivery.queued":
            if body["of"] in lines:
                places[each.id], fates[each.id] = body["surface"], "owed"
        elif body["turn"] == turn:
            over = over or each.kind == "turn.ended"
            lines |= {each.id} if each.kind == "room.said" else set()
    found: dict[str, tuple[Fate, ...]] = {}
    for delivery, place in places.items():
        found[place] = (*found.get(place, ()), fates[delivery])
    called = (seen["line"], *seen.get("also", ()))
    return CalledTurn(seen["mate"], called, seen["summons"], bool(lines), over, found)


def _event(connection: Connection, id: str, kind: str) -> tuple[Row[Any] | None, dict[str, Any]]:
    """An event of this kind with its body; nothing for any other."""
    query = select(events).where(events.c.id == id, events.c.kind == kind)
    row = connection.execute(query).first()
    return row, msgspec.json.decode(row.body) if row is not None else {}
