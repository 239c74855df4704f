"""Experiments and sweeps: many runs, planned, played by workers, scored."""
