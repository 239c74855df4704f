"""Cursors of sinks that cannot tell how far they came: kept beside the ledger, in its database.

    begin      the sink starts; with history from the first event on, else from what stands now on
    passed     how far it came in each stream
    advance    it has this much of one

A cursor moves after what it passes was taken, so that a process that is killed in between passes
that on once more, and nothing is ever left out. Knows no sink.
"""

from functools import partial

from sqlalchemy import delete, insert, select
from sqlalchemy.engine import Connection

from loopforge.ledger.database.table_schema import cursors, streams
from loopforge.ledger.table_access import WritableTables

BEGAN = ""
"""In place of a stream: that the sink began."""


class SinkCursors:
    """The cursors in one ledger."""

    def __init__(self, tables: WritableTables) -> None:
        self._tables = tables

    async def begin(self, sink: str, *, history: bool) -> dict[str, int]:
        """How far a sink came in each stream; one that never ran is said to begin now."""
        found = await self._tables.look(partial(_passed, sink=sink))
        if BEGAN not in found:
            found = await self._tables.change(partial(_begin, sink=sink, history=history))
        found.pop(BEGAN, None)
        return found

    async def advance(self, sink: str, stream: str, seq: int) -> None:
        """A sink has everything of a stream up to this event."""
        await self._tables.change(partial(_advance, sink=sink, stream=stream, seq=seq))


def _passed(connection: Connection, sink: str) -> dict[str, int]:
    query = select(cursors.c.stream, cursors.c.seq).where(cursors.c.sink == sink)
    return {row.stream: row.seq for row in connection.execute(query)}


def _begin(connection: Connection, sink: str, *, history: bool) -> dict[str, int]:
    found = {BEGAN: 0}
    if not history:
        rows = connection.execute(select(streams.c.stream, streams.c.seq))
        found |= {row.stream: row.seq for row in rows}
    rows_of = [{"sink": sink, "stream": name, "seq": seq} for name, seq in found.items()]
    connection.execute(delete(cursors).where(cursors.c.sink == sink))
    connection.execute(insert(cursors), rows_of)
    return found


def _advance(connection: Connection, sink: str, stream: str, seq: int) -> None:
    here = (cursors.c.sink == sink) & (cursors.c.stream == stream)
    if not connection.execute(cursors.update().where(here).values(seq=seq)).rowcount:
        connection.execute(insert(cursors).values(sink=sink, stream=stream, seq=seq))
