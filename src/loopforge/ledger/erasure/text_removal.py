"""Texts taken away: an Erased event in each of their streams, and their rows left without a word.

SQLite moves rows from page to page when some are deleted between them, and leaves copies of those
behind. So a text there is not deleted: its row is overwritten where it lies, by as many blanks, and
is called by nothing any more (`BLANK`). Rows are only ever added at the end, so that none is moved;
when the file is written anew (database_scrubbing.py), the blank ones are left out. PostgreSQL's
rows are deleted.
"""

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy.engine import Connection

from loopforge.core.events import Erased, Event
from loopforge.core.people_events import PEOPLE
from loopforge.ledger.database.table_schema import BLANK, SQLITE_TRIGGERS
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.ledger.storage import state_snapshots
from loopforge.ledger.storage.event_append import (
    EventWriter,
    PendingAppend,
    ViewRefused,
    write_appends,
)
from loopforge.ledger.storage.folded_views import FoldedView, refold_views
from loopforge.ledger.storage.row_codec import in_list_sql, list_parameter
from loopforge.runtime.system_clock import Stamp

Gone = dict[str, list[str]]
"""Refs by stream."""
REFS = 2000
"""Most refs that one Erased event lists, and that go in one transaction."""


def removal_batches(gone: Mapping[str, Collection[str]], last: Collection[str]) -> list[Gone]:
    """These refs by stream, in parts for one transaction each; `last` go last.

    Of those, accounts do: by them all the selves of a person are found who is asked for again.
    """
    order = [
        (ref in last, stream == PEOPLE, stream, ref)
        for stream, refs in gone.items()
        for ref in refs
    ]
    found: list[Gone] = []
    for nth, (*_, stream, ref) in enumerate(sorted(order)):
        if nth % REFS == 0:
            found.append({})
        found[-1].setdefault(stream, []).append(ref)
    return found


def erase_texts(
    connection: Connection,
    gone: Mapping[str, Collection[str]],
    wish: ErasureRequest,
    stamp: Stamp,
    views: Sequence[FoldedView],
) -> tuple[Event, ...]:
    """Leave nothing of these texts, by stream, and say so there; the events. The caller commits.

    Raises what a view raises; then the caller rolls back.
    """
    if not gone:
        return ()
    appends = []
    for stream, refs in sorted(gone.items()):
        body = Erased(refs=tuple(sorted(refs)), by=wish.by, why=wish.why)
        appends.append(PendingAppend(stream, [stamp.fact(body, actor="runtime")], None, b""))
    try:
        write_appends(connection, appends, EventWriter(), views)
    except ViewRefused as refused:  # all of it is one decision: none is written by itself
        raise refused.cause from None
    for append in appends:
        if append.error is not None:
            raise append.error
    _blank(connection, [ref for refs in gone.values() for ref in refs])
    state_snapshots.drop(connection, gone)
    refold_views(connection, [view for view in views if view.holds_texts])
    return tuple(event for append in appends for event in append.events)


def _blank(connection: Connection, refs: Sequence[str]) -> None:
    mine, given = (
        f"WHERE ref {in_list_sql(connection)}",
        (list_parameter(connection, sorted(refs)),),
    )
    if connection.dialect.name != "sqlite":
        connection.exec_driver_sql(f"DELETE FROM texts {mine}", given)  # noqa: S608
        return
    blank = {name: f"replace(hex(zeroblob(length(CAST({name} AS BLOB)))), '00', ' ')"
             for name in ("text", "event", "stream")}  # fmt: skip
    sets = ", ".join(f"{name} = {value}" for name, value in blank.items())
    connection.exec_driver_sql("DROP TRIGGER IF EXISTS texts_unchanged")  # for nobody but this
    connection.exec_driver_sql(
        f"UPDATE texts SET ref = '{BLANK}' || printf('%032x', rowid), "  # noqa: S608
        f"salt = zeroblob(length(salt)), {sets} {mine}",
        given,
    )
    connection.exec_driver_sql(SQLITE_TRIGGERS["texts_unchanged"])
