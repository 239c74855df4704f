"""Time that is kept: what happens to reminders."""
