"""After an erasure: nothing of what was deleted stays in the database's files.

SQLite overwrites what it deletes (`secure_delete`), but not the copies that stay where it moved
rows from one page to another. So the file is written anew, and its log folded in and cut off: a
second or two for 240 MB, in which who writes waits, and who reads does not. PostgreSQL leaves
deleted rows in their pages; the tables are written anew. So are its statistics, where samples of
what stood in them are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial

from sqlalchemy.engine import Connection

from loopforge.errors import LedgerError
from loopforge.ledger.database.database_engine import Store
from loopforge.ledger.database.database_faults import telling


def scrub(store: Store, tables: Collection[str] = ()) -> bool:
    """Clean the files; False when somebody who reads was in the way for too long.

    `tables` are those of views, from which an erasure may have deleted rows.
    """
    work: Callable[[Connection], bool] = _sqlite if store.sqlite else partial(_postgres, tables)
    try:
        with telling(store.url), store.reader.connect() as connection:
            return work(connection)
    except LedgerError:
        return False


def _sqlite(connection: Connection) -> bool:
    connection.exec_driver_sql("PRAGMA query_only=OFF")
    connection.exec_driver_sql("PRAGMA temp_store=FILE")  # the copy may be larger than the memory
    try:
        connection.exec_driver_sql("VACUUM")
    finally:
        busy, _, _ = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()
        connection.invalidate()  # it may write
    return not busy


def make_way(connection: Connection, tables: Collection[str]) -> None:
    """Whoever is just making an index of these tables of PostgreSQL gives up; it is made later."""
    connection.exec_driver_sql(
        "SELECT pg_cancel_backend(pid) FROM pg_stat_progress_create_index "
        "WHERE relid = ANY(SELECT to_regclass(each) FROM unnest(%s::text[]) AS each)",
        (list(tables),),
    )


def _postgres(tables: Collection[str], connection: Connection) -> bool:
    for table in ("texts", *tables):
        make_way(connection, (table,))
        connection.exec_driver_sql(f"VACUUM (FULL, ANALYZE) {table}")
    connection.exec_driver_sql("VACUUM (FULL) pg_statistic")  # as the database's owner
    return True
