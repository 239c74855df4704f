"""Sinks: the ledger to elsewhere, each a plugin."""
