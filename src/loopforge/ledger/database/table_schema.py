"""The ledger's tables, and the triggers by which the database itself keeps events as they are.

    events     what happened; only ever added to
    texts      private words, with their salt; written once, and erasable (see `BLANK`)
    streams    the head of each stream: a view, kept in the same transaction as the append
    snapshots  folded states, each rebuildable
    views      which views exist, and in which version (see folded_views.py)

Beside the ledger stand tables that are no facts and have no history: secrets, which no event may
hold, and how far people have read. They are changed and emptied freely (`SqlLedger.change`).

    accounts   the password of a person, as its argon2 hash ("" for none yet)
    sessions   who is signed in, by the SHA-256 digest of the session's token
    invites    links not used up, by the SHA-256 digest of their token: an invite, or the owner's
    reads      up to which event a person has read a stream
    spent      what was spent on each meter of budgets, by day (see budgets/spending_store.py)
    holds      what is held of it for what is under way
    told       of which spent budgets a stream was told, by the turn that came upon it
    cursors    how far sinks came in each stream, which cannot tell themselves ("": that one began)

Other packages declare the tables of their views on `metadata`. Times are microseconds since 1970.
`body` is the JSON that was hashed, byte for byte. Every column that is compared or ordered is
compared by code point in both dialects (SQLite's default; collation "C" on PostgreSQL).

Does not know what an event means, nor how a database is reached.
"""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Index,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.engine import Connection

metadata = MetaData()

Name = Text().with_variant(Text(collation="C"), "postgresql")
"""A text that is compared and ordered by code point: names of streams, ids, refs, hashes."""


def name_columns(*names: str) -> list[Column[Any]]:
    """Columns of such texts."""
    return [Column(each, Name, nullable=False) for each in names]


def number_columns(*names: str) -> list[Column[Any]]:
    """Columns of whole numbers, and of times."""
    return [Column(each, BigInteger, nullable=False) for each in names]


BLANK = "0" * 32
"""How the refs of rows begin that held a text of SQLite's which is forgotten; see text_removal.py.
(No digest does.)"""

FILLED_LATER = "filled later"
"""Said in the `info` of a view's table that goes with the view, but is not folded from events."""

events = Table(
    "events",
    metadata,
    Column("stream", Name, nullable=False),
    Column("seq", BigInteger, nullable=False, autoincrement=False),
    *name_columns("id", "kind"),
    Column("at", BigInteger, nullable=False),
    *name_columns("actor", "cause"),
    Column("body", Text, nullable=False),
    Column("hash", Name, nullable=False),
    PrimaryKeyConstraint("stream", "seq", name="events_place"),
    UniqueConstraint("id", name="events_id"),
    Index("events_kind", "stream", "kind", "seq"),
    Index("events_actor", "actor"),
)

ERASED = text("kind = 'ledger.erased'")
events_erased = Index("events_erased", events.c.kind, sqlite_where=ERASED)
"""PostgreSQL is told in `create_tables`: told here, all of that dialect is loaded at each start."""

texts = Table(
    "texts",
    metadata,
    Column("ref", Name, nullable=False),
    Column("salt", LargeBinary, nullable=False),
    Column("text", Text, nullable=False),
    *name_columns("event", "stream"),
    PrimaryKeyConstraint("ref", name="texts_ref"),
    Index("texts_place", "stream", "event"),
)

