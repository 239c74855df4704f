"""Schema and migrations: they agree, they are silent, and they know what is newer or older."""

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import create_engine
from sqlalchemy.engine import Connection

from loopforge.errors import LedgerBehind, LedgerBroken, LedgerError
from loopforge.ledger import schema_migration
from loopforge.ledger.database.database_engine import create_engines, parse_database_url
from loopforge.ledger.database.table_schema import LASTING, metadata
from tests.child_process import run_python
from tests.ledger.saying import ROOM, Scribbler, opened


@contextmanager
def connected(url: str) -> Iterator[Connection]:
    """A plain connection in a transaction that commits."""
    engine = create_engine(parse_database_url(url))
    try:
        with engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()


def shape(connection: Connection) -> list[tuple[str, ...]]:
    """Everything the database says of its schema, in words that do not depend on spaces."""
    if connection.dialect.name == "sqlite":
        rows = connection.exec_driver_sql("SELECT type, name, tbl_name, sql FROM sqlite_master")
    else:
        rows = connection.exec_driver_sql(
            "SELECT 'column', table_name, column_name, concat_ws(' ', ordinal_position, data_type, "
            "is_nullable, collation_name, column_default) FROM information_schema.columns "
            "WHERE table_schema = 'public' UNION ALL "
            "SELECT 'index', tablename, indexname, indexdef FROM pg_indexes "
            "WHERE schemaname = 'public' UNION ALL "
            "SELECT 'trigger', tgname, tgrelid::regclass::text, "
            "pg_get_triggerdef(oid) || tgenabled::text FROM pg_trigger WHERE NOT tgisinternal "
            "AND NOT starts_with(tgrelid::regclass::text, 'aside') UNION ALL "
            "SELECT 'function', proname, prosrc, '' FROM pg_proc "
            "WHERE proname = 'loopforge_refuses' AND pronamespace = 'public'::regnamespace"
        )
    return sorted(tuple(re.sub(r"[\s\"]+", " ", str(part)) for part in row) for row in rows)


def upgraded(url: str) -> list[tuple[str, ...]]:
    """The shape that migrations give to an empty database."""
    with connected(url) as connection:
        schema_migration.upgrade(connection)
        return shape(connection)


def names(shape: list[tuple[str, ...]], kind: str) -> set[str]:
    """The names of a kind of thing in a shape."""
    return {row[1] for row in shape if row[0] == kind}


async def test_migrations_and_schema_agree(ledger_url: str) -> None:
    """Migrating an empty database leaves what the schema describes; Alembic finds no difference."""
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    migrated = upgraded(ledger_url)
    assert {"events_unchanged", "texts_unchanged"} <= names(migrated, "trigger")
    async with opened(ledger_url):
        pass
    with connected(ledger_url) as connection:
        ours = {table.name for table in LASTING}
        assert {"events", "accounts", "sessions", "invites", "reads"} <= ours
        context = MigrationContext.configure(
            connection,
            opts={"include_object": lambda _, name, kind, *__: kind != "table" or name in ours},
        )
        assert compare_metadata(context, metadata) == []


def test_a_new_database_is_like_a_migrated_one(tmp_path: Path) -> None:
    """On SQLite, what is made at once and what migrations make have the same tables and triggers."""
    made, moved = (f"sqlite:///{tmp_path / name}" for name in ("made.db", "moved.db"))
    with connected(made) as connection:
        schema_migration.begin(connection)
        new = shape(connection)
    old = upgraded(moved)
    for kind in ("table", "index", "trigger"):
        assert names(new, kind) == names(old, kind)
    triggers = [row for row in new if row[0] == "trigger"]
    assert triggers == [row for row in old if row[0] == "trigger"]
    assert len(triggers) == 5


@pytest.mark.postgres
def test_a_new_postgres_database_is_like_a_migrated_one(postgres: object) -> None:
    """On PostgreSQL, both ways lead to the same columns, indexes, triggers and function."""
    from tests.postgres import Cluster

    assert isinstance(postgres, Cluster)
    made, moved = (postgres.url(postgres.create()) for _ in range(2))
    with connected(made) as connection:
        schema_migration.begin(connection)
        new = shape(connection)
    assert new == upgraded(moved)
    assert len(names(new, "trigger")) == 2


def test_the_newest_revision_is_the_head_of_the_migrations() -> None:
    """`NEWEST` is what Alembic would upgrade to, and revisions are ordered by their names."""
    from alembic.script import ScriptDirectory

    script = ScriptDirectory(str(schema_migration.FOLDER))
    assert script.get_current_head() == schema_migration.NEWEST
    revisions = [revision.revision for revision in script.walk_revisions()]
    assert revisions == sorted(revisions, reverse=True)


