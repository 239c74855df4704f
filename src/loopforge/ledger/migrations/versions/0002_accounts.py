"""Accounts: passwords, sessions, links that let in, and how far people have read.

Secrets stand here and in no event; these tables have no history and no triggers.
"""

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the tables beside the ledger."""
    name = "TEXT" if op.get_bind().dialect.name == "sqlite" else 'TEXT COLLATE "C"'
    for statement in TABLES:
        op.get_bind().exec_driver_sql(statement.replace("NAME", name))


TABLES = (
    """
    CREATE TABLE accounts (
      person NAME NOT NULL, password TEXT NOT NULL,
      CONSTRAINT accounts_person PRIMARY KEY (person))""",
    """
    CREATE TABLE sessions (
      session NAME NOT NULL, digest NAME NOT NULL, person NAME NOT NULL, agent TEXT NOT NULL,
      since BIGINT NOT NULL, seen BIGINT NOT NULL,
      CONSTRAINT sessions_session PRIMARY KEY (session),
      CONSTRAINT sessions_digest UNIQUE (digest))""",
    "CREATE INDEX sessions_person ON sessions (person)",
    """
    CREATE TABLE invites (
      invite NAME NOT NULL, digest NAME NOT NULL, until BIGINT NOT NULL, kind NAME NOT NULL,
      CONSTRAINT invites_invite PRIMARY KEY (invite), CONSTRAINT invites_digest UNIQUE (digest))""",
    """
    CREATE TABLE reads (
      person NAME NOT NULL, stream NAME NOT NULL, seq BIGINT NOT NULL,
      CONSTRAINT reads_place PRIMARY KEY (person, stream))""",
)
