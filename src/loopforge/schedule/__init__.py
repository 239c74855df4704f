"""Reminders and routines: when they are meant, whether that holds, and what becomes of them."""
