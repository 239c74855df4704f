"""Runs and sweeps as files that other programs read."""
