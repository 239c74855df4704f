"""Whether the database could be written just now, found out without writing.

    SQLite      has its disk any room, and may its file be written?
    PostgreSQL  is it a standby, or does it let sessions only read?

How much room PostgreSQL's own disk has, nobody but it can see: that shows when something is
written (`tried`, which leaves nothing behind).
"""

import os
from pathlib import Path

from sqlalchemy.engine import Connection

from loopforge.errors import LedgerError, LedgerReadOnly
from loopforge.ledger.database.database_engine import DatabaseEngines
from loopforge.ledger.database.database_faults import (
    disk_full_error,
    ledger_location,
    read_only_error,
)
from loopforge.ledger.storage import state_snapshots

LEAST = 256 * 1024
"""Bytes of room below which SQLite's log can soon grow no more."""
ONLY_READ = "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::bool"
TRIED = "write check"
"""The stream of a snapshot, of before its first event, that is there for no moment."""


def foreseen(store: DatabaseEngines, connection: Connection) -> LedgerError | None:
    """Why nothing could be written now, as far as that is seen by looking."""
    where = ledger_location(store.url)
    if store.sqlite:
        return _disk(Path(str(store.url.database)), where)
    if not connection.exec_driver_sql(ONLY_READ).scalar_one():
        return None
    connection.invalidate()  # another server may be the primary by now
    store.reader.dispose()
    return read_only_error(where)


def _disk(file: Path, where: str) -> LedgerError | None:
    if not hasattr(os, "statvfs"):
        return None
    disk = os.statvfs(file.parent)
    if disk.f_flag & os.ST_RDONLY or not os.access(file, os.W_OK):
        return LedgerReadOnly(f"The ledger {where} may not be written.")
    blocks = disk.f_bfree if os.geteuid() == 0 else disk.f_bavail  # some are kept for root
    return disk_full_error(where) if blocks * disk.f_frsize < LEAST else None


def tried(connection: Connection, body: bytes) -> None:
    """Write so much, and take it away again. Raises what the database raises."""
    state_snapshots.save(connection, TRIED, 0, 1, body)
    state_snapshots.drop(connection, [TRIED])
