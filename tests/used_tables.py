"""Tables of PostgreSQL, emptied and used again: making forty of them takes a third of a second.

A database that a test gives back has its tables set aside in a schema of their own, empty, if they
are as they were made; a ledger that this process opens there next gets them in place of the same made
anew (once.py). Whoever else looks meanwhile finds an empty database.
"""

from collections.abc import Callable, Hashable
from contextlib import suppress
from typing import Any, NamedTuple

import psycopg
from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from loopforge.ledger.database.database_engine import DatabaseEngines

MANY = 2000
"""Events from which on making tables anew is quicker than emptying them."""
NAMES = "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'"
USED = f"{NAMES} AND pg_relation_size(oid) > 0"
SHAPE = """
SELECT md5(string_agg(part, ' ' ORDER BY part)) FROM (
  SELECT concat_ws(' ', c.relname, a.attname, a.atttypid, a.attnotnull) AS part
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    WHERE c.relnamespace = 'public'::regnamespace AND a.attnum > 0
      AND NOT starts_with(c.relname, 'loopforge_claims')
  UNION ALL SELECT concat_ws(' ', tgrelid::regclass, tgname, tgenabled) FROM pg_trigger
    WHERE NOT tgisinternal
  UNION ALL SELECT concat_ws(' ', proname, prosrc) FROM pg_proc
    WHERE pronamespace = 'public'::regnamespace
  UNION ALL SELECT extname FROM pg_extension
) AS parts"""
"""Tables, indexes, triggers, functions and extensions of a database, as one word."""
CLAIMS = (
    "SELECT oid::regclass FROM pg_class WHERE relnamespace = 'public'::regnamespace "
    "AND starts_with(relname, 'loopforge_claims')"
)
"""Sequences that claims of a host count by; made as they are needed."""
GUARDS = (
    "SELECT tgrelid::regclass, tgname FROM pg_trigger WHERE tgenabled = 'A' AND NOT tgisinternal"
)
"""What refuses to delete events and texts, whoever asks."""


class Made(NamedTuple):
    """Tables as they were made: their shape, and the rows that they had at once."""

    shape: str
    rows: dict[str, list[tuple[Any, ...]]]


_MADE: dict[Hashable, Made] = {}
_LENT: set[str] = set()
_OPENED: dict[str, Hashable] = {}
_ASIDE: dict[str, Hashable] = {}


def lend(host: str, name: str) -> None:
    """A test gets this database, and reaches it itself: not by a network that may fail."""
    _LENT.add(f"{host} {name}")


def opened(
    store: DatabaseEngines, key: Hashable, prepare: Callable[[], dict[str, int]]
) -> dict[str, int]:
    """Open a ledger with the views of this key, by `prepare` or by tables that stand aside."""
    place = f"{store.url.query.get('host')} {store.url.database}"
    if place not in _LENT:
        return prepare()
    if _ASIDE.get(place) == key and _taken_back(store):
        del _ASIDE[place]
        _OPENED[place] = key
        return {}
    new = key not in _MADE and _is_empty(store)
    heads = prepare()
    if new:
        with store.writer.begin() as connection:
            _MADE[key] = _made(connection)
    if key in _MADE:
        _OPENED[place] = key
    return heads


def _is_empty(store: DatabaseEngines) -> bool:
    with suppress(SQLAlchemyError), store.writer.begin() as connection:
        return connection.exec_driver_sql(NAMES).first() is None
    return False


def _taken_back(store: DatabaseEngines) -> bool:
    with suppress(SQLAlchemyError), store.writer.begin() as connection:
        connection.exec_driver_sql("DROP SCHEMA public RESTRICT")  # unless somebody made tables
        connection.exec_driver_sql("ALTER SCHEMA aside RENAME TO public")
        return True
    return False


def _made(connection: Connection) -> Made:
    shape = connection.exec_driver_sql(SHAPE).scalar_one()
    names = [name for (name,) in connection.exec_driver_sql(NAMES)]
    rows = {
        name: [tuple(row) for row in connection.exec_driver_sql(f'SELECT * FROM "{name}"')]
        for name in names
    }
    return Made(shape, {name: found for name, found in rows.items() if found})


def set_aside(connection: psycopg.Connection[Any]) -> bool:
    """Empty the tables of a database and set them aside, if they are as they were made."""
    place = f"{connection.info.host} {connection.info.dbname}"
    key = _OPENED.pop(place, None)
    if key is None or connection.execute(SHAPE.encode()).fetchone() != (_MADE[key].shape,):
        return False
    if connection.execute("SELECT 1 FROM events OFFSET %s LIMIT 1", [MANY]).fetchone():
        return False
    with connection.transaction():
        if _ASIDE.pop(place, None) is not None:
            connection.execute("DROP SCHEMA aside CASCADE")
        for (sequence,) in connection.execute(CLAIMS).fetchall():
            connection.execute(f"DROP SEQUENCE {sequence}".encode())
        guards = connection.execute(GUARDS).fetchall()
        orders = [
            "SET LOCAL session_replication_role = replica",
            *(f"ALTER TABLE {table} DISABLE TRIGGER {name}" for table, name in guards),
            *(f'DELETE FROM "{name}"' for (name,) in connection.execute(USED.encode()).fetchall()),
            *(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name}" for table, name in guards),
        ]
        connection.execute(";".join(orders).encode())
        for name, rows in _MADE[key].rows.items():
            places = ", ".join(["%s"] * len(rows[0]))
            with connection.cursor() as cursor:
                cursor.executemany(f'INSERT INTO "{name}" VALUES ({places})'.encode(), rows)
        connection.execute("ALTER SCHEMA public RENAME TO aside")
        connection.execute("CREATE SCHEMA public")
    _ASIDE[place] = key
    return True
