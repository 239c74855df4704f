"""Revised lines: those that a person edited or deleted after they had been said.

The record keeps what was said at first, until it is forgotten; people and mates are shown what
stands there now. A view keeps one row for each change of a line; `apply_revisions` gives events as
they stand after the changes. A line that was deleted stays so, whatever is said of it later.

Knows no rooms and no rights: who may see a change is for others to say.
"""

from collections.abc import Collection, Iterable, Sequence

import msgspec
from msgspec.structs import replace
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    PrimaryKeyConstraint,
    Table,
    bindparam,
    select,
    union,
)
from sqlalchemy.engine import Connection

from loopforge.core.edited_lines import Revision, apply_revision, edit_remark
from loopforge.core.events import Event
from loopforge.core.room_vocabulary import Heard, LineDeleted, LineEdited, Said
from loopforge.ledger.database.table_schema import Name, metadata, texts
from loopforge.ledger.storage.row_codec import COLUMNS, events_of, in_list_sql, list_parameter

revisions = Table(
    "revisions",
    metadata,
    Column("event", Name, nullable=False),
    Column("stream", Name, nullable=False, index=True),
    Column("seq", BigInteger, nullable=False),
    Column("line", Name, nullable=False, index=True),
    Column("actor", Name, nullable=False),
    Column("deleted", Boolean, nullable=False),
    PrimaryKeyConstraint("event", name="revisions_event"),
)

_CHANGES_OF = (
    select(revisions)
    .where(revisions.c.line.in_(bindparam("lines", expanding=True)))
    .order_by(revisions.c.deleted, revisions.c.seq)
)


class RevisedLines:
    """The view: one row for each change of a line."""

    name = "revisions"
    version = 1
    kinds = frozenset({"room.line_edited", "room.line_deleted"})
    tables = (revisions,)
    holds_texts = False

    def apply(self, connection: Connection, events: Sequence[Event]) -> None:
        """Take in events."""
        rows = [
            {
                "event": event.id,
                "stream": event.stream,
                "seq": event.seq,
                "line": event.body.line,
                "actor": event.body.by,
                "deleted": isinstance(event.body, LineDeleted),
            }
            for event in events
            if isinstance(event.body, LineEdited | LineDeleted)
        ]
        if rows:
            connection.execute(revisions.insert(), rows)


def latest_revisions(connection: Connection, lines: Iterable[str]) -> dict[str, Revision]:
    """The last change of each of these lines that has one, by line; a deletion is always last."""
    return {
        row.line: Revision(
            line=row.line, by=row.actor, deleted=row.deleted, event=row.event, seq=row.seq
        )
        for row in connection.execute(_CHANGES_OF, {"lines": list(lines)})
    }


def apply_revisions(connection: Connection, events: Sequence[Event]) -> list[Event]:
    """These events, each line as it stands now."""
    found = latest_revisions(connection, [e.id for e in events if isinstance(e.body, Heard | Said)])
    if not found:
        return list(events)
    edits = events_by_id(connection, [one.event for one in found.values() if not one.deleted])
    edited = {edit.id: edit.body for edit in edits if isinstance(edit.body, LineEdited)}
    return [
        _revised(event, found[event.id], edited.get(found[event.id].event))
        if event.id in found
        else event
        for event in events
    ]


def _revised(event: Event, revision: Revision, edit: LineEdited | None) -> Event:
    if edit is not None:
        revision = replace(revision, aside=edit_remark(edit))
    return apply_revision(event, revision, edit.text if edit else None)


def events_by_id(connection: Connection, ids: Collection[str]) -> list[Event]:
    """These events, as they were written."""
    if not ids:
        return []
    rows = connection.exec_driver_sql(
        f"SELECT {COLUMNS} FROM events WHERE id {in_list_sql(connection)} ORDER BY id",  # noqa: S608
        (list_parameter(connection, ids),),
    ).all()
    return events_of(connection, rows)


def events_by_place(connection: Connection, places: Sequence[tuple[str, int]]) -> list[Event]:
    """The events at these places, each a stream and a number in it, as they were written."""
    if not places:
        return []
    if connection.dialect.name == "sqlite":
        each = "SELECT json_extract(value, '$[0]') AS s, json_extract(value, '$[1]') AS n "
        each += "FROM json_each(?)"
        given: tuple[object, ...] = (msgspec.json.encode(places).decode(),)
    else:
        each = "SELECT s, n FROM unnest(%s::text[], %s::bigint[]) AS given (s, n)"
        given = ([stream for stream, _ in places], [seq for _, seq in places])
    rows = connection.exec_driver_sql(
        f"SELECT {COLUMNS} FROM ({each}) AS place CROSS JOIN events "  # noqa: S608
        "WHERE stream = s AND seq = n",
        given,
    ).all()
    return events_of(connection, rows)


def edits_of(connection: Connection, lines: Sequence[str]) -> list[str]:
    """The events that edited these lines, by id."""
    mine = revisions.c.line.in_(lines) & ~revisions.c.deleted
    query = select(revisions.c.event).where(mine).order_by(revisions.c.event)
    return list(connection.execute(query).scalars())


def pending_erasures(connection: Connection, stream: str = "") -> dict[str, list[str]]:
    """Events whose texts should be gone, by stream: lines deleted, and what they were edited to."""
    other = revisions.alias()
    gone = select(other.c.line).where(other.c.deleted)
    line = select(revisions.c.stream, revisions.c.line.label("id")).where(revisions.c.deleted)
    edit = select(revisions.c.stream, revisions.c.event.label("id")).where(
        ~revisions.c.deleted, revisions.c.line.in_(gone)
    )
    each = union(line, edit).subquery()
    kept = select(texts.c.ref).where(texts.c.stream == each.c.stream, texts.c.event == each.c.id)
    query = select(each).where(kept.exists()).order_by(each.c.stream, each.c.id)
    if stream:
        query = query.where(each.c.stream == stream)
    found: dict[str, list[str]] = {}
    for row in connection.execute(query):
        found.setdefault(row.stream, []).append(row.id)
    return found
