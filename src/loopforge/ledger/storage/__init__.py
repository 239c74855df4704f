"""Events in tables: appended, read back, folded into views and snapshots."""
