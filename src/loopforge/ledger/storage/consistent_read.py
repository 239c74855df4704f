"""One state of the database for as long as a block reads, whatever is appended meanwhile."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.engine import Connection


@contextmanager
def in_read_snapshot(connection: Connection) -> Iterator[None]:
    """Read within a snapshot, on a connection that else commits by itself."""
    sqlite = connection.dialect.name == "sqlite"
    connection.exec_driver_sql(
        "BEGIN" if sqlite else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
    )
    try:
        yield
    finally:
        connection.exec_driver_sql("ROLLBACK")
