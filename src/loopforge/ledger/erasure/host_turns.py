"""Turns of a host beside this process: what they write down of something forgotten goes, too.

    erased -> the host hears of it -> turns and tools end that were under way then -> looked again

The host's minds may have been shown it a moment ago, and know nothing of an erasure by another
process until it follows the ledger. So whoever erases stays until what was under way is over, as
far as the ledger tells, and looks again. Who does not stay leaves what is written down after it.
"""

import logging
from collections.abc import Awaitable, Callable, Collection
from functools import partial

from sqlalchemy.engine import Connection

from loopforge.ledger.storage.host_claim import is_host_claimed
from loopforge.ledger.storage.pending_work import OpenEffects
from loopforge.ledger.storage.process_follow import FOLLOW
from loopforge.ledger.storage.row_codec import in_list_sql, list_parameter
from loopforge.ledger.table_access import Tables
from loopforge.runtime.ports import Clock

log = logging.getLogger(__name__)
HEARD = 3 * FOLLOW
"""Seconds after which a host has heard of it."""
PAUSE, PATIENCE = 0.5, 600
"""Seconds between two looks, and in all."""


class HostTurns:
    """Waits for them. `hosted` says whether a host runs the home on this machine now.

    One elsewhere is known by its claim on PostgreSQL.
    """

    def __init__(self, ledger: Tables, clock: Clock, hosted: Callable[[], bool]) -> None:
        self._ledger, self._clock, self._hosted = ledger, clock, hosted

    async def look_again(
        self,
        concerned: Callable[[], Awaitable[Collection[str]]],
        again: Callable[[], Awaitable[object]],
    ) -> None:
        """Have it done `again` when the host has ended what it is at in streams concerned."""
        if not await self._runs():
            return
        await self._clock.sleep(HEARD)
        streams, until = await concerned(), self._clock.ticks() + PATIENCE
        waited = await self._ledger.look(lambda found: under_way(found, streams))
        while waited and await self._runs():
            if self._clock.ticks() > until:
                log.warning("what is under way in the host is not waited for any longer")
                break
            await self._clock.sleep(PAUSE)
            waited &= await self._ledger.look(lambda found: under_way(found, streams))
        await again()

    async def _runs(self) -> bool:
        return self._hosted() or await self._ledger.look(partial(is_host_claimed, name="host"))


def under_way(connection: Connection, streams: Collection[str]) -> set[str]:
    """The turns of these streams that have not ended, and the tools at work for them."""
    query = (
        "SELECT events.id FROM events JOIN (SELECT stream AS place, max(seq) AS last FROM events "  # noqa: S608
        f"WHERE kind = 'turn.perceived' AND stream {in_list_sql(connection)} GROUP BY stream) "
        "AS newest "
        "ON stream = place AND seq = last "
        "WHERE NOT EXISTS (SELECT 1 FROM events AS ended WHERE ended.stream = place "
        "AND ended.kind = 'turn.ended' AND ended.seq > last)"
    )
    turns = connection.exec_driver_sql(query, (list_parameter(connection, streams),)).scalars()
    effects = OpenEffects().rows(connection)
    at_work = ("approved", "running")
    return {*turns, *(e.effect for e in effects if e.stream in streams and e.state in at_work)}
