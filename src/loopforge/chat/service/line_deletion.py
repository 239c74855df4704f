"""Deletion: a line that was deleted is gone for good, with what quotes it.

    LineDeleted  ->  turns that may have seen the line come to their end  ->  its texts are erased

Whoever deletes a line on its platform wishes it gone. What it said, also before it was edited, is
erased as `loopforge ledger erase` does it, once the turns of now are over, of whatever room: they
may still write down some of it. A process that dies in between leaves the rest to the host's next
start. Readers and mates see nothing of the line from the first moment on.

Does not know who may delete what (server.py).
"""

import asyncio
import logging
from collections import defaultdict
from functools import partial

from loopforge.chat.room.room_store import PREFIX, RoomStore
from loopforge.core.memory.memory_vocabulary import MACHINE
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.ledger.storage.revised_lines import latest_revisions, pending_erasures
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Clock

log = logging.getLogger(__name__)
WHY = "the line was deleted where it was said"


class LineDeletion:
    """Erases the texts of deleted lines, and finishes what was begun of it."""

    def __init__(
        self, ledger: SqlLedger, house: RoomStore, tasks: BackgroundTasks, clock: Clock
    ) -> None:
        self._ledger, self._house = ledger, house
        self._tasks, self._clock = tasks, clock
        self._finishing: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        kinds = ["room.line_deleted", "room.line_edited"]
        ledger.subscribe(lambda stream, _: self._soon(stream), streams=PREFIX, kinds=kinds)

    async def resume(self) -> None:
        """Finish what an earlier process began. To be called at the start, by the host."""
        for stream in await self._ledger.look(pending_erasures):
            self._soon(stream)

    def _soon(self, stream: str) -> None:
        self._tasks.insist(partial(self.finish, stream), f"forgetting in {stream}", self._clock)

    async def finish(self, stream: str) -> None:
        """Erase what deleted lines of this stream still say."""
        async with self._finishing[stream]:
            lines = (await self._ledger.look(lambda found: pending_erasures(found, stream))).get(
                stream
            )
            if not lines:
                return
            changes = await self._ledger.look(lambda found: latest_revisions(found, lines))
            by = next((one.by for one in changes.values() if one.deleted), "")
            wish = ErasureRequest(
                events=tuple(lines),
                by=by.removeprefix("person:") if by.startswith("person:") else MACHINE,
                why=WHY,
            )
            erasure = await self._ledger.erase(wish)
            await self._house.save(stream, least=1)
            log.info("%d texts of deleted lines in %s are forgotten", len(erasure.refs), stream)
