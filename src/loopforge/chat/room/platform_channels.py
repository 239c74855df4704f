"""Places of platforms: which room each is part of, and which message there is which line here.

    platform:4711       a channel, a thread, a group or a private talk, by what it is called there

Three views over the ledger: the places with their rooms, the messages with their lines (of people's
lines as they were heard, of mates' as a platform accepted them), and drafts that stand on a
platform while their mate still speaks; and Channels, the questions that surfaces ask of them. Does
not know what a platform's own names mean.
"""

import hashlib
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import msgspec
from sqlalchemy import (
    Boolean,
    Column,
    Integer,
    PrimaryKeyConstraint,
    Row,
    Select,
    Table,
    and_,
    bindparam,
    func,
    or_,
    select,
)
from sqlalchemy.engine import Connection
from sqlalchemy.sql import ColumnElement

from loopforge.chat.room.room_store import PREFIX
from loopforge.core.delivery_states import Accepted, Drafted, Failed, Queued, Uncertain
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import Heard, PlaceJoined, PlaceLeft, RoomClosed, Said
from loopforge.core.turn_events import TurnEnded
from loopforge.ledger.database.table_schema import Name, events, metadata, name_columns
from loopforge.ledger.storage.revised_lines import revisions
from loopforge.ledger.table_access import Tables

Kind = Literal["private", "group", "thread"]


class ChannelSpot(NamedTuple):
    """A place of a platform as it is met: its key, what it is called, what kind it is.

    `current`: that is its name now, also where it bore another one; "" where it is not known.
    """

    key: str
    name: str
    kind: Kind
    current: bool = True


class PlatformPost(NamedTuple):
    """A message on a platform: where, by which id, which line it is; `part` counts from 0."""

    place: str
    message: str
    line: str
    part: int


class DraftPost(NamedTuple):
    """A message that shows what a mate is saying in a turn; `line` once it was said, else "".

    `over`: the turn has ended.
    """

    place: str
    turn: str
    message: str
    line: str
    over: bool


places = Table(
    "places",
    metadata,
    *name_columns("place", "stream", "kind"),
    PrimaryKeyConstraint("place", "stream", name="places_place"),
)

partings = Table(
    "partings",
    metadata,
    *name_columns("place", "stream", "event"),
    Column("lost", Boolean, nullable=False),
    PrimaryKeyConstraint("place", "stream", name="partings_parting"),
)
"""What became last of a place in a room; `lost`: it left as nothing could be sent there."""

posts = Table(
    "posts",
    metadata,
    *name_columns("place", "message"),
    Column("line", Name, nullable=False, index=True),
    Column("part", Integer, nullable=False),
    Column("heard", Boolean, nullable=False),
    PrimaryKeyConstraint("place", "message", name="posts_post"),
)

sendings = Table(
    "sendings",
    metadata,
    *name_columns("delivery", "place", "of"),
    PrimaryKeyConstraint("delivery", name="sendings_sending"),
)

drafts = Table(
    "drafts",
    metadata,
    *name_columns("place", "turn", "message", "line"),
    Column("over", Boolean, nullable=False),
    PrimaryKeyConstraint("place", "turn", name="drafts_draft"),
)

spoken = Table(
    "spoken",
    metadata,
    *name_columns("turn", "line"),
    Column("over", Boolean, nullable=False),
    PrimaryKeyConstraint("turn", name="spoken_turn"),
)
"""Turns in rooms that have places: a draft may come to stand when its line is said already."""

_DRAFTED = drafts.c.turn == bindparam("of")
_SAID = drafts.update().where(_DRAFTED & (drafts.c.line == "")).values(line=bindparam("said"))
_ENDED = drafts.update().where(_DRAFTED).values(over=True)
_SHOWN = (
    select(places.c.place)
    .where(places.c.stream == bindparam("room"))
    .union_all(select(drafts.c.place).where(_DRAFTED))
    .limit(1)
)
"""What is asked at each line and at each turn's end; built once."""


def room_of(place: str) -> str:
    """The slug of the room that a place opens of its own: always the same for one place."""
    platform = place.partition(":")[0]
    return f"{platform}-{hashlib.sha256(place.encode()).hexdigest()[:12]}"


