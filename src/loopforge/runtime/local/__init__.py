"""Lanes, signals and timers of one process; the composition root alone names them."""
