"""The ledger as it began: events, texts, streams, snapshots, views, and their triggers.

Explicit statements, so that later changes of `schema.py` do not change history.
"""

from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make everything."""
    sqlite = op.get_bind().dialect.name == "sqlite"
    name = "TEXT" if sqlite else 'TEXT COLLATE "C"'
    for statement in TABLES:
        _run(statement.replace("NAME", name).replace("BYTES", "BLOB" if sqlite else "BYTEA"))
    for statement in SQLITE if sqlite else POSTGRES:
        _run(statement)


def _run(statement: str) -> None:
    op.get_bind().exec_driver_sql(statement)


TABLES = (
    """
    CREATE TABLE events (
      stream NAME NOT NULL, seq BIGINT NOT NULL, id NAME NOT NULL, kind NAME NOT NULL,
      at BIGINT NOT NULL, actor NAME NOT NULL, cause NAME NOT NULL, body TEXT NOT NULL,
      hash NAME NOT NULL,
      CONSTRAINT events_place PRIMARY KEY (stream, seq), CONSTRAINT events_id UNIQUE (id))""",
    "CREATE INDEX events_kind ON events (stream, kind, seq)",
    "CREATE INDEX events_actor ON events (actor)",
    "CREATE INDEX events_erased ON events (kind) WHERE kind = 'ledger.erased'",
    """
    CREATE TABLE texts (
      ref NAME NOT NULL, salt BYTES NOT NULL, text TEXT NOT NULL, event NAME NOT NULL,
      stream NAME NOT NULL, CONSTRAINT texts_ref PRIMARY KEY (ref))""",
    "CREATE INDEX texts_place ON texts (stream, event)",
    """
    CREATE TABLE streams (
      stream NAME NOT NULL, seq BIGINT NOT NULL, hash NAME NOT NULL,
      CONSTRAINT streams_name PRIMARY KEY (stream))""",
    """
    CREATE TABLE snapshots (
      stream NAME NOT NULL, seq BIGINT NOT NULL, version BIGINT NOT NULL, body TEXT NOT NULL,
      CONSTRAINT snapshots_stream PRIMARY KEY (stream))""",
    """
    CREATE TABLE views (
      name NAME NOT NULL, version BIGINT NOT NULL, CONSTRAINT views_name PRIMARY KEY (name))""",
)

SQLITE = (
    """CREATE TRIGGER events_unchanged BEFORE UPDATE ON events BEGIN
      SELECT RAISE(ABORT, 'the ledger is append-only: an event is never changed');
    END""",
    """CREATE TRIGGER events_undeleted BEFORE DELETE ON events BEGIN
      SELECT RAISE(ABORT, 'the ledger is append-only: an event is never deleted');
    END""",
    """CREATE TRIGGER events_unreplaced BEFORE INSERT ON events
    WHEN EXISTS (SELECT 1 FROM events WHERE id = NEW.id)
      OR NEW.seq <> 1 + coalesce((SELECT max(seq) FROM events WHERE stream = NEW.stream), 0)
    BEGIN
      SELECT RAISE(ABORT, 'the ledger is append-only: an event is added at the end, once');
    END""",
    """CREATE TRIGGER texts_unchanged BEFORE UPDATE ON texts BEGIN
      SELECT RAISE(ABORT, 'a text of the ledger is written once, or forgotten');
    END""",
    """CREATE TRIGGER texts_unreplaced BEFORE INSERT ON texts
    WHEN EXISTS (SELECT 1 FROM texts WHERE ref = NEW.ref)
    BEGIN
      SELECT RAISE(ABORT, 'a text of the ledger is written once, or forgotten');
    END""",
)

POSTGRES = (
    """
    CREATE OR REPLACE FUNCTION loopforge_refuses() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION USING ERRCODE = 'restrict_violation', MESSAGE =
        CASE TG_TABLE_NAME WHEN 'events'
          THEN 'the ledger is append-only: ' || TG_OP || ' of events is refused'
          ELSE 'a text of the ledger is written once, or forgotten: ' || TG_OP || ' is refused'
        END;
    END $$""",
    """
    CREATE TRIGGER events_unchanged BEFORE UPDATE OR DELETE OR TRUNCATE ON events
    FOR EACH STATEMENT EXECUTE FUNCTION loopforge_refuses()""",
    "ALTER TABLE events ENABLE ALWAYS TRIGGER events_unchanged",
    """
    CREATE TRIGGER texts_unchanged BEFORE UPDATE OR TRUNCATE ON texts
    FOR EACH STATEMENT EXECUTE FUNCTION loopforge_refuses()""",
    "ALTER TABLE texts ENABLE ALWAYS TRIGGER texts_unchanged",
)
