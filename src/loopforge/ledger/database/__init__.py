"""The database beneath the ledger: engines, schema, faults, other processes."""
