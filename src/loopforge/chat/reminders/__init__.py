"""Reminders in rooms: set, listed, moved, cancelled, and told when they are due."""
