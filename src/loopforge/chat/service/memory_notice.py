"""People are told that a room is remembered: once, in a quiet line, when something is first kept.

Whoever comes in after that line is told with the next thing that is kept: it is said again where
somebody came since. What a person asked to be kept is said back anyway, and needs no notice.
"""

import logging
from collections.abc import Sequence
from functools import partial

from loopforge.chat.room.room_store import PREFIX as ROOMS
from loopforge.chat.room.room_store import RoomStore
from loopforge.chat.turns.apply_acts import delivery_facts
from loopforge.core.events import Event
from loopforge.core.memory.memory_vocabulary import PREFIX, MemoryKept
from loopforge.core.room_vocabulary import Told
from loopforge.core.text.erasable_text import public_words
from loopforge.errors import LedgerError, LoopforgeError
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Ledger
from loopforge.runtime.system_clock import Stamp

log = logging.getLogger(__name__)
NOTICE = (
    "Mates keep what matters of what is said here, and use it only among people who were there. "
    "Say “forget that …” to have something forgotten; docs/memory.md tells how to turn it off."
)


class MemoryNotice:
    """Tells them."""

    def __init__(
        self, ledger: Ledger, house: RoomStore, stamp: Stamp, tasks: BackgroundTasks
    ) -> None:
        self._ledger, self._house, self._stamp, self._tasks = ledger, house, stamp, tasks

    def start(self) -> None:
        """Follow what is kept from now on."""
        self._ledger.subscribe(self._follow, streams=PREFIX, kinds=["memory.kept"])

    def _follow(self, _stream: str, events: Sequence[Event]) -> None:
        kept = [e.body for e in events if isinstance(e.body, MemoryKept)]
        for room in {one.room for one in kept if one.made_by == "idle"}:
            if room.startswith(ROOMS):
                tell = partial(self._tell, room)
                self._tasks.insist(tell, "that a room is remembered", self._stamp.clock)

    async def _tell(self, room: str) -> None:
        """Say it, unless all who came in were told."""

        async def attempt(seq: int) -> None:
            events = await self._ledger.read(room, kinds=["room.told", "room.person_joined"])
            said = [e.seq for e in events if isinstance(e.body, Told) and e.body.text == NOTE]
            came = [e.seq for e in events if e.kind == "room.person_joined"]
            state = await self._house.state(room)
            if state.closed or max(came, default=0) <= max(said, default=0):
                return
            told = self._stamp.fact(Told(text=NOTE), actor="room")
            facts = [told, *delivery_facts(told, state.places, self._stamp)]
            await self._ledger.append(room, facts, expect=seq)

        async def head(past: int) -> int:
            return await self._house.head(room, past)

        try:
            await self._ledger.decide(room, head, attempt)
        except LedgerError:
            raise
        except LoopforgeError as error:
            log.warning("Nobody in %s was told that it is remembered. %s", room, error)


NOTE = public_words(NOTICE)
