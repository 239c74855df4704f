"""Closing a room: it is no more, and everything that was said in it is forgotten.

    RoomClosed  ->  what runs in it is stopped, and its lane runs dry  ->  its texts are erased

Whatever the end needs stands in the RoomClosed event: a process that dies in between, or that only
wrote the event, leaves the rest to the host's next start, or to the host that follows the ledger.
A closed room refuses everything, and its name is not given again: its events stay.

What rests on a room elsewhere are texts that quote it, and what mates keep of it; the person says
whether they go along: all memories that rest on it, or those that rest on nothing else. What was
begun from a room and stands in streams of its own (`beside`) is stopped and forgotten with it.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from msgspec.structs import replace
from sqlalchemy import select
from sqlalchemy.engine import Connection

from loopforge.chat.commands.deletion_commands import RoomDependents
from loopforge.chat.room.room_store import PREFIX, RoomStore, stream_of
from loopforge.chat.server import Rooms
from loopforge.core.events import Event
from loopforge.core.memory.memory_vocabulary import MACHINE, MemoryRestored
from loopforge.core.room_vocabulary import RoomClosed
from loopforge.ledger.database.table_schema import events, streams, texts
from loopforge.ledger.erasure.derived_texts import Reach
from loopforge.ledger.erasure.text_erasure import Erasure, ErasureRequest
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.memory.beliefs.memory_erasure import items_resting_on_room
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.effects.effect_worker import Effects
from loopforge.runtime.ports import Lanes, Signals

log = logging.getLogger(__name__)
WHY = "the room was deleted"


class RoomClosing:
    """Closes rooms, and finishes what was begun of it."""

    def __init__(
        self,
        ledger: SqlLedger,
        rooms: Rooms,
        house: RoomStore,
        signals: Signals,
        lanes: Lanes,
        effects: Effects,
        tasks: BackgroundTasks,
    ) -> None:
        self._ledger, self._rooms, self._house = ledger, rooms, house
        self._signals, self._lanes, self._effects = signals, lanes, effects
        self._tasks, self._stamp = tasks, ledger.stamp
        self._finishing: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self.beside: Callable[[str, str], Awaitable[Sequence[str]]] = _nothing

    # ------------------------------------------------------------ what it would mean

    async def weigh(
        self, room: str, *, keep_quotes: bool = False, keep_memories: bool = False
    ) -> Erasure:
        """What closing the room would forget; nothing is forgotten. Raises Unknown."""
        await self._rooms.state(room)
        reach: Reach = "sole" if keep_memories else "all"
        wish = ErasureRequest(stream=stream_of(room), exactly=keep_quotes, derived=reach)
        return await self._ledger.erase(wish, pretend=True)

    async def resting(self, room: str) -> RoomDependents:
        """What elsewhere rests on this room. Raises Unknown."""
        every, stream = await self.weigh(room), stream_of(room)
        items = await self._ledger.look(lambda found: items_resting_on_room(found, stream))
        both = sum(one.elsewhere for one in items)
        return RoomDependents(quotes=every.quoting, memories=len(items), also=both)

    # ------------------------------------------------------------ closing

    async def close_room(
        self, room: str, person: str, *, keep_quotes: bool = False, keep_memories: bool = False
    ) -> None:
        """Close the room, stop what runs in it, and forget its texts.

        `person` is "" for somebody at the machine itself. With `keep_quotes`, what quotes it in
        other rooms stays; with `keep_memories`, what mates keep that rests on others, too.
        Raises Unknown where there is no such room (any more).
        """
        await self.announce(room, person, keep_quotes=keep_quotes, keep_memories=keep_memories)
        await self.finish(stream_of(room))

    async def announce(
        self, room: str, person: str, *, keep_quotes: bool = False, keep_memories: bool = False
    ) -> None:
        """Say that the room is closed; a host does the rest. Raises Unknown."""
        body = RoomClosed(person=person, exactly=keep_quotes, spares=keep_memories)
        await self._rooms.add(room, person, body)

    async def finish(self, stream: str) -> Erasure | None:
        """Stop what runs in a closed room, and forget its texts; None if that is done already."""
        async with self._finishing[stream]:
            if not await self.unfinished(stream):
                return None
            await self._house.state(stream)
            self._signals.halt(stream, WHY)
            await self._lanes.settled(stream)
            await self._effects.settled(stream)
            (closed,) = await self._ledger.read(stream, kinds=["room.closed"], limit=1)
            assert isinstance(closed.body, RoomClosed)
            await self._spare(stream, closed)
            wish = ErasureRequest(
                stream=stream,
                exactly=closed.body.exactly,
                derived="sole" if closed.body.spares else "all",
                by=closed.body.person or MACHINE,
                why=WHY,
            )
            # Before its own texts: while the room has those, it is not finished.
            for other in await self.beside(stream, closed.body.person):
                await self._lanes.settled(other)
                await self._effects.settled(other)
                await self._ledger.erase(replace(wish, stream=other))
            erasure = await self._ledger.erase(wish)
            await self._house.save(stream, least=1)
            log.info("%s is closed; %d texts are forgotten", stream, len(erasure.refs))
            return erasure

    async def _spare(self, stream: str, closed: Event) -> None:
        """Have what rests on other rooms, too, stand by the word of whoever closed this one."""
        body = closed.body
        if not isinstance(body, RoomClosed) or not body.spares:
            return
        by = body.person or MACHINE
        for one in await self._ledger.look(lambda found: items_resting_on_room(found, stream)):
            if one.elsewhere and one.state == "held":
                back = MemoryRestored(item=one.item, by=by, because=closed.id)
                fact = self._stamp.fact(back, actor=f"person:{by}", cause=closed.id)
                await self._ledger.append(one.stream, [fact])

    # ------------------------------------------------------------ what was begun

    async def unfinished(self, stream: str = "") -> list[str]:
        """Rooms (or this one) that are closed and still have texts. Cheap where there are none."""
        return await self._ledger.look(lambda connection: _unfinished(connection, stream))

    async def resume(self) -> None:
        """Finish what was begun, and from now on what any process begins. For the host alone."""
        self._ledger.subscribe(
            lambda stream, _: self._soon(stream), streams=PREFIX, kinds=["room.closed"]
        )
        for stream in await self.unfinished():
            self._soon(stream)

    def _soon(self, stream: str) -> None:
        finish = partial(self.finish, stream)
        self._tasks.insist(finish, f"closing of {stream}", self._stamp.clock)


async def _nothing(_stream: str, _person: str) -> Sequence[str]:
    """Nothing was begun from rooms."""
    return ()


def _unfinished(connection: Connection, stream: str) -> list[str]:
    """By the index of kinds and the index of texts: two seeks for each room."""
    closed = select(events.c.seq).where(
        events.c.stream == streams.c.stream, events.c.kind == "room.closed"
    )
    query = (
        select(streams.c.stream)
        .where(closed.exists())
        .where(select(texts.c.ref).where(texts.c.stream == streams.c.stream).exists())
        .order_by(streams.c.stream)
    )
    if stream:
        query = query.where(streams.c.stream == stream)
    return list(connection.execute(query).scalars())
