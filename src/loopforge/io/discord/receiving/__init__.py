"""Receiving from Discord: events, slash commands, and what was missed."""
