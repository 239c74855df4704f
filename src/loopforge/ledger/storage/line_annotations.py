"""Annotations of lines: reactions, pins and marks as they stand, each by the event that put it.

A page of the past shows lines of long ago with what was put on them since; so a view keeps one row
for each annotation of a line that was not taken back. Knows no rooms and no rights: who may see an
annotation is for others to say. What a line was changed to stands in revised_lines.py.
"""

from collections.abc import Iterable, Sequence

from sqlalchemy import Index, PrimaryKeyConstraint, Table, delete, select
from sqlalchemy.engine import Connection

from loopforge.core.events import Event
from loopforge.core.room_vocabulary import LinePinned, Marked, PersonReacted, Reacted
from loopforge.ledger.database.table_schema import metadata, name_columns
from loopforge.ledger.storage.revised_lines import events_by_id

PIN, MARK = "pin", "mark"

put = Table(
    "line_annotations",
    metadata,
    *name_columns("line", "what", "stream", "event"),
    PrimaryKeyConstraint("line", "what", name="line_annotations_place"),
    Index("line_annotations_what", "stream", "what", "event"),
)


def annotation_of(event: Event) -> tuple[str, str, bool]:
    """The line that an event annotates ("": none), with what, and whether it is taken back."""
    match event.body:
        case LinePinned(line=line, back=back):
            return line, PIN, back
        case Marked(line=line, mark=put):
            return line, MARK, put == "none"
        case Reacted(to=line, emoji=emoji, mate=mate):
            return line, f"{emoji} mate:{mate}", False
        case PersonReacted(to=line, emoji=emoji, person=person, back=back):
            return line, f"{emoji} person:{person}", back
        case _:
            return "", "", False


class LineAnnotations:
    """The view: one row for each annotation that stands."""

    name = "annotations"
    version = 1
    kinds = frozenset({"room.line_pinned", "room.marked", "room.reacted", "room.person_reacted"})
    tables = (put,)
    holds_texts = False

    def apply(self, connection: Connection, events: Sequence[Event]) -> None:
        """Take in events."""
        now = dict[tuple[str, str], Event | None]()
        for event in events:
            line, what, back = annotation_of(event)
            now[line, what] = None if back else event
        for line, what in now:
            place = put.c.line == line, put.c.what == what
            connection.execute(delete(put).where(*place))
        rows = [
            {"line": line, "what": what, "stream": event.stream, "event": event.id}
            for (line, what), event in now.items()
            if event is not None
        ]
        if rows:
            connection.execute(put.insert(), rows)


def annotation_events(connection: Connection, lines: Iterable[str]) -> list[Event]:
    """The events that put what stands on these lines, in the order in which they were written."""
    query = select(put.c.event).where(put.c.line.in_(list(lines)))
    return events_by_id(connection, list(connection.execute(query).scalars()))


def pin_events(connection: Connection, stream: str) -> list[Event]:
    """The events that pinned what is pinned in a stream, the first of them first."""
    mine = put.c.stream == stream, put.c.what == PIN
    return events_by_id(
        connection, list(connection.execute(select(put.c.event).where(*mine)).scalars())
    )
