"""What was not delivered lately, for the owner of a home: when, to which platform, and why.

Says nothing of what it was, nor of the room or the place: being the owner is no leave to read
along.
"""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct
from sqlalchemy import select

from loopforge.chat.room.event_wording import platform
from loopforge.core.delivery_states import Failed, Queued, Uncertain
from loopforge.ledger.database.table_schema import events
from loopforge.ledger.table_access import Readable

KINDS = ("delivery.failed", "delivery.uncertain")


class LostDelivery(Struct, frozen=True, kw_only=True):
    """A delivery that failed for good, or that nobody knows of whether it arrived."""

    at: datetime
    platform: str
    why: str
    uncertain: bool


async def lost_lately(ledger: Readable, most: int = 5) -> list[LostDelivery]:
    """The last few, newest first."""
    query = select(events.c.id).where(events.c.kind.in_(KINDS)).order_by(events.c.id.desc())
    ids = await ledger.look(lambda found: list(found.execute(query.limit(most)).scalars()))
    rows = []
    for id in ids:
        event = await ledger.event(id)
        if not isinstance(event.body, Failed | Uncertain):
            continue
        queued = (await ledger.event(event.body.delivery)).body
        place = queued.surface if isinstance(queued, Queued) else ""
        rows.append(
            LostDelivery(
                at=event.at,
                platform=platform(place) or "a surface",
                why=str(event.body.why),
                uncertain=isinstance(event.body, Uncertain),
            )
        )
    return rows
