"""After an erasure: nothing of what was deleted stays in the database's files.

SQLite: texts are overwritten where they lie (text_removal.py), and then its log, which holds the
pages as they were, is folded into the file and cut off. Who writes waits for moments; who reads is
waited for. Rows of indexes are deleted, and SQLite overwrites them (`secure_delete`), but not the
copies of numbers that stay where it moved rows from one page to another. So a host writes the file
anew at its start, if something was erased since; that takes 0.1 ms for each turn on record.
PostgreSQL leaves deleted rows in their pages until others are put there. Those pages are freed at
once, which nobody waits for, and samples of texts in its statistics are taken anew; the tables are
written anew at a host's start, too.
"""

import logging
from collections.abc import Callable, Collection, Sequence
from time import sleep

from sqlalchemy import Column, PrimaryKeyConstraint, Table
from sqlalchemy.engine import Connection

from loopforge.core.events import Event
from loopforge.errors import LedgerError
from loopforge.ledger.database.database_engine import DatabaseEngines
from loopforge.ledger.database.database_faults import translating_faults
from loopforge.ledger.database.table_schema import BLANK, FILLED_LATER, Name, metadata

log = logging.getLogger(__name__)
MOMENT, PAUSE, TRIES = 50, 0.1, 33
"""Whoever reads is waited for so often, for so many milliseconds in which nobody can write, with so
many seconds between: five seconds in all."""

rewritings = Table(
    "file_rewritings",
    metadata,
    Column("erased", Name, nullable=False),
    PrimaryKeyConstraint("erased", name="file_rewritings_erased"),
    info={FILLED_LATER: True},
)


NEWEST = "SELECT max(id) FROM events WHERE kind = 'ledger.erased'"
DONE = "SELECT max(erased) FROM file_rewritings"


class RewrittenFiles:
    """The view, of one row at most: up to which erasure the files were written anew."""

    name = "rewritings"
    version = 1
    kinds = frozenset[str]()
    tables = (rewritings,)
    holds_texts = False

    def apply(self, connection: Connection, events: Sequence[Event]) -> None:
        """No event tells of it."""


def settled(store: DatabaseEngines, clean: Callable[[], bool]) -> bool:
    """Clean, if that was not done since the last erasure, and note it; whether all is well."""
    with translating_faults(store.url):
        with store.reader.connect() as connection:
            last: str | None = connection.exec_driver_sql(NEWEST).scalar()
            done: str | None = connection.exec_driver_sql(DONE).scalar()
        if last is None or last == done:
            return True
        log.info("the ledger's files are written anew: something was forgotten since the last time")
        if not clean():
            return False
        with store.writer.begin() as connection:
            connection.execute(rewritings.delete())
            connection.execute(rewritings.insert().values(erased=last))
    return True


def scrub(store: DatabaseEngines, tables: Collection[str] = ()) -> bool:
    """Leave no text in the files; False when somebody who reads was in the way for too long.

    `tables` are those of views, from which an erasure may have deleted rows.
    """
    if not store.sqlite:
        return _vacuumed(store, tables, "ANALYZE")
    try:
        with translating_faults(store.url), store.reader.connect() as connection:
            return _folded(connection)
    except LedgerError:
        return False


def write_anew(store: DatabaseEngines, tables: Collection[str] = ()) -> bool:
    """Leave nothing at all; likewise. Nobody can write meanwhile."""
    if not store.sqlite:
        return _vacuumed(store, tables, "FULL, ANALYZE")
    try:
        with translating_faults(store.url):
            with store.writer.begin() as connection:
                connection.exec_driver_sql(f"DELETE FROM texts WHERE ref LIKE '{BLANK}%'")  # noqa: S608
            with store.reader.connect() as connection:
                connection.exec_driver_sql("PRAGMA query_only=OFF")
                connection.exec_driver_sql("PRAGMA temp_store=FILE")  # it may be larger than memory
                try:
                    connection.exec_driver_sql("VACUUM")
                    return _folded(connection)
                finally:
                    connection.invalidate()  # it may write
    except LedgerError:
        return False


def _folded(connection: Connection) -> bool:
    """Fold SQLite's log into its file, and cut it off."""
    before = connection.exec_driver_sql("PRAGMA busy_timeout").scalar_one()
    connection.exec_driver_sql(f"PRAGMA busy_timeout={MOMENT}")
    try:
        for _ in range(TRIES):
            connection.exec_driver_sql("PRAGMA wal_checkpoint(PASSIVE)").all()
            busy, _, _ = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()
            if not busy:
                return True
            sleep(PAUSE)
        return False
    finally:
        connection.exec_driver_sql(f"PRAGMA busy_timeout={before}")


def make_way(connection: Connection, tables: Collection[str]) -> None:
    """Whoever is just making an index of these tables of PostgreSQL gives up; it is made later."""
    connection.exec_driver_sql(
        "SELECT pg_cancel_backend(pid) FROM pg_stat_progress_create_index "
        "WHERE relid = ANY(SELECT to_regclass(each) FROM unnest(%s::text[]) AS each)",
        (list(tables),),
    )


def drop_graphs(connection: Connection, tables: Collection[str]) -> None:
    """Drop what indexes of these tables would take minutes to make; it is made later, as above."""
    query = (
        "SELECT indexrelid::regclass::text FROM pg_index "
        "JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_am ON pg_am.oid = relam "
        "WHERE amname = 'hnsw' AND indrelid "
        "= ANY(SELECT to_regclass(each) FROM unnest(%s::text[]) AS each)"
    )
    for name in connection.exec_driver_sql(query, (list(tables),)).scalars().all():
        connection.exec_driver_sql(f"DROP INDEX IF EXISTS {name}")


def _vacuumed(store: DatabaseEngines, tables: Collection[str], how: str) -> bool:
    """Free what rows were deleted from tables of PostgreSQL; FULL writes the tables anew."""
    try:
        with translating_faults(store.url), store.reader.connect() as connection:
            for table in ("texts", *tables):
                make_way(connection, (table,))
                if "FULL" in how:
                    drop_graphs(connection, (table,))
                connection.exec_driver_sql(f"VACUUM ({how}) {table}")
            if "FULL" in how:  # as the database's owner
                connection.exec_driver_sql("VACUUM (FULL) pg_statistic")
    except LedgerError:
        return False
    return True
