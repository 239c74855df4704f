"""Members: who may see what of a room, from when on.

    PersonJoined (past)   sees everything of the room so far, and what follows
    PersonJoined          sees what follows
    PersonLeft            sees no more of it

A view keeps each stay as a pair of sequence numbers. What was said between two stays is hidden for
ever. When mates were in a room, which rooms are private, and since when a group of a platform has
been part of one, stands beside it. Knows nothing of accounts.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec.structs import replace
from sqlalchemy import (
    Boolean,
    Column,
    Index,
    PrimaryKeyConstraint,
    Table,
    bindparam,
    select,
)
from sqlalchemy.engine import Connection

from loopforge.core.edited_lines import Revised
from loopforge.core.events import Event
from loopforge.core.memory.memory_vocabulary import EvidenceLine
from loopforge.core.room_vocabulary import (
    Heard,
    MateJoined,
    MateLeft,
    PersonJoined,
    PersonLeft,
    PlaceJoined,
    PlaceLeft,
    RoomClosed,
    RoomOpened,
    Said,
)
from loopforge.core.text.erasable_text import public_words
from loopforge.ledger.database.table_schema import Name, metadata, name_columns, number_columns

FOREVER = 2**62
AWAY = "[changed while you were away]"
"""The end of a stay that has none yet."""

stays = Table(
    "stays",
    metadata,
    *name_columns("stream", "person"),
    *number_columns("since", "until"),
    Column("past", Boolean, nullable=False),
    PrimaryKeyConstraint("stream", "person", "since", name="stays_stay"),
    Index("stays_person", "person"),
)
mate_stays = Table(
    "mate_stays",
    metadata,
    *name_columns("stream", "mate"),
    *number_columns("since", "until"),
    PrimaryKeyConstraint("stream", "mate", "since", name="mate_stays_stay"),
    Index("mate_stays_mate", "mate"),
)
private = Table(
    "private_rooms",
    metadata,
    Column("stream", Name, nullable=False),
    PrimaryKeyConstraint("stream", name="private_rooms_room"),
)
groups = Table(
    "room_groups",
    metadata,
    *name_columns("stream", "place"),
    *number_columns("since"),
    PrimaryKeyConstraint("stream", "place", name="room_groups_group"),
)
"""Groups, channels and threads that are part of a room, or were until nothing could be sent there;
`since` when they came."""

_OF_PEOPLE = (
    select(stays)
    .where(stays.c.person.in_(bindparam("people", expanding=True)))
    .order_by(stays.c.stream, stays.c.since)
)
_OF_PEOPLE_HERE = _OF_PEOPLE.where(stays.c.stream == bindparam("stream"))
_OF_MATE = (
    select(mate_stays)
    .where(mate_stays.c.mate == bindparam("mate"))
    .where(mate_stays.c.stream.in_(bindparam("streams", expanding=True)))
    .order_by(mate_stays.c.stream, mate_stays.c.since)
)
_MATES_IN = (
    select(mate_stays.c.mate)
    .where(mate_stays.c.stream == bindparam("stream"), mate_stays.c.until == FOREVER)
    .order_by(mate_stays.c.since)
)
_PRESENT_WITH = (
    select(stays.c.stream, stays.c.person)
    .join(mate_stays, mate_stays.c.stream == stays.c.stream)
    .where(mate_stays.c.mate == bindparam("mate"))
    .where(mate_stays.c.until == FOREVER, stays.c.until == FOREVER)
)
_GROUPS = select(groups.c.place, groups.c.since).where(groups.c.stream == bindparam("stream"))
_PRIVATE = select(private)
_PRIVATE_OF = _PRIVATE.where(private.c.stream.in_(bindparam("streams", expanding=True)))
"""What is asked at every turn; built once."""


class MembershipSpan(NamedTuple):
    """From `since` to `until`, both seen; sequence numbers."""

    since: int
    until: int


class MemberSight(NamedTuple):
    """What one person may see of one room. `here`: they are in it now."""

    stays: tuple[MembershipSpan, ...]

    @property
    def here(self) -> bool:
        """Whether the last stay still lasts."""
        return bool(self.stays) and self.stays[-1].until == FOREVER

    def sees(self, seq: int) -> bool:
        """Whether an event of this sequence number may be seen."""
        return any(stay.since <= seq <= stay.until for stay in self.stays)

    def follows(self, event: Event) -> bool:
        """Whether the change may be seen that made a line what it is, if there was one."""
        return not isinstance(event, Revised) or self.sees(event.revision.seq)

    def only(self, events: Iterable[Event]) -> list[Event]:
        """Those that may be seen."""
        return [event for event in events if self.sees(event.seq)]


EVERYTHING = MemberSight((MembershipSpan(0, FOREVER),))
"""What somebody at the machine itself sees."""


def audience_of_lines(connection: Connection, lines: Iterable[EvidenceLine]) -> frozenset[str]:
    """The persons who saw all of these lines; of no lines, nobody."""
    wanted = {(line.stream, line.seq) for line in lines}
    query = select(stays).where(stays.c.stream.in_({stream for stream, _ in wanted}))
    there = connection.execute(query).all() if wanted else ()
    saw = (
        {row.person for row in there if row.stream == stream and row.since <= seq <= row.until}
        for stream, seq in wanted
    )
    return frozenset(next(saw, ())).intersection(*saw)


class Members:
    """Folds who came and went into one row for each stay."""

    name = "members"
    version = 4
    kinds = frozenset(
        {
            "room.opened",
            "room.place_joined",
            "room.place_left",
            "room.person_joined",
            "room.person_left",
            "room.mate_joined",
            "room.mate_left",
            "room.closed",
        }
    )
    tables = (stays, mate_stays, private, groups)
    holds_texts = False

    def apply(self, connection: Connection, events: Sequence[Event]) -> None:
        """Take in events; coming twice is coming once."""
        for event in events:
            match event.body:
                case RoomOpened(private=True):
                    if not private_rooms(connection, [event.stream]):
                        connection.execute(private.insert().values(stream=event.stream))
                case PlaceJoined(place=place, kind=kind) if kind != "private":
                    if place not in groups_of(connection, event.stream):
                        row = {"stream": event.stream, "place": place, "since": event.seq}
                        connection.execute(groups.insert().values(row))
                case PlaceLeft(place=place) if event.actor != "runtime":  # else it was lost
                    here = (groups.c.stream == event.stream) & (groups.c.place == place)
                    connection.execute(groups.delete().where(here))
                case PersonJoined(person=person, past=past):
                    self._come(connection, event, person, past=past)
                case PersonLeft(person=person):
                    self._go(connection, event, person)
                case MateJoined(mate=mate):
                    self._mate_comes(connection, event, mate)
                case MateLeft(mate=mate):
                    here = (mate_stays.c.mate == mate) & (mate_stays.c.stream == event.stream)
                    ends = mate_stays.update().where(here, mate_stays.c.until == FOREVER)
                    connection.execute(ends.values(until=event.seq))
                case RoomClosed():
                    self._go(connection, event)

    def _come(self, connection: Connection, event: Event, person: str, *, past: bool) -> None:
        query = select(stays).where(
            stays.c.stream == event.stream, stays.c.person == person, stays.c.until == FOREVER
        )
        if connection.execute(query).first() is not None:
            return
        row = {"stream": event.stream, "person": person, "since": event.seq, "until": FOREVER}
        connection.execute(stays.insert().values(**row, past=past))

    def _mate_comes(self, connection: Connection, event: Event, mate: str) -> None:
        if mate in mates_in(connection, event.stream):
            return
        row = {"stream": event.stream, "mate": mate, "since": event.seq, "until": FOREVER}
        connection.execute(mate_stays.insert().values(**row))

    def _go(self, connection: Connection, event: Event, person: str = "") -> None:
        gone = stays.c.person == person if person else stays.c.person != ""
        connection.execute(
            stays.update()
            .where(stays.c.stream == event.stream, gone, stays.c.until == FOREVER)
            .values(until=event.seq)
        )


def groups_of(connection: Connection, stream: str) -> dict[str, int]:
    """When groups of platforms became part of a room, those that were lost among them, by place."""
    return {row.place: row.since for row in connection.execute(_GROUPS, {"stream": stream})}


def mates_in(connection: Connection, stream: str) -> list[str]:
    """The mates that are in a room now, as they came."""
    return list(connection.execute(_MATES_IN, {"stream": stream}).scalars())


def present_with(connection: Connection, mate: str) -> dict[str, set[str]]:
    """Who is in the rooms where a mate is now, by stream; of those where somebody is."""
    found: dict[str, set[str]] = {}
    for stream, person in connection.execute(_PRESENT_WITH, {"mate": mate}):
        found.setdefault(stream, set()).add(person)
    return found


def stays_of_mate(
    connection: Connection, mate: str, streams: Sequence[str]
) -> dict[str, list[MembershipSpan]]:
    """When a mate was in these rooms, by stream."""
    found: dict[str, list[MembershipSpan]] = {}
    for row in connection.execute(_OF_MATE, {"mate": mate, "streams": list(streams)}):
        found.setdefault(row.stream, []).append(MembershipSpan(row.since, row.until))
    return found


def private_rooms(connection: Connection, streams: Sequence[str] | None = None) -> frozenset[str]:
    """The streams of private rooms; of these alone, if any are named."""
    if streams is None:
        return frozenset(connection.execute(_PRIVATE).scalars())
    return frozenset(connection.execute(_PRIVATE_OF, {"streams": list(streams)}).scalars())


def sights_by_stream(connection: Connection, person: str) -> dict[str, MemberSight]:
    """What a person may see, by stream."""
    return sights_of(connection, [person])[person]


def sight_in_stream(connection: Connection, stream: str, person: str) -> MemberSight:
    """What a person may see of one stream; nothing, if they were never there."""
    return sights_of(connection, [person], stream)[person].get(stream, MemberSight(()))


def sights_of(
    connection: Connection, people: Sequence[str], stream: str = ""
) -> dict[str, dict[str, MemberSight]]:
    """What each of these people may see, by person and by stream; of one stream alone, if named."""
    query, given = (_OF_PEOPLE_HERE, {"stream": stream}) if stream else (_OF_PEOPLE, {})
    found: dict[str, dict[str, list[MembershipSpan]]] = {person: {} for person in people}
    for row in connection.execute(query, {"people": list(people), **given}):
        stay = MembershipSpan(0 if row.past else row.since, row.until)
        found[row.person].setdefault(row.stream, []).append(stay)
    return {
        person: {stream: MemberSight(tuple(each)) for stream, each in rooms.items()}
        for person, rooms in found.items()
    }


def withhold_change(event: Event) -> Event:
    """A line that says something else by now, to somebody who was not there for that."""
    body = event.body
    of_a_turn = isinstance(body, Said) and bool(body.mode or body.cut)
    if not isinstance(body, Heard | Said) or body.text.text is None:
        return event
    if isinstance(body, Said) and not of_a_turn:  # a mate's post on its work, which goes on
        return event
    return replace(event, body=replace(body, text=public_words(AWAY)))