async def test_status_and_migrate(ledger_url: str) -> None:
    """An empty database says so, is made by `migrate`, and is well afterwards."""
    assert schema_migration.ledger_schema_status(ledger_url) == "empty"
    assert schema_migration.migrate_schema(ledger_url) == "empty"
    assert schema_migration.ledger_schema_status(ledger_url) == "ok"
    assert schema_migration.migrate_schema(ledger_url) == "ok"
    async with opened(ledger_url) as ledger:
        await ledger.append(ROOM, [Scribbler().heard("hello")])


async def test_several_may_open_a_new_ledger_at_once(ledger_url: str) -> None:
    """Processes that find an empty database at the same time make one ledger, and all can use it."""

    async def use(nth: int) -> None:
        async with opened(ledger_url) as ledger:
            await ledger.append(f"room:{nth}", [Scribbler().heard("hello")])

    await asyncio.gather(*map(use, range(5)))
    async with opened(ledger_url) as ledger:
        found = await ledger.verify()
        assert (found.sound, found.events) == (True, 5)


async def test_a_newer_ledger_is_left_alone(ledger_url: str) -> None:
    """A schema newer than the program raises LedgerBehind, which says what to do."""
    async with opened(ledger_url):
        pass
    with connected(ledger_url) as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0999'")
    assert schema_migration.ledger_schema_status(ledger_url) == "ahead"
    with pytest.raises(LedgerBehind, match="Install the newer Loopforge"):
        async with opened(ledger_url):
            pass
    with pytest.raises(LedgerBehind, match="0999"):
        schema_migration.migrate_schema(ledger_url)


async def test_an_older_ledger_asks_for_a_migration(ledger_url: str) -> None:
    """A schema older than the program raises LedgerBehind, which names the command."""
    async with opened(ledger_url):
        pass
    with connected(ledger_url) as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0000'")
    assert schema_migration.ledger_schema_status(ledger_url) == "behind"
    with pytest.raises(LedgerBehind, match="loopforge ledger migrate"):
        async with opened(ledger_url):
            pass


@pytest.mark.parametrize(
    "odd",
    [
        "VIEW alembic_version AS SELECT '0005' AS version_num",
        "VIEW odd AS SELECT 1",
        "TRIGGER odd BEFORE INSERT ON texts BEGIN SELECT RAISE(IGNORE); END",
    ],
)
def test_a_file_that_reads_or_writes_by_itself_is_refused(odd: str, tmp_path: Path) -> None:
    """A view without end held up whoever looked; a trigger dropped texts, and all was called well."""
    url = f"sqlite:///{tmp_path / 'ledger.db'}"
    schema_migration.migrate_schema(url)
    with connected(url) as connection:
        if "alembic_version" in odd:
            connection.exec_driver_sql("DROP TABLE alembic_version")
        connection.exec_driver_sql(f"CREATE {odd}")
    name = " ".join(odd.split()[:2]).lower()
    for look in (
        schema_migration.ledger_schema_status,
        schema_migration.migrate_schema,
        schema_migration.refuse_newer,
    ):
        with pytest.raises(LedgerBroken, match=f"no Loopforge made.*: {name}. Drop it"):
            look(url)


@pytest.mark.parametrize("coding", ["LATIN1", "SQL_ASCII"])
def test_a_database_of_another_encoding_is_refused(postgres: object, coding: str) -> None:
    """A PostgreSQL database that cannot keep every text is refused, with what to do."""
    from tests.postgres import Cluster

    assert isinstance(postgres, Cluster)
    postgres.execute(f"CREATE DATABASE {coding} ENCODING '{coding}' TEMPLATE template0")
    store = create_engines(parse_database_url(postgres.url(coding.lower())))
    with pytest.raises(LedgerError, match=f"keeps texts as {coding}"):
        schema_migration.ready(store)
    store.close()


def test_opening_imports_no_alembic_and_prints_nothing(tmp_path: Path) -> None:
    """Opening and using one of SQLite imports no Alembic nor PostgreSQL; migrating prints nothing."""
    script = f"""
import asyncio, sys
import loopforge.host
from tests.ledger.saying import Scribbler, opened
async def main():
    for _ in range(2):
        async with opened("sqlite:///{tmp_path / "a.db"}") as ledger:
            await ledger.append("s", [Scribbler().heard("hello")])
asyncio.run(main())
assert not {{"alembic", "sqlalchemy.dialects.postgresql"}} & sys.modules.keys()
from loopforge.ledger import schema_migration as migrate
from loopforge.ledger.database.database_engine import create_engines, parse_database_url
store = create_engines(parse_database_url("sqlite:///{tmp_path / "b.db"}"))
with store.writer.begin() as connection:
    migrate.upgrade(connection)
store.close()
"""
    done = run_python("-c", script)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
