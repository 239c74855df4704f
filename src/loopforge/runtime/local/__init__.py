"""Lanes, signals and timers of one process, which nothing above the runtime names but app.py."""