class ChannelsView:
    """Folds places, posts and drafts into rows."""

    name = "places"
    version = 4
    kinds = frozenset(
        {
            "room.place_joined",
            "room.place_left",
            "room.closed",
            "room.heard",
            "room.said",
            "turn.ended",
            "delivery.queued",
            "delivery.accepted",
            "delivery.failed",
            "delivery.uncertain",
            "delivery.drafted",
        }
    )
    tables = (places, partings, posts, sendings, drafts, spoken)
    holds_texts = False

    def apply(self, connection: Connection, events: Sequence[Event]) -> None:
        """Take in events."""
        for event in events:
            match event.body:
                case PlaceJoined(place=place, kind=kind):
                    self._leave_place(connection, event, place)
                    row = {"place": place, "stream": event.stream, "kind": kind}
                    connection.execute(places.insert().values(**row))
                case PlaceLeft(place=place):
                    self._leave_place(connection, event, place)
                case RoomClosed():
                    connection.execute(places.delete().where(places.c.stream == event.stream))
                    mine = partings.update().where(partings.c.stream == event.stream)
                    connection.execute(mine.values(lost=False))
                case Heard(surface=surface, source=source) if source and ":" in surface:
                    for part, each in enumerate((source, *event.body.pieces)):
                        self._insert_post(
                            connection, PlatformPost(surface, each, event.id, part), heard=True
                        )
                case Queued(surface=surface, of=of, what="line" | "reminder") if ":" in surface:
                    row = {"delivery": event.id, "place": surface, "of": of}
                    connection.execute(sendings.insert().values(**row))
                case Accepted(delivery=delivery, message_id=message):
                    self._accept_sending(connection, delivery, message)
                case Failed(delivery=delivery) | Uncertain(delivery=delivery):
                    connection.execute(sendings.delete().where(sendings.c.delivery == delivery))
                case _:
                    self._apply_draft(connection, event)

    def _leave_place(self, connection: Connection, event: Event, place: str) -> None:
        for table in (places, partings):
            gone = (table.c.place == place) & (table.c.stream == event.stream)
            connection.execute(table.delete().where(gone))
        lost = isinstance(event.body, PlaceLeft) and event.actor == "runtime"
        row = {"place": place, "stream": event.stream, "event": event.id, "lost": lost}
        connection.execute(partings.insert().values(**row))

    def _accept_sending(self, connection: Connection, delivery: str, message: str) -> None:
        mine = sendings.c.delivery == delivery
        row = connection.execute(select(sendings).where(mine)).first()
        if row is None:
            return
        for part, each in enumerate(message.split()):
            self._insert_post(connection, PlatformPost(row.place, each, row.of, part), heard=False)
        connection.execute(sendings.delete().where(mine))
        settled = (drafts.c.place == row.place) & (drafts.c.line == row.of)
        connection.execute(drafts.delete().where(settled))

    def _insert_post(self, connection: Connection, post: PlatformPost, *, heard: bool) -> None:
        there = (posts.c.place == post.place) & (posts.c.message == post.message)
        connection.execute(posts.delete().where(there))
        connection.execute(posts.insert().values(**post._asdict(), heard=heard))

    def _apply_draft(self, connection: Connection, event: Event) -> None:
        match event.body:
            case Drafted(turn=turn, surface=place, message_id=message):
                there = (drafts.c.place == place) & (drafts.c.turn == turn)
                connection.execute(drafts.delete().where(there))
                known = connection.execute(select(spoken).where(spoken.c.turn == turn)).first()
                line, over = (known.line, known.over) if known is not None else ("", False)
                row = {"place": place, "turn": turn, "message": message, "line": line, "over": over}
                if message:
                    connection.execute(drafts.insert().values(**row))
            case Said(turn=turn) if self._is_shown(connection, event.stream, turn):
                connection.execute(_SAID, {"of": turn, "said": event.id})
                self._apply_speech(connection, turn, line=event.id)
            case TurnEnded(turn=turn) if self._is_shown(connection, event.stream, turn):
                connection.execute(_ENDED, {"of": turn})
                self._apply_speech(connection, turn)

    def _is_shown(self, connection: Connection, stream: str, turn: str) -> bool:
        """Whether a turn is met on a platform: its room has a place there, or a draft stands."""
        return connection.execute(_SHOWN, {"room": stream, "of": turn}).first() is not None

    def _apply_speech(self, connection: Connection, turn: str, line: str = "") -> None:
        """Remember the first line of a turn, or (without one) that it is over."""
        mine = spoken.c.turn == turn
        if connection.execute(select(spoken).where(mine)).first() is None:
            row = {"turn": turn, "line": line, "over": not line}
            connection.execute(spoken.insert().values(**row))
        elif not line:
            connection.execute(spoken.update().where(mine).values(over=True))


