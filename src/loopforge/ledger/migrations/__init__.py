"""Alembic's migrations of the ledger's schema; run by `loopforge.ledger.schema_migration`."""
