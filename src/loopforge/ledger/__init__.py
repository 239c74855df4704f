"""The ledger: append-only facts, the texts they refer to, and views folded from them.

Other packages declare the tables of their views on `schema.metadata`.
"""

from loopforge.ledger.sql_ledger import SqlLedger, open_ledger

__all__ = ["SqlLedger", "open_ledger"]
