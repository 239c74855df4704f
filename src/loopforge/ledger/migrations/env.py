"""What Alembic runs: it is given a connection inside a transaction, logs nothing, prints nothing.

Writing a new migration (from the repository's root): change `table_schema.py`, write
`versions/000N_what.py` by hand with explicit statements for both dialects, and raise
`migrate.NEWEST`. A test compares what migrations make with what the schema says, on both databases.
"""

from alembic import context

from loopforge.ledger.database.table_schema import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata)
context.run_migrations()
