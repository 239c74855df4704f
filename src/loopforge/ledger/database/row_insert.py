"""Rows of the ledger's hot path, written and read by the driver itself.

Around a small INSERT SQLAlchemy's bookkeeping takes longer than SQLite. On PostgreSQL the way to
the server outweighs both, and SQLAlchemy notices there that a connection broke: all goes by it.
"""

import sqlite3
from collections.abc import Sequence
from typing import Any

from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError, StatementError


def insert_rows(connection: Connection, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Run an INSERT in the driver's own SQL for each of these rows. Raises SQLAlchemyError."""
    if connection.dialect.name != "sqlite":
        connection.exec_driver_sql(statement, list(rows))
        return
    try:
        _driver(connection).executemany(statement, rows)
    except sqlite3.Error as error:
        raise _wrapped(error) from error


def fetch_rows(
    connection: Connection, query: str, parameters: tuple[Any, ...]
) -> Sequence[Sequence[Any]]:
    """All rows that a query in the driver's own SQL finds. Raises SQLAlchemyError."""
    if connection.dialect.name != "sqlite":
        return connection.exec_driver_sql(query, parameters).all()
    try:
        return _driver(connection).execute(query, parameters).fetchall()
    except sqlite3.Error as error:
        raise _wrapped(error) from error


def _driver(connection: Connection) -> sqlite3.Connection:
    found = connection.connection.driver_connection
    assert isinstance(found, sqlite3.Connection)
    return found


def _wrapped(error: sqlite3.Error) -> StatementError:
    return DBAPIError.instance(None, None, error, sqlite3.Error, hide_parameters=True)
