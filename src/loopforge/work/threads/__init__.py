"""Rooms as threads of tasks: what is for a task, what it says there, and who may do what."""
