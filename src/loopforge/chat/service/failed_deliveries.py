"""Failed deliveries: what failed, what may have arrived, what still waits; and sending again.

Sending again queues the same thing once more for the same place, as a delivery of its own whose
cause is the one that failed; that one is owed no longer. Says of a delivery when, to where, whose
it was and why, and never what was said; who may read the names is for those who show them.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Literal

from msgspec import Struct
from sqlalchemy import Connection, select

from loopforge.chat.room.room_store import RoomStore
from loopforge.chat.speaking.room_rules import SCREEN
from loopforge.core.delivery_states import Failed, PutOff, Queued, Uncertain
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import Heard, Said, Told
from loopforge.errors import InputError, Unknown
from loopforge.ledger.database.table_schema import events
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.runtime.delivery_worker import Deliveries, PendingDelivery

ENDED = ("delivery.failed", "delivery.uncertain")
MOST = 200
"""What is owed that is listed, the newest."""
PAGE = 200
"""Failed deliveries that are looked at together."""
END = "~"
"""After every id."""
Owing = Literal["failed", "uncertain", "waits"]


class FailedDelivery(Struct, frozen=True, kw_only=True):
    """A delivery that did not arrive. `place` is its key; `name` what people call it there.

    `at`: since when. `who`: the mate's handle or the person's id whose it was, "" if neither's.
    `again`: it can be sent again, for its place is still part of the room.
    """

    delivery: str
    stream: str
    seq: int
    at: datetime
    place: str
    name: str
    what: str
    who: str
    why: str
    state: Owing
    attempts: int = 0
    again: bool = False


class FailedDeliveries:
    """What is owed to the places of rooms."""

    def __init__(self, ledger: SqlLedger, house: RoomStore, deliveries: Deliveries) -> None:
        self._ledger, self._house, self._deliveries = ledger, house, deliveries

    async def every(self, stream: str = "", most: int = MOST) -> list[FailedDelivery]:
        """What is owed, in one room or in all, the newest first; what waits before all else.

        Of what failed so many at most: older ones come up when newer ones are sent.
        """
        waits = [
            await self._waiting(one)
            for one in await self._ledger.outbox(but=(SCREEN,))
            if ":" in one.surface and stream in ("", one.stream)
        ]
        failed, page = list[FailedDelivery](), await self._page(stream, END)
        while page and len(failed) < most:
            each = [await self._failed(end) for end, again in page if not again]
            failed += [one for one in each if one is not None]
            page = await self._page(stream, page[-1][0])
        return [*[one for one in reversed(waits) if one is not None], *failed[:most]]

    async def _page(self, stream: str, before: str) -> Sequence[tuple[str, bool]]:
        return await self._ledger.look(lambda found: _ended(found, stream, before))

    async def send_again(self, stream: str, delivery: str) -> None:
        """Send what failed to the same place once more. Raises Unknown, and InputError."""
        ends = await self._ledger.look(lambda found: _ended(found, stream, END, delivery))
        owed = await self._failed(ends[0][0]) if ends and not ends[0][1] else None
        if owed is None:
            raise Unknown("That is owed no longer: it was sent again, or it has arrived.")
        if not owed.again:
            raise InputError("That place is no part of the room any more; nothing can be sent.")
        event = await self._ledger.event(delivery)
        assert isinstance(event.body, Queued)
        await self._deliveries.again(event, event.body)

    async def _failed(self, id: str) -> FailedDelivery | None:
        end = await self._ledger.event(id)
        assert isinstance(end.body, Failed | Uncertain)
        queued = await self._ledger.event(end.body.delivery)
        state: Owing = "uncertain" if isinstance(end.body, Uncertain) else "failed"
        return await self._owed(queued, end.at, str(end.body.why), state)

    async def _waiting(self, pending: PendingDelivery) -> FailedDelivery | None:
        queued = await self._ledger.event(pending.delivery)
        last = await self._ledger.read(
            pending.stream, after=queued.seq, kinds=["delivery.put_off"], limit=50, newest=True
        )
        whys = [
            str(each.body.why)
            for each in last
            if isinstance(each.body, PutOff) and each.body.delivery == pending.delivery
        ]
        why = whys[-1] if whys else ""
        return await self._owed(queued, queued.at, why, "waits", pending.attempts)

    async def _owed(
        self, queued: Event, at: datetime, why: str, state: Owing, attempts: int = 0
    ) -> FailedDelivery | None:
        """The delivery as it is owed; None for a word of the room, of what was late or lost say."""
        assert isinstance(queued.body, Queued)
        key = queued.body.surface
        of = (await self._ledger.event(queued.body.of)).body
        if isinstance(of, Told) and queued.body.what == "line":
            return None
        known = (await self._house.state(queued.stream)).places.get(key)
        return FailedDelivery(
            delivery=queued.id,
            stream=queued.stream,
            seq=queued.seq,
            at=at,
            place=key,
            name=str(known.name) if known else "",
            what=queued.body.what,
            who=of.mate if isinstance(of, Said) else of.person if isinstance(of, Heard) else "",
            why=why,
            state=state,
            attempts=attempts,
            again=state != "waits" and known is not None,
        )


def _ended(
    connection: Connection, stream: str, before: str, delivery: str = ""
) -> Sequence[tuple[str, bool]]:
    """The ends of deliveries that failed, newest first, each with whether it was sent again.

    Ids before one; of one `delivery` alone, where it is named.
    """
    query = select(events.c.id, events.c.stream, events.c.cause).where(events.c.kind.in_(ENDED))
    if stream:
        query = query.where(events.c.stream == stream)
    if delivery:
        query = query.where(events.c.cause == delivery)
    newest = query.where(events.c.id < before).order_by(events.c.id.desc()).limit(PAGE)
    rows = connection.execute(newest).all()
    again = _again(connection, {row.stream for row in rows}, {row.cause for row in rows})
    return [(row.id, row.cause in again) for row in rows]


def _again(connection: Connection, streams: Iterable[str], sent: Iterable[str]) -> set[str]:
    """Those of these deliveries that were sent again."""
    query = select(events.c.cause).where(
        events.c.stream.in_(streams), events.c.kind == "delivery.queued", events.c.cause.in_(sent)
    )
    return set(connection.execute(query).scalars())