streams = Table(
    "streams",
    metadata,
    Column("stream", Name, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("hash", Name, nullable=False),
    PrimaryKeyConstraint("stream", name="streams_name"),
)

snapshots = Table(
    "snapshots",
    metadata,
    Column("stream", Name, nullable=False),
    *number_columns("seq", "version"),
    Column("body", Text, nullable=False),
    PrimaryKeyConstraint("stream", name="snapshots_stream"),
)

views = Table(
    "views",
    metadata,
    Column("name", Name, nullable=False),
    Column("version", BigInteger, nullable=False),
    PrimaryKeyConstraint("name", name="views_name"),
)

accounts = Table(
    "accounts",
    metadata,
    Column("person", Name, nullable=False),
    Column("password", Text, nullable=False),
    PrimaryKeyConstraint("person", name="accounts_person"),
)

sessions = Table(
    "sessions",
    metadata,
    *name_columns("session", "digest", "person"),
    Column("agent", Text, nullable=False),
    *number_columns("since", "seen"),
    PrimaryKeyConstraint("session", name="sessions_session"),
    UniqueConstraint("digest", name="sessions_digest"),
    Index("sessions_person", "person"),
)

invites = Table(
    "invites",
    metadata,
    *name_columns("invite", "digest"),
    Column("until", BigInteger, nullable=False),
    Column("kind", Name, nullable=False),
    PrimaryKeyConstraint("invite", name="invites_invite"),
    UniqueConstraint("digest", name="invites_digest"),
)

reads = Table(
    "reads",
    metadata,
    *name_columns("person", "stream"),
    Column("seq", BigInteger, nullable=False),
    PrimaryKeyConstraint("person", "stream", name="reads_place"),
)

spent = Table(
    "budget_spent",
    metadata,
    *name_columns("meter", "day"),
    *number_columns("picos", "calls", "uses", "unpriced"),
    PrimaryKeyConstraint("meter", "day", name="budget_spent_place"),
)

holds = Table(
    "budget_holds",
    metadata,
    *name_columns("hold", "process", "turn"),
    Column("meters", Text, nullable=False),
    Column("day", Name, nullable=False),
    *number_columns("until", "picos", "calls", "uses"),
    PrimaryKeyConstraint("hold", name="budget_holds_hold"),
)

told = Table(
    "budget_told",
    metadata,
    *name_columns("budget", "since", "stream", "turn"),
    PrimaryKeyConstraint("budget", "since", "stream", name="budget_told_place"),
)

cursors = Table(
    "sink_cursors",
    metadata,
    *name_columns("sink", "stream"),
    Column("seq", BigInteger, nullable=False),
    PrimaryKeyConstraint("sink", "stream", name="sink_cursors_place"),
)

LASTING = (
    *(events, texts, streams, snapshots, views, accounts, sessions, invites, reads),
    *(spent, holds, told, cursors),
)
"""The tables that migrations make; the others are views' tables, made when they are missing."""

SQLITE_TRIGGERS = {
    "events_unchanged": """
        CREATE TRIGGER events_unchanged BEFORE UPDATE ON events BEGIN
          SELECT RAISE(ABORT, 'the ledger is append-only: an event is never changed');
        END""",
    "events_undeleted": """
        CREATE TRIGGER events_undeleted BEFORE DELETE ON events BEGIN
          SELECT RAISE(ABORT, 'the ledger is append-only: an event is never deleted');
        END""",
    "events_unreplaced": """
        CREATE TRIGGER events_unreplaced BEFORE INSERT ON events
        WHEN EXISTS (SELECT 1 FROM events WHERE id = NEW.id)
          OR NEW.seq <> 1 + coalesce((SELECT max(seq) FROM events WHERE stream = NEW.stream), 0)
        BEGIN
          SELECT RAISE(ABORT, 'the ledger is append-only: an event is added at the end, once');
        END""",
    "texts_unchanged": """
        CREATE TRIGGER texts_unchanged BEFORE UPDATE ON texts BEGIN
          SELECT RAISE(ABORT, 'a text of the ledger is written once, or forgotten');
        END""",
    "texts_unreplaced": """
        CREATE TRIGGER texts_unreplaced BEFORE INSERT ON texts
        WHEN EXISTS (SELECT 1 FROM texts WHERE ref = NEW.ref)
        BEGIN
          SELECT RAISE(ABORT, 'a text of the ledger is written once, or forgotten');
        END""",
}
"""By name. The ones before INSERT also refuse INSERT OR REPLACE to a plain connection, for which
`recursive_triggers` is off and a replaced row's DELETE trigger stays silent."""

POSTGRES_FUNCTION = """
    CREATE OR REPLACE FUNCTION loopforge_refuses() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION USING ERRCODE = 'restrict_violation', MESSAGE =
        CASE TG_TABLE_NAME WHEN 'events'
          THEN 'the ledger is append-only: ' || TG_OP || ' of events is refused'
          ELSE 'a text of the ledger is written once, or forgotten: ' || TG_OP || ' is refused'
        END;
    END $$"""

POSTGRES_TRIGGERS = {
    "events_unchanged": """
        CREATE TRIGGER events_unchanged BEFORE UPDATE OR DELETE OR TRUNCATE ON events
        FOR EACH STATEMENT EXECUTE FUNCTION loopforge_refuses()""",
    "texts_unchanged": """
        CREATE TRIGGER texts_unchanged BEFORE UPDATE OR TRUNCATE ON texts
        FOR EACH STATEMENT EXECUTE FUNCTION loopforge_refuses()""",
}
"""By name. They are made to fire always, also in a session that plays a replica."""


def create_tables(connection: Connection) -> None:
    """Make everything in an empty database, as the newest migration leaves it."""
    if connection.dialect.name != "sqlite":
        events_erased.dialect_options["postgresql"]["where"] = ERASED
    metadata.create_all(connection, tables=LASTING)
    ensure_triggers(connection)


def ensure_triggers(connection: Connection) -> None:
    """Make the triggers that are not there, or not as they should be."""
    sqlite = connection.dialect.name == "sqlite"
    if not sqlite:
        connection.exec_driver_sql(POSTGRES_FUNCTION)
    for name in missing_triggers(connection):
        table = name.partition("_")[0]
        on = "" if sqlite else f" ON {table}"
        connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS {name}{on}")
        connection.exec_driver_sql((SQLITE_TRIGGERS if sqlite else POSTGRES_TRIGGERS)[name])
        if not sqlite:
            connection.exec_driver_sql(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name}")


def missing_triggers(connection: Connection) -> list[str]:
    """The triggers that are gone, switched off, or other ones by the same name."""
    if connection.dialect.name == "sqlite":
        query = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        there = {name: _plain(said) for name, said in connection.exec_driver_sql(query)}
        return [name for name, said in SQLITE_TRIGGERS.items() if there.get(name) != _plain(said)]
    query = (
        "SELECT tgname FROM pg_trigger WHERE tgenabled = 'A' AND NOT tgisinternal "
        "AND tgrelid IN (to_regclass('events'), to_regclass('texts'))"
    )
    always = {name for (name,) in connection.exec_driver_sql(query)}
    return [name for name in POSTGRES_TRIGGERS if name not in always]


def foreign_schema_objects(connection: Connection) -> list[str]:
    """Views and triggers of a SQLite file that no Loopforge made; they run where it is used."""
    names = ", ".join(f"'{name}'" for name in SQLITE_TRIGGERS)
    query = (
        "SELECT type || ' ' || substr(name, 1, 80) FROM sqlite_master "  # noqa: S608
        f"WHERE type = 'view' OR type = 'trigger' AND name NOT IN ({names}) LIMIT 5"
    )
    return list(connection.exec_driver_sql(query).scalars())


def _plain(statement: str) -> str:
    """A statement, however its lines are broken."""
    return " ".join(statement.split())
