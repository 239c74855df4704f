"""The list of rooms: which a person is in, and what is new in each.

Reads the view of stays and counts lines in the ledger; a room that a person is not in does not
exist here. Does not know how far they have read: that is told.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import bindparam, false, func, not_, or_, select
from sqlalchemy.engine import Connection

from loopforge.chat.room.member_visibility import MemberSight, sight_in_stream, sights_by_stream
from loopforge.chat.room.room_snapshot import MateCard, RoomSnapshot
from loopforge.chat.room.room_store import PREFIX, stream_of
from loopforge.chat.server import Rooms
from loopforge.core.events import from_epoch_micros
from loopforge.core.limits.bounded_mapping import BoundedMapping
from loopforge.ledger.database.table_schema import events, streams
from loopforge.ledger.table_access import ReadableLedger

LINES = ("room.heard", "room.said")
MOST_UNREAD = 100
"""Counted no further."""
REMEMBERED = 10_000
"""Rooms of which it is remembered how they hang in a list, half a kilobyte each."""


class RoomListEntry(Struct, frozen=True, kw_only=True):
    """A room as it hangs in somebody's list of rooms. `unread` counts lines, at most 100."""

    room: str
    title: str
    people: tuple[str, ...]
    mates: tuple[MateCard, ...]
    last_at: datetime | None
    unread: int
    private: bool


class RoomList:
    """The rooms by person."""

    def __init__(self, tables: ReadableLedger, rooms: Rooms) -> None:
        self._tables, self._rooms = tables, rooms
        self._scenes: BoundedMapping[str, tuple[int, RoomSnapshot]] = BoundedMapping(REMEMBERED)
        tables.subscribe(lambda *_: self._scenes.clear(), kinds=["ledger.erased"])

    async def sight(self, room: str, person: str) -> MemberSight:
        """What a person may see of a room; nothing if it is not there."""
        return await self._tables.look(
            lambda found: sight_in_stream(found, stream_of(room), person)
        )

    async def whole(self, room: str, person: str) -> bool:
        """Whether a person is in a room and may see every line of it: only then may they show it.

        Else whoever came late could bring themselves in once more, to the past as well.
        """
        stream = stream_of(room)
        return await self._tables.look(lambda found: _whole(found, stream, person))

    async def rooms_of(self, person: str, read: Mapping[str, int]) -> list[RoomListEntry]:
        """The rooms somebody is in, the liveliest first; `read` says how far, by stream."""
        seen = await self._tables.look(lambda found: sights_by_stream(found, person))
        here = [stream for stream, each in seen.items() if each.here]
        news = await self._tables.look(lambda found: _news(found, here, seen, read))
        plates = []
        for stream in here:
            last, unread, head = news[stream]
            scene = titled_for(await self._scene(stream, head), seen[stream])
            plates.append(
                RoomListEntry(
                    room=scene.room,
                    title=scene.called,
                    people=tuple(name for id, name in scene.people if id != person),
                    mates=scene.mates,
                    last_at=last,
                    unread=unread,
                    private=scene.private,
                )
            )
        return sorted(plates, key=_when, reverse=True)

    async def _scene(self, stream: str, head: int) -> RoomSnapshot:
        """What a list says of a room; one in which nothing happened since is not read for it."""
        seq, scene = self._scenes.get(stream, (0, None))
        if scene is None or seq != head:
            scene = await self._rooms.scene(stream.removeprefix(PREFIX))
            scene = replace(scene, former=(), reserved=(), waiting=())
            if (state := self._rooms.house.known(stream)) is not None:
                self._scenes[stream] = state.seq, scene
        return replace(scene, mates=tuple(self._rooms.card(mate.handle) for mate in scene.mates))


def titled_for(scene: RoomSnapshot, sight: MemberSight) -> RoomSnapshot:
    """The scene, without a title that the room made of what this reader could not hear."""
    hidden = scene.titled_at and not sight.sees(scene.titled_at)
    return replace(scene, title="", titled_at=0) if hidden else scene


def _when(plate: RoomListEntry) -> tuple[float, str]:
    return (plate.last_at.timestamp() if plate.last_at else 0.0, plate.room)


def _whole(connection: Connection, stream: str, person: str) -> bool:
    seen = sight_in_stream(connection, stream, person)
    stays = [events.c.seq.between(stay.since, stay.until) for stay in seen.stays]
    hidden = select(events.c.seq).where(
        events.c.stream == stream, events.c.kind.in_(LINES), not_(or_(false(), *stays))
    )
    return seen.here and connection.execute(hidden.limit(1)).first() is None


def _news(
    connection: Connection,
    here: Sequence[str],
    seen: Mapping[str, MemberSight],
    read: Mapping[str, int],
) -> dict[str, tuple[datetime | None, int, int]]:
    """When the last line was said in each stream, how many are new, and its last event."""
    found: dict[str, tuple[datetime | None, int, int]] = {}
    lines = (events.c.stream == bindparam("stream")) & events.c.kind.in_(LINES)
    last = select(events.c.at).where(lines).order_by(events.c.seq.desc()).limit(1)
    new = select(events.c.seq).where(lines, events.c.seq > bindparam("after")).limit(MOST_UNREAD)
    count = select(func.count()).select_from(new.subquery())
    head = select(streams.c.seq).where(streams.c.stream == bindparam("stream"))
    each = select(last.scalar_subquery(), count.scalar_subquery(), head.scalar_subquery())
    for stream in here:
        after = max(read.get(stream, 0), seen[stream].stays[-1].since)
        at, unread, seq = connection.execute(each, {"stream": stream, "after": after}).one()
        found[stream] = (from_epoch_micros(at) if at is not None else None, unread, seq or 0)
    return found
