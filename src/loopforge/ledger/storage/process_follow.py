"""What other processes appended to the ledger. Which of them is its host: host_claim.py.

SQLite tells cheaply whether another connection wrote (`PRAGMA data_version`); only then the heads
are read. On PostgreSQL they are read at once.
"""

from sqlalchemy.engine import Connection

from loopforge.ledger.database.database_engine import DatabaseEngines
from loopforge.ledger.storage.event_reading import stream_heads

FOLLOW = 1.0
"""Seconds between two looks for what other processes wrote."""


class ProcessFollow:
    """Where streams stand, if anybody may have moved one.

    `look` runs in the writing thread, between commits, so that what this process wrote is known
    before it is found.
    """

    def __init__(self, store: DatabaseEngines) -> None:
        self._store = store
        self._connection: Connection | None = None
        self._version: int | None = None

    def look(self) -> dict[str, int] | None:
        """The heads, or None when certainly nothing has changed since the last look."""
        if not self._store.sqlite:
            with self._store.reader.connect() as connection:
                return stream_heads(connection)
        if self._connection is None:
            self._connection = self._store.reader.connect()
        version = self._connection.exec_driver_sql("PRAGMA data_version").scalar_one()
        if version == self._version:
            return None
        self._version = version
        return stream_heads(self._connection)

    def close(self) -> None:
        """Look no more."""
        if self._connection is not None:
            self._connection.close()
