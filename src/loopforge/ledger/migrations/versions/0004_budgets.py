"""Budgets: what was spent, and what is held of it, beside the ledger; reminders; sinks' cursors.

There are kinds of event that older programs do not know (a budget or a reminder is set); they
refuse such a ledger in one sentence. What was spent before is not filled in: budgets count from now
on.
"""

from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make the tables beside the ledger."""
    name = "TEXT" if op.get_bind().dialect.name == "sqlite" else 'TEXT COLLATE "C"'
    for statement in TABLES:
        op.get_bind().exec_driver_sql(statement.replace("NAME", name))


TABLES = (
    """
    CREATE TABLE budget_spent (
      meter NAME NOT NULL, day NAME NOT NULL, picos BIGINT NOT NULL, calls BIGINT NOT NULL,
      uses BIGINT NOT NULL, unpriced BIGINT NOT NULL,
      CONSTRAINT budget_spent_place PRIMARY KEY (meter, day))""",
    """
    CREATE TABLE budget_holds (
      hold NAME NOT NULL, process NAME NOT NULL, turn NAME NOT NULL, meters TEXT NOT NULL,
      day NAME NOT NULL, until BIGINT NOT NULL, picos BIGINT NOT NULL, calls BIGINT NOT NULL,
      uses BIGINT NOT NULL,
      CONSTRAINT budget_holds_hold PRIMARY KEY (hold))""",
    """
    CREATE TABLE budget_told (
      budget NAME NOT NULL, since NAME NOT NULL, stream NAME NOT NULL, turn NAME NOT NULL,
      CONSTRAINT budget_told_place PRIMARY KEY (budget, since, stream))""",
    """
    CREATE TABLE sink_cursors (
      sink NAME NOT NULL, stream NAME NOT NULL, seq BIGINT NOT NULL,
      CONSTRAINT sink_cursors_place PRIMARY KEY (sink, stream))""",
)
