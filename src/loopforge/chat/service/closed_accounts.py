"""Closed accounts: whose account was closed belongs to no room any more that they came to by it.

Somebody who can never come again would count for good as somebody who is present: mates would take
those who are left for people among themselves, and hold back what only these may know. Who was met
in a room elsewhere, on a platform or in a terminal, stays there. A process that dies in between
leaves the rest to the host's next start.

Does not know who may close an account (people/accounts/sign_in.py).
"""

from functools import partial

from loopforge.chat.room.member_visibility import sights_of
from loopforge.chat.room.room_store import PREFIX
from loopforge.chat.server import Rooms
from loopforge.core.people_events import AccountClosed
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.people.identity.person_registry import STREAM
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Clock

KINDS = ("people.account_closed",)


class ClosedAccounts:
    """Has those leave their rooms whose accounts are closed."""

    def __init__(
        self, ledger: SqlLedger, rooms: Rooms, tasks: BackgroundTasks, clock: Clock
    ) -> None:
        self._ledger, self._rooms, self._tasks, self._clock = ledger, rooms, tasks, clock
        ledger.subscribe(lambda *_: self.soon(), streams=STREAM, kinds=KINDS)

    def soon(self) -> None:
        """Look now. To be called at the start, too, by the host."""
        self._tasks.insist(self.finish, "rooms of closed accounts", self._clock)

    async def finish(self) -> None:
        """Have everybody leave who is still in a room by an account that is closed."""
        events = await self._ledger.read(STREAM, kinds=KINDS)
        closed = [event.body.person for event in events if isinstance(event.body, AccountClosed)]
        seen = await self._ledger.look(partial(sights_of, people=closed))
        for person, rooms in seen.items():
            for stream in (stream for stream, sight in rooms.items() if sight.here):
                await self._leave(stream.removeprefix(PREFIX), person)

    async def _leave(self, room: str, person: str) -> None:
        state = await self._rooms.state(room)
        known = state.people.get(person)
        if known is not None and known.surface == "web" and not state.closed:
            await self._rooms.leave(room, person)
