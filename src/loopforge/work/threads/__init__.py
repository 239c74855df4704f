"""Rooms as threads of tasks: what of them is for a task, and what a task says in them."""
