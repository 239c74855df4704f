"""Presence: the rooms whose lines may be used in a room, decided in the query and nowhere else.

    the room itself    what all may see who are there and whom the turn answers
    a private room     takes in, besides, what all saw of other rooms while the mate was there
    an open room       takes in what all of them saw of other open rooms, likewise
    a group or thread  of a platform takes in nothing: who reads along there is not known

So what was said in private comes up again in private alone, among people who were there. Who comes
later changes what may be used from that moment on; who left still knows what they saw. A person who
was met under another account is somebody else here until the room knows them as one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy.engine import Connection

from loopforge.chat.remembering.room_keeping import is_crowd
from loopforge.chat.room.member_visibility import FOREVER, MemberSight, Stay, sights_of
from loopforge.chat.room.room_store import PREFIX
from loopforge.core.events import decode
from loopforge.core.room_vocabulary import MateJoined, MateLeft, RoomOpened
from loopforge.ledger.storage.row_codec import listed, within
from loopforge.runtime.looking_back import RecallQuery

Rooms = dict[str, tuple[Stay, ...]]


def usable_rooms(connection: Connection, query: RecallQuery) -> Rooms:
    """The streams of rooms, each with the spans whose lines may be used. Nobody present: none."""
    if not query.stream.startswith(PREFIX) or not query.present:
        return {}
    apart = not query.everywhere or is_crowd(connection, query.stream)
    seen = sights_of(connection, query.present, query.stream if apart else "").values()
    own = [each[query.stream].stays if query.stream in each else () for each in seen]
    here = {query.stream: shared(own)}
    return here if apart else _elsewhere(connection, query, list(seen)) | here


def is_private(connection: Connection, stream: str) -> bool:
    """Whether nobody comes into a room unless a person in it brings them."""
    return stream in _rooms(connection, [stream], "")[0]


def shared(each: Iterable[Sequence[Stay]]) -> tuple[Stay, ...]:
    """What all saw: the spans that lie in one stay of each."""
    common: tuple[Stay, ...] = (Stay(0, FOREVER),)
    for stays in each:
        common = tuple(
            Stay(max(one.since, other.since), min(one.until, other.until))
            for one in common
            for other in stays
            if max(one.since, other.since) <= min(one.until, other.until)
        )
    return common


def _elsewhere(
    connection: Connection, query: RecallQuery, seen: Sequence[Mapping[str, MemberSight]]
) -> Rooms:
    """What all who are present saw of other rooms, while the mate was in them."""
    streams = set.intersection(*map(set, seen))
    private, mates = _rooms(connection, sorted({*streams, query.stream}), query.mate)
    found: Rooms = {}
    for stream in streams - {query.stream}:
        if stream in private and query.stream not in private:
            continue
        stays = shared([*(each[stream].stays for each in seen), mates.get(stream, ())])
        if stays:
            found[stream] = stays
    return found


def _rooms(
    connection: Connection, streams: Sequence[str], mate: str
) -> tuple[set[str], dict[str, list[Stay]]]:
    """Which of these rooms are private, and when a mate was in each."""
    rows = connection.exec_driver_sql(
        f"SELECT stream, seq, body FROM events WHERE stream {within(connection)} "  # noqa: S608
        "AND kind IN ('room.opened', 'room.mate_joined', 'room.mate_left') ORDER BY stream, seq",
        (listed(connection, streams),),
    )
    private: set[str] = set()
    stays: dict[str, list[Stay]] = {}
    for stream, seq, body in rows:
        there = stays.setdefault(stream, [])
        lasts = bool(there) and there[-1].until == FOREVER
        match decode(body):
            case RoomOpened(private=True):
                private.add(stream)
            case MateJoined(mate=who) if who == mate and not lasts:
                there.append(Stay(seq, FOREVER))
            case MateLeft(mate=who) if who == mate and lasts:
                there[-1] = Stay(there[-1].since, seq)
            case _:
                pass
    return private, stays
