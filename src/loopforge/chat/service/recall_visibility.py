"""Presence: the rooms whose lines may be used in a room, decided in the query and nowhere else.

    the room itself    what all may see who are there and whom the turn answers
    a private room     takes in, besides, what all saw of other rooms while the mate was there
    an open room       takes in what all of them saw of other open rooms, likewise
    a group or thread  of a platform takes in nothing: who reads along there is not known

So what was said in private comes up again in private alone, among people who were there. Who comes
later changes what may be used from that moment on; who left still knows what they saw. A person who
was met under another account is somebody else here until the room knows them as one.
"""

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy.engine import Connection

from loopforge.chat.remembering.remembered_rooms import is_crowd
from loopforge.chat.room.member_visibility import (
    FOREVER,
    Members,
    MembershipSpan,
    MemberSight,
    audience_of_lines,
    private_rooms,
    sights_of,
    stays_of_mate,
)
from loopforge.chat.room.room_store import PREFIX
from loopforge.core.memory.memory_vocabulary import EvidenceLine
from loopforge.runtime.memory_values import RecallQuery

MOVES = Members.kinds | {"room.place_joined", "room.place_left"}
"""Kinds of events after which other rooms, or other lines of them, may be usable."""
Rooms = dict[str, tuple[MembershipSpan, ...]]


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
    return bool(private_rooms(connection, [stream]))


def is_more_visible(
    connection: Connection, new: Sequence[EvidenceLine], old: Sequence[EvidenceLine]
) -> bool:
    """Whether what rests on some lines may be used where what rests on others may not.

    They lie in another room, or somebody saw them who did not see all of the others.
    """
    rooms = {one.stream for one in new if one.stream.startswith(PREFIX)}
    if not rooms <= {one.stream for one in old}:
        return True
    return bool(new) and not audience_of_lines(connection, new) <= audience_of_lines(
        connection, old
    )


def shared(each: Iterable[Sequence[MembershipSpan]]) -> tuple[MembershipSpan, ...]:
    """What all saw: the spans that lie in one stay of each."""
    common: tuple[MembershipSpan, ...] = (MembershipSpan(0, FOREVER),)
    for stays in each:
        common = tuple(
            MembershipSpan(max(one.since, other.since), min(one.until, other.until))
            for one in common
            for other in stays
            if max(one.since, other.since) <= min(one.until, other.until)
        )
    return common


def _elsewhere(
    connection: Connection, query: RecallQuery, seen: Sequence[Mapping[str, MemberSight]]
) -> Rooms:
    """What all who are present saw of other rooms, while the mate was in them."""
    streams = set.intersection(*map(set, seen)) - {query.stream}
    if not streams:
        return {}
    here = sorted({*streams, query.stream})
    private, mates = private_rooms(connection, here), stays_of_mate(connection, query.mate)
    found: Rooms = {}
    for stream in streams:
        if stream in private and query.stream not in private:
            continue
        stays = shared([*(each[stream].stays for each in seen), mates.get(stream, ())])
        if stays:
            found[stream] = stays
    return found