class Channels:
    """What surfaces ask of these views. Ids of messages that are compared are numbers."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def room(self, place: str) -> str:
        """The room that a place is part of; "" if of none."""
        stream = await self._first_value(select(places.c.stream).where(places.c.place == place))
        return stream.removeprefix(PREFIX)

    async def lost(self, place: str) -> str:
        """The room that a place was part of until nothing could be sent there; "" if of none."""
        mine = select(partings).where(partings.c.place == place)
        rows = await self._read_rows(mine.order_by(partings.c.event.desc()).limit(1))
        return str(rows[0].stream).removeprefix(PREFIX) if rows and rows[0].lost else ""

    async def all(self, platform: str) -> dict[str, str]:
        """Every place of a platform that is part of a room, with that room's slug."""
        mine = places.c.place.startswith(f"{platform}:")
        rows = await self._read_rows(select(places).where(mine).order_by(places.c.place))
        return {row.place: row.stream.removeprefix(PREFIX) for row in rows}

    async def private(self, platform: str) -> dict[str, set[str]]:
        """The private places of a platform, each with the mates that ever were in its room."""
        mine = places.c.place.startswith(f"{platform}:") & (places.c.kind == "private")
        query = (
            select(places.c.place, events.c.body)
            .join(events, events.c.stream == places.c.stream)
            .where(mine, events.c.kind == "room.mate_joined")
        )
        found: dict[str, set[str]] = {}
        for row in await self._read_rows(query):
            found.setdefault(row.place, set()).add(msgspec.json.decode(row.body)["mate"])
        return found

    async def line(self, place: str, message: str) -> str:
        """The id of the line that a message is, or is a part of; "" if it is none."""
        there = (posts.c.place == place) & (posts.c.message == message)
        return await self._first_value(select(posts.c.line).where(there))

    async def stands(self, line: str) -> str:
        """The room that a line is of; "" if there is none: its place may be part of another now."""
        stream = await self._first_value(select(events.c.stream).where(events.c.id == line))
        return stream.removeprefix(PREFIX)

    async def posts(self, place: str, line: str) -> list[str]:
        """The ids of the messages that a line is in a place, part after part."""
        mine = (posts.c.place == place) & (posts.c.line == line)
        query = select(posts.c.message).where(mine).order_by(posts.c.part)
        return [str(row.message) for row in await self._read_rows(query)]

    async def last(self, place: str) -> int:
        """The highest id of a person's message that was heard in a place; 0 before the first."""
        return await self._highest_number(and_(posts.c.place == place, posts.c.heard))

    async def heard(self, place: str, limit: int) -> list[int]:
        """The highest ids of people's messages in a place that are not deleted, as far as known."""
        gone = select(revisions.c.line).where(revisions.c.deleted)
        there = and_(posts.c.place == place, posts.c.heard, posts.c.line.not_in(gone))
        return [int(row.message) for row in await self._read_rows(_newest_ids(there).limit(limit))]

    async def newest(self, patterns: Sequence[str]) -> int:
        """The highest number of a person's message that was heard in places like these (SQL)."""
        return await self._highest_number(and_(_is_like(posts, patterns), posts.c.heard))

    async def highest(self, patterns: Sequence[str], place: str, before: str) -> int:
        """The highest number that a message had before an event, as far as that is certain.

        People's messages in places like these (SQL) that were heard before it; and in `place`
        itself the lines before it, since what goes out there goes out in order.
        """
        certain = or_(and_(_is_like(posts, patterns), posts.c.heard), posts.c.place == place)
        return await self._highest_number(and_(certain, posts.c.line < before))

    async def top(self, patterns: Sequence[str]) -> int:
        """The highest number of a message that is known in places like these (SQL)."""
        return await self._highest_number(_is_like(posts, patterns))

    async def numbers_above(self, patterns: Sequence[str], number: int) -> set[int]:
        """The numbers of messages and drafts above this one that are known in places like these."""
        known = [
            row.message
            for table in (posts, drafts)
            for row in await self._read_rows(
                select(table.c.message).where(_is_like(table, patterns), is_above(table, number))
            )
        ]
        return {int(each) for each in known if each.isdigit()}

    async def owed(self, place: str) -> set[str]:
        """The lines that are still on their way there."""
        rows = await self._read_rows(select(sendings.c.of).where(sendings.c.place == place))
        return {str(row.of) for row in rows}

    async def draft(self, place: str, line: str) -> str:
        """The id of the message that shows this line's draft in a place; "" if none does."""
        mine = (drafts.c.place == place) & (drafts.c.line == line)
        return await self._first_value(select(drafts.c.message).where(mine))

    async def drafts(self, place: str) -> list[DraftPost]:
        """The drafts that stand in a place."""
        rows = await self._read_rows(select(drafts).where(drafts.c.place == place))
        return [DraftPost._make(row) for row in rows]

    async def strays(self, platform: str) -> list[DraftPost]:
        """Drafts on a platform of turns that are over and said nothing: to be taken away."""
        mine = drafts.c.place.startswith(f"{platform}:")
        rows = await self._read_rows(select(drafts).where(mine, drafts.c.over, drafts.c.line == ""))
        return [DraftPost._make(row) for row in rows]

    async def _highest_number(self, where: ColumnElement[bool]) -> int:
        return int(await self._first_value(_newest_ids(where)) or 0)

    async def _first_value(self, query: Select[Any]) -> str:
        rows = await self._read_rows(query.limit(1))
        return str(rows[0][0]) if rows else ""

    async def _read_rows(self, query: Select[Any]) -> Sequence[Row[Any]]:
        return await self._tables.look(lambda found: found.execute(query).all())


def _is_like(table: Table, patterns: Sequence[str]) -> ColumnElement[bool]:
    return or_(*(table.c.place.like(each) for each in patterns))


def is_above(table: Table, number: int) -> ColumnElement[bool]:
    """Whether a message has a higher number: a longer one, or as long and later in order."""
    digits = func.length(table.c.message)
    longer, later = digits > len(str(number)), table.c.message > str(number)
    return or_(longer, and_(digits == len(str(number)), later))


def _newest_ids(where: ColumnElement[bool]) -> Select[Any]:
    """Ids of messages, the highest number first."""
    query = select(posts.c.message).where(where)
    return query.order_by(func.length(posts.c.message).desc(), posts.c.message.desc())
