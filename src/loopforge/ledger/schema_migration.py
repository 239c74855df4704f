"""Which schema a database has, and bringing it to the one this program knows.

A new database is made at once in its newest form, without Alembic, which takes long to import; a
test proves that the migrations lead to the very same. One query tells whether anything is to do.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypeVar

from sqlalchemy import inspect
from sqlalchemy.engine import Connection

from loopforge.errors import LedgerBehind, LedgerBroken, LedgerError
from loopforge.ledger.database.database_engine import (
    DatabaseEngines,
    create_engines,
    parse_database_url,
)
from loopforge.ledger.database.database_faults import ledger_location, translating_faults
from loopforge.ledger.database.table_schema import (
    create_tables,
    ensure_triggers,
    foreign_schema_objects,
)

NEWEST = "0005"
"""The newest migration's revision."""

T = TypeVar("T")
Status = Literal["ok", "empty", "behind", "ahead"]
FOLDER = Path(__file__).with_name("migrations")
_LOCK = 0x10F0
"""The key of the advisory lock under which one process at a time changes a schema."""


def ledger_schema_status(url: str) -> Status:
    """How the database at `url` stands to this program. Raises LedgerError if out of reach."""
    return query_database(url, schema_status)


def refuse_damaged(url: str) -> None:
    """Raise LedgerBroken for a file of SQLite's that is damaged. It is read whole for that."""
    if query_database(url, _damage):
        raise LedgerBroken(
            f"The ledger {ledger_location(parse_database_url(url))} is damaged; `loopforge "
            "ledger verify` says where."
        )


def _damage(connection: Connection) -> bool:
    sqlite = connection.dialect.name == "sqlite"
    return sqlite and connection.exec_driver_sql("PRAGMA quick_check(1)").scalar_one() != "ok"


def query_database(url: str, look: Callable[[Connection], T]) -> T:
    """What is seen in the database at `url`, by a connection for that alone. Raises LedgerError."""
    store = create_engines(parse_database_url(url))
    try:
        with translating_faults(store.url), store.reader.connect() as connection:
            return look(connection)
    finally:
        store.close()


class UnopenedTables:
    """The tables of a ledger of whatever schema, read as they are (see table_access.py)."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def look(self, work: Callable[[Connection], T]) -> T:
        """Read by hand, in a thread; what the work returns. Raises LedgerError."""
        return await asyncio.to_thread(query_database, self._url, work)


def refuse_newer(url: str) -> None:
    """Raise LedgerBehind for a ledger of a newer program, before anything is written anywhere."""
    store = create_engines(parse_database_url(url))
    try:
        if store.sqlite and not Path(str(store.url.database)).exists():
            return
        with translating_faults(store.url), store.reader.connect() as connection:
            if schema_status(connection) == "ahead":
                raise _ahead(connection)
    finally:
        store.close()


def migrate_schema(url: str) -> Status:
    """Bring the database at `url` to the newest schema; says how it stood before.

    Triggers that somebody dropped are made anew.
    """
    store = create_engines(parse_database_url(url))
    try:
        with translating_faults(store.url), store.writer.begin() as connection:
            alone(connection)
            stood = schema_status(connection)
            if stood == "ahead":
                raise _ahead(connection)
            if stood == "empty":
                begin(connection)
            elif stood == "behind":
                upgrade(connection)
            ensure_triggers(connection)
            return stood
    finally:
        store.close()


def ready(store: DatabaseEngines) -> bool:
    """Make a new database, accept a current one; says whether it was made.

    Raises LedgerBehind for an older or a newer one.
    """
    with store.reader.connect() as connection:
        if schema_status(connection) == "ok":
            return False
    with store.writer.begin() as connection:
        alone(connection)
        stood = schema_status(connection)
        if stood == "empty":
            begin(connection)
        elif stood == "ahead":
            raise _ahead(connection)
        elif stood == "behind":
            raise LedgerBehind(
                f"The ledger's schema is {schema_version(connection) or 'unfinished'}, older "
                "than this "
                f"program's {NEWEST}. Make a backup, then run `loopforge ledger migrate`."
            )
        return stood == "empty"


def _ahead(connection: Connection) -> LedgerBehind:
    return LedgerBehind(
        f"The ledger was written by a newer Loopforge (schema {schema_version(connection)}; "
        "this program "
        f"knows {NEWEST}). Install the newer Loopforge; nothing was changed."
    )


def alone(connection: Connection) -> None:
    """Let one process at a time change a schema, until the transaction ends."""
    if connection.dialect.name != "sqlite":
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")


def schema_status(connection: Connection) -> Status:
    """How this database stands to this program."""
    found = schema_version(connection)
    if found == NEWEST:
        return "ok"
    if found is None:
        return "behind" if "events" in inspect(connection).get_table_names() else "empty"
    return "behind" if found < NEWEST else "ahead"


def schema_version(connection: Connection) -> str | None:
    """The revision that the database says it has; revisions are numbers of four digits.

    Raises LedgerBroken for a SQLite file with views or triggers that no Loopforge made.
    """
    if connection.dialect.name == "sqlite":
        if strange := foreign_schema_objects(connection):
            raise LedgerBroken(
                f"The ledger {ledger_location(connection.engine.url)} holds what no Loopforge "
                "made, and what "
                f"could change what is read and written: {', '.join(strange)}. Drop it if you know "
                "whose it is; else do not use this file."
            )
        there = "SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'"
    else:
        there = "SELECT 1 WHERE to_regclass('alembic_version') IS NOT NULL"
    if connection.exec_driver_sql(there).first() is None:
        return None
    row = connection.exec_driver_sql("SELECT version_num FROM alembic_version").first()
    return None if row is None else str(row[0])[:80]


def begin(connection: Connection) -> None:
    """Make the newest schema in an empty database, and say so to Alembic."""
    if connection.dialect.name != "sqlite":
        coding = connection.exec_driver_sql("SHOW server_encoding").scalar_one()
        if coding != "UTF8":
            raise LedgerError(
                f"The PostgreSQL database keeps texts as {coding}; make one with "
                "`createdb --encoding UTF8 --template template0`."
            )
    create_tables(connection)
    connection.exec_driver_sql(
        "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, "
        "CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
    )
    connection.exec_driver_sql(f"INSERT INTO alembic_version VALUES ('{NEWEST}')")  # noqa: S608


def upgrade(connection: Connection) -> None:
    """Run Alembic's migrations in this transaction."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
