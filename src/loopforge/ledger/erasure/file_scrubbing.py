"""After an erasure: nothing of what was deleted stays in the database's files.

SQLite overwrites what it deletes (`secure_delete`), so only its log must be folded in and cut off.
PostgreSQL leaves deleted rows in their pages; the table is written anew.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy.engine import Connection

from loopforge.errors import LedgerError
from loopforge.ledger.database.database_engine import Store
from loopforge.ledger.database.database_faults import telling


def scrub(store: Store) -> bool:
    """Clean the files; False when somebody who reads was in the way for too long."""
    work: Callable[[Connection], bool] = _sqlite if store.sqlite else _postgres
    try:
        with telling(store.url), store.reader.connect() as connection:
            return work(connection)
    except LedgerError:
        return False


def _sqlite(connection: Connection) -> bool:
    busy, _, _ = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()
    return not busy


def _postgres(connection: Connection) -> bool:
    connection.exec_driver_sql("VACUUM (FULL) texts")
    return True
