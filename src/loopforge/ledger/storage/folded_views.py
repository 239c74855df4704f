"""Views: tables folded from events, which can be dropped and folded anew.

A view takes in events in the very transaction that adds them, so that it is never behind. It may
refuse one by raising a LedgerError: then that append writes nothing. Views are folded anew when
they are new, when their `version` has changed, and after an erasure when they hold texts.

Law: a view depends on the order of events within a stream, never between streams, because a
rebuilding goes through the ledger stream by stream. `apply` must not read the events table (the
events it is given may not be there yet), and must not assume that it is called once per event kind.

Does not know what any view is for.
"""

import sqlite3
from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from typing import Protocol

from sqlalchemy import Table, create_engine, inspect
from sqlalchemy.engine import Connection

from loopforge.core.events import Event
from loopforge.ledger.database.table_schema import FILLED_LATER, metadata, views
from loopforge.ledger.storage.row_codec import (
    COLUMNS,
    events_of,
    in_list_sql,
    list_parameter,
    sql_placeholder,
)

PAGE = 1000
"""Events read at a time while folding anew."""


class FoldedView(Protocol):
    """A fold of events into tables of its own, which stand on `schema.metadata`."""

    @property
    def name(self) -> str:
        """Unique among views."""

    @property
    def version(self) -> int:
        """To be raised whenever tables or fold change; the view is then folded anew."""

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of event it takes in."""

    @property
    def tables(self) -> tuple[Table, ...]:
        """Its tables.

        One whose `info` has FILLED_LATER comes and goes with them, and is filled beside the fold.
        """

    @property
    def holds_texts(self) -> bool:
        """Whether private words stand in its tables; an erasure then folds it anew."""

    def apply(self, connection: Connection, events: Sequence[Event]) -> None:
        """Take in events, those of one stream in order. Raises LedgerError to refuse them."""


def stale_views(connection: Connection, known: Sequence[FoldedView]) -> list[FoldedView]:
    """The views whose tables are missing or of another version."""
    found = {row.name: row.version for row in connection.execute(views.select())}
    return [view for view in known if found.get(view.name) != view.version]


def refold_views(connection: Connection, wanted: Sequence[FoldedView]) -> int:
    """Drop these views and fold them anew from all events; returns how many events were taken in.

    Other writers wait meanwhile; the caller commits.
    """
    if not wanted:
        return 0
    if connection.dialect.name != "sqlite":
        connection.exec_driver_sql("LOCK TABLE streams IN EXCLUSIVE MODE")
    tables = [table for view in wanted for table in view.tables]
    there = set(inspect(connection).get_table_names())
    metadata.drop_all(connection, [t for t in tables if t.name in there], checkfirst=False)
    metadata.create_all(connection, tables, checkfirst=False)
    for view in wanted:
        connection.execute(views.delete().where(views.c.name == view.name))
        connection.execute(views.insert().values(name=view.name, version=view.version))
    return _fold(connection, connection, wanted)


def differing_views(connection: Connection, known: Sequence[FoldedView]) -> list[FoldedView]:
    """The views whose rows are not what their events make them.

    They are folded anew in a database of their own, which SQLite keeps in a temporary file; nobody
    waits for that, and memory does not grow with it.
    """
    aside_in_a_file = partial(sqlite3.connect, "")
    engine = create_engine("sqlite://", creator=aside_in_a_file, hide_parameters=True)
    try:
        with engine.begin() as aside:
            for view in known:
                metadata.create_all(aside, view.tables)
            _fold(connection, aside, known)
            return [
                view
                for view in known
                if any(
                    _rows_sum(connection, each) != _rows_sum(aside, each)
                    for each in view.tables
                    if not each.info.get(FILLED_LATER)
                )
            ]
    finally:
        engine.dispose()


def _rows_sum(connection: Connection, table: Table) -> tuple[int, int]:
    """How many rows there are, and the sum of their hashes, the same in any order."""
    count = total = 0
    for row in connection.execute(table.select(), execution_options={"yield_per": PAGE}):
        count += 1
        total += int.from_bytes(sha256(repr(tuple(row)).encode()).digest())
    return count, total


def _fold(source: Connection, target: Connection, wanted: Sequence[FoldedView]) -> int:
    """Fold the events of one connection into the tables of another, or of the same."""
    kinds = list_parameter(source, sorted(frozenset[str]().union(*(view.kinds for view in wanted))))
    one, count, place = sql_placeholder(source), 0, ("", 0)
    query = (
        f"SELECT {COLUMNS} FROM events WHERE (stream, seq) > ({one}, {one}) "  # noqa: S608
        f"AND kind {in_list_sql(source)} ORDER BY stream, seq LIMIT {PAGE}"
    )
    while events := events_of(source, source.exec_driver_sql(query, (*place, kinds))):
        place = events[-1].stream, events[-1].seq
        count += len(events)
        apply_to_views(target, wanted, events)
    return count


def apply_to_views(
    connection: Connection, views: Sequence[FoldedView], events: Sequence[Event]
) -> None:
    """Let each view take in what concerns it. Raises what one raises that refuses."""
    kinds = [event.kind for event in events]
    for view in views:
        known = view.kinds
        if mine := [e for e, kind in zip(events, kinds, strict=True) if kind in known]:
            view.apply(connection, mine)
